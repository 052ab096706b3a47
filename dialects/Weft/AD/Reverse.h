// Reverse mode: adjoints from the last op to the first, and through regions.
#pragma once

#include "Weft/AD/Context.h"
#include "Weft/AD/Iterations.h"
#include "Weft/AD/Rerun.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

class ReverseLoop;

/// Builds the reverse of the forward part behind it, an op for a region op: the reverse of a branch
/// branches the same way, that of a loop is a counted loop. While such an op is built, it uses the
/// values in the forward op's regions as if they could be seen from outside; then what it uses is
/// saved (Residuals.h), from the inner ops to the outer ones, so that a saved value of an inner op
/// is a value of the outer one's region.
class Reverse {
public:
  explicit Reverse(Context &context) : context(context) {}

  /// Reverses these ops of one block, the last first, from the cotangents known.
  LogicalResult run(ArrayRef<Operation *> ops);

private:
  LogicalResult reverseBranches(Operation *op);
  LogicalResult reverseFor(scf::ForOp op);
  LogicalResult reverseWhile(scf::WhileOp op);
  /// Keeps what is needed of each iteration, although the budget wants it otherwise if `why` says
  /// why.
  LogicalResult reverseIterations(scf::ForOp op, const Iterations &iterations, StringRef why);
  LogicalResult reverseIterations(scf::WhileOp op, StringRef why);
  /// Keeps the state of some iterations, and runs the iterations between again (Checkpoints.cpp).
  LogicalResult reverseSegments(scf::ForOp op, const Iterations &iterations);
  LogicalResult reverseSegments(scf::WhileOp op);
  LogicalResult reverseAgain(Operation *loop, const IterationOps &ops, Value first,
                             const Iterations &iterations, ArrayRef<unsigned> places,
                             ValueRange cotangents);
  /// Keeps at most so many states at a time (Revolve.h), and finishes `reverse`, which has begun,
  /// over all iterations. `inits` are the state before the first.
  LogicalResult reverseRevolving(Operation *op, const IterationOps &ops, ReverseLoop &reverse,
                                 ArrayRef<unsigned> places, Value iterations, ValueRange inits);
  /// Whether a loop keeps what is needed of each iteration, by the budget or because of `why`.
  bool keepsAll(Operation *loop, std::optional<int64_t> iterations, std::string &why);
  /// The pieces of a counted loop's state that have cotangents: their numbers, the arguments, and
  /// the cotangents behind the loop.
  void findCarried(scf::ForOp op, SmallVectorImpl<unsigned> &places,
                   SmallVectorImpl<Value> &carried, SmallVectorImpl<Value> &cotangents);
  /// Notes the state of a counted loop that only collects what its iterations give.
  void findOutputs(scf::ForOp op);
  /// Reverses the last time that a condition was computed, from the cotangents of `results`. Gives
  /// those of `carried`, and adds to those of `captured`.
  FailureOr<SmallVector<Value>> reverseLastCondition(ArrayRef<Operation *> ops, ValueRange handedOn,
                                                     ValueRange results, ArrayRef<Value> carried,
                                                     ArrayRef<Value> captured);
  /// Seeds what a block hands on with the cotangents of what receives it.
  void seed(ValueRange handedOn, ArrayRef<Value> cotangents);
  bool anyCotangent(ValueRange values) const;
  /// Whether a piece of a loop's state has a cotangent.
  bool isCarried(Value value) const {
    return context.activity.isActive(value) && derivativeTypeOf(value.getType());
  }
  /// The active values that the op's regions use from outside.
  SmallVector<Value> activeCaptures(Operation *op) const;

  Context &context;
};

} // namespace mlir::weft
