// The pass weft-cut-functions: what is too long for one function of machine code becomes several.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CUTFUNCTIONSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Ops with all that is in them.
unsigned weightOf(Operation &op) {
  unsigned weight = 0;
  op.walk([&](Operation *) { ++weight; });
  return weight;
}

/// Whether the op only says where something is, so that a part may say it again.
bool isAddress(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(op)) return true;
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) return alloc->hasAttr("weft.arena_offset");
  return isa<ViewLikeOpInterface, memref::DimOp, memref::ExtractAlignedPointerAsIndexOp>(op) &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

bool isUnrankedCast(Operation *op) {
  auto cast = dyn_cast<memref::CastOp>(op);
  return cast && isa<UnrankedMemRefType>(cast.getType());
}

/// Cuts one block into calls of functions.
class BlockCutter {
public:
  BlockCutter(Block &block, func::FuncOp parent, SymbolTable &symbols, unsigned partOps)
      : block(block), parent(parent), symbols(symbols), partOps(partOps) {}

  void run() {
    sinkUnrankedCasts();
    findAddresses();
    SmallVector<SmallVector<Operation *>> parts = choosePartition();
    if (parts.size() < 2) return;
    for (ArrayRef<Operation *> part : parts) outline(part);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (addresses.contains(&op) && isOpTriviallyDead(&op)) op.erase();
  }

private:
  /// Puts casts to memrefs of unknown rank, which only runtime calls take, in front of their users:
  /// a part could not hand such a value on.
  void sinkUnrankedCasts() {
    SmallVector<Operation *> casts;
    for (Operation &op : block)
      if (isUnrankedCast(&op)) casts.push_back(&op);
    for (Operation *cast : casts) {
      for (OpOperand &use : llvm::make_early_inc_range(cast->getUses()))
        use.set(OpBuilder(use.getOwner()).clone(*cast)->getResult(0));
      cast->erase();
    }
  }

  /// Ops of the block that parts repeat: addresses of what stands outside the block, or of each
  /// other.
  void findAddresses() {
    for (Operation &op : block.without_terminator())
      if (isAddress(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
            Operation *made = operand.getDefiningOp();
            return !made || made->getBlock() != &block || addresses.contains(made);
          }))
        addresses.insert(&op);
  }

  /// Runs of neighbours of the wanted weight. Memory that is freed is made and freed in one.
  SmallVector<SmallVector<Operation *>> choosePartition() {
    SmallVector<SmallVector<Operation *>> parts(1);
    unsigned weight = 0, owned = 0;
    auto isFreed = [](Operation *alloc) {
      return llvm::any_of(alloc->getUsers(),
                          [](Operation *user) { return isa<memref::DeallocOp>(user); });
    };
    for (Operation &op : block.without_terminator()) {
      // Memory on the stack is the caller's, and lives as long as all parts.
      if (addresses.contains(&op) || isa<memref::AllocaOp>(op)) continue;
      const bool castForNext = !parts.back().empty() && isUnrankedCast(parts.back().back());
      if (weight >= partOps && owned == 0 && !castForNext) {
        parts.emplace_back();
        weight = 0;
      }
      parts.back().push_back(&op);
      weight += weightOf(op);
      if (isa<memref::AllocOp>(op) && isFreed(&op)) ++owned;
      if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
        Operation *made = dealloc.getMemref().getDefiningOp();
        if (made && made->getBlock() == &block && !addresses.contains(made)) --owned;
      }
    }
    return parts;
  }

  /// Makes a private function of the ops, and a call where the last of them stood.
  void outline(ArrayRef<Operation *> part) {
    const DenseSet<Operation *> inside(part.begin(), part.end());
    llvm::SetVector<Value> captured;
    llvm::SetVector<Operation *> repeated; // in the order in which they can be made
    for (Operation *op : part)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!isWithin(operand, inside)) need(operand, captured, repeated);
      });
    SmallVector<Value> results;
    SmallVector<OpOperand *> usesOutside;
    SmallVector<unsigned> numbers;
    for (Operation *op : part)
      for (Value result : op->getResults()) {
        const unsigned before = usesOutside.size();
        for (OpOperand &use : result.getUses())
          if (!inside.contains(block.findAncestorOpInBlock(*use.getOwner()))) {
            usesOutside.push_back(&use);
            numbers.push_back(results.size());
          }
        if (usesOutside.size() != before) results.push_back(result);
      }

    OpBuilder builder(parent);
    auto function =
        func::FuncOp::create(builder, parent.getLoc(), (parent.getName() + "_cut").str(),
                             builder.getFunctionType(ValueRange(captured.getArrayRef()).getTypes(),
                                                     ValueRange(results).getTypes()));
    function.setPrivate();
    symbols.insert(function);
    builder.setInsertionPointAfter(part.back());
    auto call =
        func::CallOp::create(builder, part.front()->getLoc(), function, captured.getArrayRef());
    for (auto [use, number] : llvm::zip_equal(usesOutside, numbers))
      use->set(call.getResult(number));

    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(captured.getArrayRef(), body->getArguments());
    for (Operation *op : repeated) builder.clone(*op, mapping);
    for (Operation *op : part) {
      op->moveBefore(body, body->end());
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Value other = mapping.lookupOrNull(operand.get())) operand.set(other);
      });
    }
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, parent.getLoc(), results);
  }

  bool isWithin(Value value, const DenseSet<Operation *> &inside) {
    Operation *owner = value.getParentBlock()->getParentOp();
    Operation *made = value.getDefiningOp();
    Operation *top =
        made ? block.findAncestorOpInBlock(*made)
             : (value.getParentBlock() == &block ? nullptr : block.findAncestorOpInBlock(*owner));
    return top && inside.contains(top);
  }

  void need(Value value, llvm::SetVector<Value> &captured, llvm::SetVector<Operation *> &repeated) {
    Operation *made = value.getDefiningOp();
    if (!made || !(addresses.contains(made) || made->hasTrait<OpTrait::ConstantLike>())) {
      captured.insert(value);
      return;
    }
    if (repeated.contains(made)) return;
    for (Value operand : made->getOperands()) need(operand, captured, repeated);
    repeated.insert(made);
  }

  Block &block;
  func::FuncOp parent;
  SymbolTable &symbols;
  unsigned partOps;
  DenseSet<Operation *> addresses;
};

struct CutFunctions : impl::CutFunctionsPassBase<CutFunctions> {
  using CutFunctionsPassBase::CutFunctionsPassBase;

  void runOnOperation() override {
    std::optional<SymbolTable> symbols;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.getBody().hasOneBlock()) cut(function.getBody().front(), function, symbols);
  }

  /// Cuts the block, after the bodies of the loops and branches in it.
  void cut(Block &block, func::FuncOp parent, std::optional<SymbolTable> &symbols) {
    unsigned weight = 0;
    for (Operation &op : block) weight += weightOf(op);
    if (weight <= maxOps) return;
    weight = 0;
    for (Operation &op : block) {
      if (isa<scf::SCFDialect>(op.getDialect()))
        for (Region &region : op.getRegions())
          if (region.hasOneBlock()) cut(region.front(), parent, symbols);
      weight += weightOf(op);
    }
    if (weight <= maxOps) return;
    if (!symbols) symbols.emplace(getOperation());
    BlockCutter(block, parent, *symbols, std::max(maxOps / 4, 1u)).run();
  }
};

} // namespace

} // namespace mlir::weft
