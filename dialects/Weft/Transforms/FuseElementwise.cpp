// The pass weft-fuse-elementwise: merges loops over elements with those that use their results.
#include "Weft/Conversion/Cost.h"
#include "Weft/IR/Attributes.h"
#include "Weft/Transforms/MergeLoops.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::weft {

#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "Weft/Transforms/Passes.h.inc"

using linalg::GenericOp;

/// Larger loops compile slowly and run out of registers.
static constexpr unsigned kMaxOperands = 64;
static constexpr unsigned kMaxBodyOps = 398;
/// What may be computed again for every user rather than stored once.
static constexpr int64_t kCheap = 2;
/// What may be computed again, in all, where that leaves out passes over memory.
static constexpr int64_t kRepeated = 4;

//===----------------------------------------------------------------------===//
// What is known of a loop
//===----------------------------------------------------------------------===//

namespace {
/// What decisions need to know of a loop's body. It is kept: a loop that grows by one op at a time
/// would otherwise be walked as often.
struct BodyFacts {
  explicit BodyFacts(GenericOp op) {
    cost = costOf(*op.getBody());
    for (Operation &inner : op.getBody()->without_terminator()) {
      ++ops;
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
  int64_t cost = 0;
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

/// Whether the merged loop would have no more operands than a loop may have.
static bool fewOperands(GenericOp producer, GenericOp consumer) {
  if (producer->getNumOperands() + consumer->getNumOperands() <= kMaxOperands) return true;
  llvm::SmallDenseSet<Value, 2 * kMaxOperands> distinct;
  for (GenericOp op : {producer, consumer})
    for (Value input : op.getInputs())
      if (input.getDefiningOp() != producer) distinct.insert(input);
  return distinct.size() + producer.getNumDpsInits() + consumer.getNumDpsInits() <= kMaxOperands;
}

/// The inputs that have an element of their own for each of the loop's; what has fewer stays in the
/// cache.
static SmallVector<Value> largeInputs(GenericOp op) {
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isPermutation()) inputs.push_back(input->get());
  return inputs;
}

/// Whether computing the producer anew in each of its users, as reductions of it, moves less memory
/// than storing it: nobody writes or reads it, but its users read its inputs, where they do not do
/// so anyway.
static bool paysToRepeat(GenericOp producer, int64_t cost) {
  constexpr int kMaxUses = 8;
  const SmallVector<Value> inputs = largeInputs(producer);
  int uses = 0, loads = 0;
  for (OpOperand &use : producer->getUses()) {
    auto user = dyn_cast<GenericOp>(use.getOwner());
    if (!user || user->getBlock() != producer->getBlock() || user.isDpsInit(&use)) return false;
    if (!sameWork(use) || !fewOperands(producer, user)) return false;
    if (++uses > kMaxUses || cost * (uses - 1) > kRepeated) return false;
    if (!linalg::areElementwiseOpsFusable(&use)) return false;
    loads += static_cast<int>(llvm::count_if(
        inputs, [&](Value input) { return !llvm::is_contained(user.getInputs(), input); }));
  }
  const auto stores = static_cast<int>(
      llvm::count_if(producer->getResults(), [](Value result) { return !result.use_empty(); }));
  return loads < stores + uses + static_cast<int>(inputs.size());
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
static Fusion decide(OpOperand &operand, GenericOp producer, int64_t cost) {
  auto consumer = cast<GenericOp>(operand.getOwner());
  const bool onlyUser =
      llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; });
  if (onlyUser && (sameWork(operand) || cost <= kCheap)) return Fusion::inConsumer;
  if (cost == 0) return Fusion::inConsumer; // a map costs no more than the load it replaces
  const bool sameLoops = allParallel(consumer) && sameWork(operand) &&
                         consumer.getNumLoops() == producer.getNumLoops();
  const bool canKeep = sameLoops && consumer.getMatchingIndexingMap(&operand).isIdentity() &&
                       othersComeLater(producer, consumer);
  if (canKeep) return Fusion::keepingResult;
  return paysToRepeat(producer, cost) ? Fusion::inConsumer : Fusion::no;
}

namespace {

/// Merges loops, remembering their bodies.
class Fuser {
public:
  explicit Fuser(MLIRContext *context) : rewriter(context) {}

  /// Merges all loops that are to be merged. In program order, so that what is merged has been
  /// merged with its own producers before.
  void run(Operation *root) {
    SmallVector<GenericOp> loops;
    root->walk([&](GenericOp op) { loops.push_back(op); });
    for (GenericOp op : loops) fuse(op);
  }

private:
  /// Merges into `op` what may be merged into it, and into what that becomes.
  void fuse(GenericOp op) {
    foldSplatInputs(rewriter, op);
    dropEqualInputs(rewriter, op);
    while (op) op = fuseOne(op);
  }

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
    if (readsOutputs(producer) || consumer->hasAttr(kNarrowProduct)) return {};
    if (!fewOperands(producer, consumer)) return {};
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
          canMove(*operand, producer, fusion) ? move(*operand) : clone(*operand, producer, fusion);
      if (!larger) continue;
      erase(op);
      if (producer->use_empty()) erase(producer);
      dropEqualInputs(rewriter, larger);
      return larger;
    }
    return {};
  }

  /// Whether nobody reads the producer once it is merged, and its body stays as it is.
  bool canMove(OpOperand &operand, GenericOp producer, Fusion fusion) {
    if (!canMergeMoving(operand, factsOf(producer).asksIndex)) return false;
    return fusion == Fusion::keepingResult ||
           llvm::all_of(producer->getUsers(),
                        [&](Operation *user) { return user == operand.getOwner(); });
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
    // Operands that became unused, and reshapes of fills.
    RewritePatternSet set(context);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(set);
    linalg::ControlFusionFn never = [](OpOperand *) { return false; };
    linalg::populateElementwiseOpsFusionPatterns(set, never);
    cleanup = std::move(set);
    return success();
  }

  void runOnOperation() override {
    Fuser(&getContext()).run(getOperation());

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
