// The pass weft-lower-loops: every structured op and strided copy of a module becomes loops.

#include "Weft/Conversion/Loops/CutReduction.h"
#include "Weft/Conversion/Loops/Outline.h"

#include "Weft/Transforms/RowLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::weft {
#define GEN_PASS_DEF_LOWERLOOPSPASS
#include "Weft/Conversion/Passes.h.inc"
} // namespace mlir::weft

using namespace mlir;
using namespace mlir::weft;

namespace {

/// A copy between different layouts, as a structured op.
linalg::LinalgOp asGeneric(RewriterBase &rewriter, memref::CopyOp copy) {
  unsigned rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
  AffineMap map = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget(),
                                   ArrayRef<AffineMap>{map, map}, iterators,
                                   [](OpBuilder &builder, Location loc, ValueRange arguments) {
                                     linalg::YieldOp::create(builder, loc, arguments.front());
                                   });
}

struct LowerLoopsPass : mlir::weft::impl::LowerLoopsPassBase<LowerLoopsPass> {
  using LowerLoopsPassBase::LowerLoopsPassBase;

  void runOnOperation() final {
    LowerLoopsPassOptions options{vectorBytes, masked, parallelWork};
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      FlatViews views;
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) {
        if (isa<linalg::LinalgOp, memref::CopyOp>(op)) ops.push_back(op);
      });
      // Threads share the iterations of a loop over rows and nothing inside of it.
      llvm::MapVector<scf::ForOp, int64_t> rowLoops;
      LowerLoopsPassOptions alone = options;
      alone.parallelWork = 0;
      for (Operation *op : ops) {
        scf::ForOp rows = rowLoopAround(op);
        int64_t work = 0;
        if (failed(lower(op, views, symbols, rows ? alone : options, work))) {
          op->emitError("has no loop form");
          return signalPassFailure();
        }
        if (rows) rowLoops[rows] += work;
      }
      for (auto [loop, work] : rowLoops) shareRows(loop, work, symbols, options);
    }
  }

  static scf::ForOp rowLoopAround(Operation *op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    while (loop && !loop->hasAttr(kRowLoop)) loop = loop->getParentOfType<scf::ForOp>();
    return loop;
  }

  /// Makes a loop over rows one for threads, if its iterations are of `work` each and together
  /// enough.
  static void shareRows(scf::ForOp loop, int64_t work, SymbolTable &symbols,
                        const LowerLoopsPassOptions &options) {
    // Each thread has one place on the stack for all its iterations.
    SmallVector<memref::AllocaOp> places(loop.getBody()->getOps<memref::AllocaOp>());
    const std::optional<llvm::APInt> iterations = loop.getStaticTripCount();
    const bool shared = options.parallelWork != 0 &&
                        (!iterations || iterations->getSExtValue() * work >= options.parallelWork);
    Block &entry = loop->getParentOfType<func::FuncOp>().getBody().front();
    for (memref::AllocaOp place : places)
      if (shared) place->moveBefore(loop);
      else place->moveBefore(&entry, entry.begin());
    if (!shared) return;
    OpBuilder builder(loop);
    const int64_t grain = llvm::divideCeil(options.parallelWork, std::max<int64_t>(work, 1));
    outlineParallelLoop({loop, arith::ConstantIndexOp::create(builder, loop.getLoc(), grain)},
                        symbols);
  }

  /// `work` becomes what there is to do, as far as sizes are known.
  LogicalResult lower(Operation *operation, FlatViews &views, SymbolTable &symbols,
                      const LowerLoopsPassOptions &options, int64_t &work) {
    IRRewriter rewriter(operation);
    auto op = dyn_cast<linalg::LinalgOp>(operation);
    if (auto copy = dyn_cast<memref::CopyOp>(operation)) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (!source || !target) return failure();
      if (source.getLayout().isIdentity() && target.getLayout().isIdentity())
        return success(); // a memcpy
      op = asGeneric(rewriter, copy);
      rewriter.eraseOp(copy);
      rewriter.setInsertionPoint(op);
    }
    if (!op.hasPureBufferSemantics()) return failure();
    if (op.getBlock()->getNumArguments() != op->getNumOperands()) {
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic)) return failure();
      op = *generic;
      rewriter.setInsertionPoint(op);
    }
    FailureOr<LoopNest> nest = analyzeLoopNest(rewriter, op, options.vectorBytes);
    if (failed(nest)) {
      // Subscripts that are not linear: one element at a time, with computed subscripts.
      if (failed(linalg::linalgOpToLoops(rewriter, op))) return failure();
      rewriter.eraseOp(op);
      return success();
    }
    work = nest->cost;
    for (const LoopDim &dim : nest->dims)
      if (dim.size.isStatic()) work *= dim.size.constant;
    // Part of a reduction's rows must not be cut otherwise than all of them, which are not.
    if (rowLoopAround(op)) {
      emitLoopNest(rewriter, *nest, views, options);
      rewriter.eraseOp(op);
      return success();
    }
    if (auto shared = cutReduction(rewriter, *nest, views, options)) {
      rewriter.eraseOp(op);
      for (const ParallelLoop &loop : *shared) outlineParallelLoop(loop, symbols);
      return success();
    }
    std::optional<ParallelLoop> parallel = emitLoopNest(rewriter, *nest, views, options);
    rewriter.eraseOp(op);
    if (parallel) outlineParallelLoop(*parallel, symbols);
    return success();
  }
};

} // namespace
