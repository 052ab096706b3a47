// The pass weft-note-times: tells the runtime when each loop and library call of a function begins
// and ends, for profiles.
#include "Weft/IR/Places.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RowLoop.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

#define GEN_PASS_DEF_NOTETIMESPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Whether that function of the runtime does the work of an op: not memory, not an error, and not a
/// host call, which is noted where it runs.
bool works(StringRef callee) {
  static const llvm::StringSet<> others = {
      "weft_rt_alloc",       "weft_rt_free",        "weft_rt_output",      "weft_rt_on_stop",
      "weft_rt_assert_fail", "weft_rt_index_error", "weft_rt_shape_error", "weft_rt_host_call",
      "weft_rt_host_size",   "weft_rt_host_take",   "weft_rt_note_begin",  "weft_rt_note_end",
      "weft_rt_value_error", "weft_rt_bounds_error"};
  return !others.contains(callee);
}

/// Whether the time of this op is noted as one, whatever is inside.
bool isWork(Operation *op) {
  if (isa<linalg::LinalgOp, memref::CopyOp>(op)) return true;
  if (isa<scf::ForOp>(op) && op->hasAttr(kRowLoop)) return true;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call) return false;
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
  return callee && callee->hasAttr("weft.runtime") && works(call.getCallee());
}

/// The numbers of the op calls that an op does, as text: those inside, in their order, or its own.
std::string sitesOf(Operation *op) {
  SmallVector<int64_t> sites;
  auto add = [&](Operation *inner) {
    if (std::optional<int64_t> site = siteNumber(inner->getLoc()))
      if (!llvm::is_contained(sites, *site)) sites.push_back(*site);
  };
  op->walk([&](Operation *inner) {
    if (inner != op && !inner->hasTrait<OpTrait::IsTerminator>()) add(inner);
  });
  if (sites.empty()) add(op);
  std::string text;
  for (int64_t site : sites) text += (text.empty() ? "" : " ") + std::to_string(site);
  return text;
}

struct NoteTimesPass : impl::NoteTimesPassBase<NoteTimesPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody()) visit(block);
  }

  /// Whether something in the block is noted now.
  static bool visit(Block &block) {
    bool noted = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isWork(&op)) {
        note(&op);
        noted = true;
        continue;
      }
      bool inside = false;
      for (Region &region : op.getRegions())
        for (Block &inner : region) inside |= visit(inner);
      // A loop over elements that some pass wrote out, or one of scalars.
      if (!inside && isa<scf::ForOp, scf::WhileOp, scf::ParallelOp, scf::ForallOp>(op)) {
        note(&op);
        inside = true;
      }
      noted |= inside;
    }
    return noted;
  }

  static void note(Operation *op) {
    const std::string sites = sitesOf(op);
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value length = arith::ConstantIntOp::create(b, static_cast<int64_t>(sites.size()), 64);
    callRuntime(b, "weft_rt_note_begin", {textPointer(b, sites), length}, /*withContext=*/true);
    b.setInsertionPointAfter(op);
    callRuntime(b, "weft_rt_note_end", {}, /*withContext=*/true);
  }
};

} // namespace
} // namespace mlir::weft
