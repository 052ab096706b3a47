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
static constexpr unsigned kMaxBodyOps = 398;
/// What may be computed again for every user rather than stored once.
static constexpr int kCheap = 2;

//===----------------------------------------------------------------------===//
// What a loop costs
//===----------------------------------------------------------------------===//

/// A rough count of instructions per element; movements of elements cost nothing.
static int costOf(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, arith::IndexCastOp>(op)) return 0;
  if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp>(op)) return 1;
  if (isa<math::SqrtOp, math::FloorOp, math::CeilOp>(op)) return 4;
  if (isa<math::MathDialect>(op.getDialect())) return 10;
  if (isa<arith::DivFOp, arith::RemFOp, arith::RemSIOp, arith::DivSIOp>(op)) return 8;
  if (isa<tensor::ExtractOp>(op)) return 4;
  return 1;
}

namespace {
/// What decisions need to know of a loop's body. It is kept: a loop that grows by one op at a time
/// would otherwise be walked as often.
struct BodyFacts {
  explicit BodyFacts(GenericOp op) {
    for (Operation &inner : op.getBody()->without_terminator()) {
      ++ops;
      cost += costOf(inner);
      asksIndex |= isa<linalg::IndexOp>(inner);
    }
  }

  BodyFacts &operator+=(const BodyFacts &other) {
    ops += other.ops;
    cost += other.cost;
    asksIndex |= other.asksIndex;
    return *this;
  }

  unsigned ops = 0;
  int cost = 0;
  bool asksIndex = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Whether to fuse
//===----------------------------------------------------------------------===//

/// Whether the loop computes from what its outputs held. Merged, it would go on doing so once for
/// each of the consumer's elements, and a consumer that reduces would take it for a reduction.
static bool readsOutputs(GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) { return op.payloadUsesValueFromOperand(&init); });
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
  // Every user may be a consumer that asks this.
  constexpr unsigned kMaxUses = 256;
  unsigned uses = 0;
  Block *block = consumer->getBlock();
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    if (++uses > kMaxUses) return false;
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

/// What to do with a producer whose body costs so much.
static Fusion decide(OpOperand &operand, GenericOp producer, int cost) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  const bool onlyUser =
      llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; });
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
// Merging two loops
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

/// The body of the loop that replaces both: the producer's, followed by the consumer's.
static void joinBodies(RewriterBase &rewriter, OpOperand &operand,
                       const llvm::SmallDenseSet<int> &preserved) {
  auto produced = cast<OpResult>(operand.get());
  auto producer = cast<GenericOp>(produced.getOwner());
  auto consumer = cast<GenericOp>(operand.getOwner());
  Block *body = producer.getBody(), *rest = consumer.getBody();
  unsigned next = 0;
  auto adopt = [&](ArrayRef<BlockArgument> arguments) {
    for (BlockArgument argument : arguments)
      argument.replaceAllUsesWith(
          body->insertArgument(next++, argument.getType(), argument.getLoc()));
  };
  const unsigned number = operand.getOperandNumber();
  const unsigned inputs = consumer.getNumDpsInputs();
  adopt(rest->getArguments().take_front(number));
  next += producer.getNumDpsInputs();
  adopt(rest->getArguments().slice(number + 1, inputs - number - 1));
  for (int i = 0, end = producer.getNumDpsInits(); i < end; ++i) {
    if (preserved.contains(i)) ++next;
    else body->eraseArgument(next);
  }
  adopt(rest->getArguments().drop_front(inputs));

  Operation *yield = body->getTerminator();
  rest->getArgument(number).replaceAllUsesWith(yield->getOperand(produced.getResultNumber()));
  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (preserved.contains(i)) yielded.push_back(value);
  llvm::append_range(yielded, rest->getTerminator()->getOperands());
  rewriter.eraseOp(yield);
  body->getOperations().splice(body->end(), rest->getOperations(), rest->begin(),
                               std::prev(rest->end()));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(body);
  linalg::YieldOp::create(rewriter, consumer.getLoc(), yielded);
}

/// Merges a producer that is not needed afterwards into the consumer that reads it, as
/// linalg::fuseElementwiseOps does, with operands and operations in its order. But that clones both
/// bodies, and this moves the shorter one: a line of n ops becomes a loop in n steps. Null, and
/// nothing has changed, if the merged loop would not know its sizes.
static GenericOp mergeMoving(RewriterBase &rewriter, OpOperand &operand) {
  auto produced = cast<OpResult>(operand.get());
  auto producer = cast<GenericOp>(produced.getOwner());
  auto consumer = cast<GenericOp>(operand.getOwner());
  const llvm::SmallDenseSet<int> preserved =
      linalg::getPreservedProducerResults(producer, consumer, &operand);
  const AffineMap toProducersLoops =
      inversePermutation(producer.getIndexingMapMatchingResult(produced))
          .compose(consumer.getMatchingIndexingMap(&operand));

  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  auto takeProducers = [&](OpOperand &own, SmallVectorImpl<Value> &values) {
    values.push_back(own.get());
    maps.push_back(producer.getMatchingIndexingMap(&own).compose(toProducersLoops));
  };
  auto takeConsumers = [&](OpOperand &own, SmallVectorImpl<Value> &values) {
    values.push_back(own.get());
    maps.push_back(consumer.getMatchingIndexingMap(&own));
  };
  for (OpOperand *input : consumer.getDpsInputOperands()) {
    if (input != &operand) takeConsumers(*input, inputs);
    else
      for (OpOperand *own : producer.getDpsInputOperands()) takeProducers(*own, inputs);
  }
  for (auto [i, init] : llvm::enumerate(producer.getDpsInitsMutable()))
    if (preserved.contains(i)) takeProducers(init, outputs);
  for (OpOperand &init : consumer.getDpsInitsMutable()) takeConsumers(init, outputs);
  if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext()))) return {};

  auto merged = GenericOp::create(rewriter, consumer.getLoc(), ValueRange(outputs).getTypes(),
                                  inputs, outputs, rewriter.getAffineMapArrayAttr(maps),
                                  consumer.getIteratorTypes(), /*doc=*/nullptr,
                                  /*library_call=*/nullptr);
  joinBodies(rewriter, operand, preserved);
  merged.getRegion().takeBody(producer.getRegion());
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(producer->getResults()))
    if (preserved.contains(i)) rewriter.replaceAllUsesWith(result, merged.getResult(next++));
  for (Value result : consumer->getResults())
    rewriter.replaceAllUsesWith(result, merged.getResult(next++));
  return merged;
}

namespace {

/// Merges loops, remembering their bodies.
class Fuser {
public:
  explicit Fuser(MLIRContext *context) : rewriter(context) {}

  /// Merges into `op` what may be merged into it, and into what that becomes.
  void fuse(GenericOp op) {
    dropEqualInputs(rewriter, op);
    while (op) op = fuseOne(op);
  }

private:
  const BodyFacts &factsOf(GenericOp op) { return facts.try_emplace(op, op).first->second; }

  void erase(GenericOp op) {
    facts.erase(op);
    rewriter.eraseOp(op);
  }

  /// The producer of an operand's value that might be merged into the operand's owner, or null.
  GenericOp producerOf(OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<GenericOp>();
    auto consumer = cast<GenericOp>(operand.getOwner());
    if (!producer || producer->getBlock() != consumer->getBlock()) return {};
    if (readsOutputs(producer)) return {};
    if (producer->getNumOperands() + consumer->getNumOperands() > kMaxOperands) return {};
    if (factsOf(producer).ops + factsOf(consumer).ops > kMaxBodyOps) return {};
    return linalg::areElementwiseOpsFusable(&operand) ? producer : GenericOp();
  }

  /// Merges one producer into `op` and returns the merged loop; null if there is none to merge.
  GenericOp fuseOne(GenericOp op) {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (foldUnitReshape(rewriter, op, *operand)) return op;
      GenericOp producer = producerOf(*operand);
      if (!producer) continue;
      const Fusion fusion = decide(*operand, producer, factsOf(producer).cost);
      if (fusion == Fusion::no) continue;
      rewriter.setInsertionPoint(op);
      GenericOp larger =
          canMove(producer, op, fusion) ? move(*operand) : clone(*operand, producer, fusion);
      if (!larger) continue;
      erase(op);
      if (producer->use_empty()) erase(producer);
      dropEqualInputs(rewriter, larger);
      return larger;
    }
    return {};
  }

  /// Whether nobody reads the producer once it is merged, and its body stays as it is.
  bool canMove(GenericOp producer, GenericOp consumer, Fusion fusion) {
    if (factsOf(producer).asksIndex) return false; // of other loops than the merged one's
    if (fusion == Fusion::inConsumer) return producer->hasOneUse();
    return llvm::count_if(consumer->getOperands(),
                          [&](Value value) { return value.getDefiningOp() == producer; }) == 1;
  }

  GenericOp move(OpOperand &operand) {
    BodyFacts joined = factsOf(cast<GenericOp>(operand.getOwner()));
    joined += factsOf(operand.get().getDefiningOp<GenericOp>());
    GenericOp larger = mergeMoving(rewriter, operand);
    if (larger) facts.try_emplace(larger, joined);
    return larger;
  }

  GenericOp clone(OpOperand &operand, GenericOp producer, Fusion fusion) {
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, &operand);
    if (failed(fused)) return {};
    for (auto [from, to] : fused->replacements) {
      if (fusion == Fusion::inConsumer && from.getDefiningOp() == producer) continue;
      rewriter.replaceAllUsesExcept(from, to, fused->fusedOp);
    }
    return cast<GenericOp>(fused->fusedOp);
  }

  IRRewriter rewriter;
  DenseMap<Operation *, BodyFacts> facts;
};

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
    SmallVector<GenericOp> loops;
    getOperation()->walk([&](GenericOp op) { loops.push_back(op); });
    Fuser fuser(&getContext());
    // In program order, so that what is merged has been merged with its own producers before.
    for (GenericOp op : loops) fuser.fuse(op);

    if (failed(applyPatternsGreedily(getOperation(), cleanup))) return signalPassFailure();
    // Only within bodies: two empty or zeroed tensors must stay two, or bufferization copies one.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    getOperation()->walk([&](GenericOp op) {
      eliminateCommonSubExpressions(rewriter, dominance, op.getOperation());
    });
  }

  FrozenRewritePatternSet cleanup;
};
} // namespace

} // namespace mlir::weft
