// The pass weft-fuse-elementwise: merges loops over elements with those that use their results.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::weft {

#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "Weft/Transforms/Passes.h.inc"

using linalg::GenericOp;

/// Larger loops compile slowly and run out of registers.
static constexpr unsigned kMaxOperands = 24;
static constexpr unsigned kMaxBodyOps = 400;
/// What may be computed again for every user rather than stored once.
static constexpr int kCheap = 2;

//===----------------------------------------------------------------------===//
// What a loop costs
//===----------------------------------------------------------------------===//

/// A rough count of instructions per element; movements of elements cost nothing.
static int costOf(GenericOp op) {
  int cost = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp, arith::IndexCastOp>(inner)) continue;
    if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp>(inner)) cost += 1;
    else if (isa<math::SqrtOp, math::FloorOp, math::CeilOp>(inner)) cost += 4;
    else if (isa<math::MathDialect>(inner.getDialect())) cost += 10;
    else if (isa<arith::DivFOp, arith::RemFOp, arith::RemSIOp, arith::DivSIOp>(inner)) cost += 8;
    else if (isa<tensor::ExtractOp>(inner)) cost += 4;
    else cost += 1;
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Whether to fuse
//===----------------------------------------------------------------------===//

/// The producer of an operand's value that might be merged into the operand's owner, or null.
static GenericOp producerOf(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<GenericOp>();
  auto consumer = cast<GenericOp>(operand.getOwner());
  if (!producer || producer->getBlock() != consumer->getBlock()) return {};
  if (producer->getNumOperands() + consumer->getNumOperands() > kMaxOperands) return {};
  if (producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size() >
      kMaxBodyOps)
    return {};
  return linalg::areElementwiseOpsFusable(&operand) ? producer : GenericOp();
}

static bool allParallel(GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

/// Whether the consumer computes each element of the producer exactly once.
static bool sameWork(OpOperand &operand) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  return consumer.getMatchingIndexingMap(&operand).isPermutation();
}

/// Whether all that use `producer` come after `consumer` in their block, so that a merged loop in
/// the consumer's place can give the producer's result as well.
static bool othersComeLater(GenericOp producer, GenericOp consumer) {
  Block *block = consumer->getBlock();
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    if (user == consumer) return true;
    Operation *top = block->findAncestorOpInBlock(*user);
    return top && top != consumer && consumer->isBeforeInBlock(top);
  });
}

namespace {
enum class Fusion {
  no,
  /// The producer's loop disappears, or is computed anew in this consumer.
  inConsumer,
  /// The merged loop stores the producer's result for its other users too.
  keepingResult,
};
} // namespace

static Fusion decide(OpOperand &operand, GenericOp producer) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  const bool onlyUser =
      llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; });
  const int cost = costOf(producer);
  if (onlyUser && (sameWork(operand) || cost <= kCheap)) return Fusion::inConsumer;
  if (cost == 0) return Fusion::inConsumer; // a map costs no more than the load it replaces
  const bool sameLoops = allParallel(consumer) && sameWork(operand) &&
                         consumer.getNumLoops() == producer.getNumLoops();
  if (sameLoops && consumer.getMatchingIndexingMap(&operand).isIdentity() &&
      othersComeLater(producer, consumer))
    return Fusion::keepingResult;
  return Fusion::no;
}

//===----------------------------------------------------------------------===//
// Reshapes by unit axes
//===----------------------------------------------------------------------===//

/// Reads through a reshape that only adds or drops axes of size 1, which is a matter of the map.
static bool foldUnitReshape(RewriterBase &rewriter, GenericOp op, OpOperand &operand) {
  Operation *reshape = operand.get().getDefiningOp();
  SmallVector<ReassociationIndices> groups;
  Value source;
  bool expands = false;
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(reshape)) {
    groups = expand.getReassociationIndices();
    source = expand.getSrc();
    expands = true;
  } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(reshape)) {
    groups = collapse.getReassociationIndices();
    source = collapse.getSrc();
  } else {
    return false;
  }
  auto largerType = cast<RankedTensorType>(expands ? operand.get().getType() : source.getType());
  // The one axis of each group that may be longer than 1.
  SmallVector<int64_t> longAxes;
  for (const ReassociationIndices &group : groups) {
    int64_t longAxis = -1;
    for (int64_t axis : group) {
      if (largerType.getDimSize(axis) == 1) continue;
      if (longAxis >= 0) return false;
      longAxis = axis;
    }
    longAxes.push_back(longAxis < 0 && !group.empty() ? group.front() : longAxis);
  }
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> exprs;
  if (expands) {
    for (int64_t axis : longAxes) exprs.push_back(map.getResult(axis));
  } else {
    exprs.assign(largerType.getRank(), rewriter.getAffineConstantExpr(0));
    for (auto [number, axis] : llvm::enumerate(longAxes)) exprs[axis] = map.getResult(number);
  }
  AffineMap folded = AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] = folded;
  // The sizes of all loops must still follow from the operands.
  if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext()))) return false;
  rewriter.modifyOpInPlace(op, [&] {
    operand.set(source);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Gives `op` every input once: a producer read twice would be merged, and computed, twice.
static void dropEqualInputs(RewriterBase &rewriter, GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  bool changed = false;
  rewriter.modifyOpInPlace(op, [&] {
    for (unsigned i = 0; i < op.getNumDpsInputs(); ++i) {
      for (unsigned j = op.getNumDpsInputs(); --j > i;) {
        if (op.getInputs()[i] != op.getInputs()[j] || maps[i] != maps[j]) continue;
        rewriter.replaceAllUsesWith(body->getArgument(j), body->getArgument(i));
        body->eraseArgument(j);
        op.getInputsMutable().erase(j);
        maps.erase(maps.begin() + j);
        changed = true;
      }
    }
    if (changed) op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// Merges one producer into `op` and returns the merged loop; null if there is none to merge.
static GenericOp fuseOne(RewriterBase &rewriter, GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (foldUnitReshape(rewriter, op, *operand)) return op;
    GenericOp producer = producerOf(*operand);
    if (!producer) continue;
    const Fusion fusion = decide(*operand, producer);
    if (fusion == Fusion::no) continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(fused)) continue;
    for (auto [from, to] : fused->replacements) {
      if (fusion == Fusion::inConsumer && from.getDefiningOp() == producer) continue;
      rewriter.replaceAllUsesExcept(from, to, fused->fusedOp);
    }
    rewriter.eraseOp(op);
    if (producer->use_empty()) rewriter.eraseOp(producer);
    auto larger = cast<GenericOp>(fused->fusedOp);
    dropEqualInputs(rewriter, larger);
    return larger;
  }
  return {};
}

namespace {
struct FuseElementwise : impl::FuseElementwisePassBase<FuseElementwise> {
  LogicalResult initialize(MLIRContext *context) override {
    // Operands that became equal or unused, constants and fills that can stand in the bodies.
    RewritePatternSet set(context);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(set);
    linalg::ControlFusionFn never = [](OpOperand *) { return false; };
    linalg::populateElementwiseOpsFusionPatterns(set, never);
    cleanup = std::move(set);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<GenericOp> loops;
    getOperation()->walk([&](GenericOp op) { loops.push_back(op); });
    // In program order, so that what is merged has been merged with its own producers before.
    for (GenericOp op : loops) {
      dropEqualInputs(rewriter, op);
      while (GenericOp larger = fuseOne(rewriter, op)) op = larger;
    }

    if (failed(applyPatternsGreedily(getOperation(), cleanup))) return signalPassFailure();
    // Only within bodies: two empty or zeroed tensors must stay two, or bufferization copies one.
    DominanceInfo dominance(getOperation());
    getOperation()->walk([&](GenericOp op) {
      eliminateCommonSubExpressions(rewriter, dominance, op.getOperation());
    });
  }

  FrozenRewritePatternSet cleanup;
};
} // namespace

} // namespace mlir::weft
