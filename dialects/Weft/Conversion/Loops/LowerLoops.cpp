// The pass weft-lower-loops: every structured op and strided copy of a module becomes loops.

#include "Weft/Conversion/Loops/CutReduction.h"
#include "Weft/Conversion/Loops/Outline.h"

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
      for (Operation *op : ops)
        if (failed(lower(op, views, symbols, options))) {
          op->emitError("has no loop form");
          return signalPassFailure();
        }
    }
  }

  LogicalResult lower(Operation *operation, FlatViews &views, SymbolTable &symbols,
                      const LowerLoopsPassOptions &options) {
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
