// Stacks of a loop: its iterations keep values in them, and the reverse reads them by the
// iteration's number.
#pragma once

#include "Weft/AD/Context.h"
#include "Weft/AD/Iterations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// Adds stacks to a loop as further state. One of values of known sizes has them along its first
/// axis; with an unknown size they lie behind each other, and a second stack says from where on and
/// of what sizes. Where the number of iterations is not known before the loop, stacks grow.
class LoopStacks {
public:
  LoopStacks(Context &context, scf::ForOp loop, const Iterations &iterations);
  /// Of a loop that counts its iterations in the last piece of its state.
  LoopStacks(Context &context, scf::WhileOp loop);

  /// Keeps values of some iterations only: of those in which `due`, of the loop's first block,
  /// holds, each at the next place, which is `place`, computed before `due`.
  void onlyWhen(Value due, Value place);
  /// The same of every iteration whose number is a multiple of `length`, in a counted loop.
  void onlyEvery(Value length);
  /// Keeps a value that is defined in the loop, but not in a region in it.
  void keep(Value value);
  /// Puts a loop with the stacks in the place of the loop, with the results of that one first, and
  /// gives it.
  Operation *finish();
  /// Notes for the report that the value is kept `times` times (-1: unknown), and why.
  void note(Value value, int64_t times, std::string reason);
  /// What the value was in an iteration, after the loop.
  Value load(OpBuilder &builder, Value value, Value iteration);

private:
  /// Where a value is.
  struct Kept {
    unsigned stack;
    std::optional<unsigned> places; ///< of values of unknown sizes
  };
  /// One piece of state.
  struct State {
    Value init;
    SmallVector<Value, 2> in, out; ///< in each block of the loop
    Value last;                    ///< the loop's result
  };

  unsigned addState(Value init);
  unsigned addStack(RankedTensorType value);
  void store(OpBuilder &builder, unsigned stack, unsigned block, Value value);
  void storeAt(OpBuilder &builder, Value &stack, Value value, Value at);
  void keepUnknown(OpBuilder &builder, Value value, unsigned block, Kept &at);

  Context &context;
  Operation *loop;
  Location location;
  SmallVector<Block *, 2> blocks;
  SmallVector<Value, 2> numbers;        ///< of the place to store at, in each block
  Value due;                            ///< whether to store, if not in every iteration
  std::optional<Iterations> iterations; ///< where they are counted before
  SmallVector<State> states;
  llvm::MapVector<Value, Kept> kept;
};

/// The type of a stack's value that keeps a value of that type: numbers are tensors of rank 0.
RankedTensorType keptType(Type type);
/// A value as a tensor that a stack can hold.
Value asTensor(OpBuilder &builder, Location location, Value value);
/// A value of type `kept` at a place of its stack, or where `places`, if not null, says at that
/// place that it begins, and its unknown sizes.
Value loadKept(OpBuilder &builder, Location location, Type kept, Value stack, Value places,
               Value at);

/// Puts an op with further results in the place of one: what is known of the old one's results is
/// known of the new one's.
void replaceByLarger(Context &context, Operation *op, Operation *larger);

} // namespace mlir::weft
