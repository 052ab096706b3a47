// What of a region's values is kept for the reverse, and what is computed again from it.
#pragma once

#include "Weft/AD/Residuals.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

/// The values in an op's regions that turns of its reverse use, divided into those to keep, by a
/// minimum cut of their bytes, and those to compute again from these.
class Recompute {
public:
  /// How a kept value is had back in an iteration, at the builder's place.
  using Load = llvm::function_ref<Value(OpBuilder &, Value, const ReverseIteration &)>;

  Recompute(Context &context, Operation *op) : context(context), op(op) {}

  /// `argument` of a region always is `value`, of another region of the op or from around it.
  void equate(Value argument, Value value) { aliases[argument] = value; }
  /// The value can be had in every iteration.
  void setFree(Value value) { free = value; }
  /// The value of every iteration is held by a result of the loop anyway.
  void setHeld(Value value) { held.insert(value); }

  /// Finds what the iterations use. Takes what is the same in all iterations, and cannot be
  /// computed again, out of the op if it is a loop. Fails after a diagnostic if a value cannot be
  /// kept.
  LogicalResult choose(ArrayRef<ReverseIteration> iterations);
  /// The op has been replaced by one with the same regions.
  void moveTo(Operation *larger) { op = larger; }
  /// In the order of the program.
  ArrayRef<Value> kept() const { return keep; }
  /// Why a kept value is not computed again.
  std::string reasonFor(Value value) const;
  /// Gives the iterations what they use.
  void restore(const ReverseIteration &iteration, Load load);

private:
  Value canonical(Value value) const {
    Value alias = aliases.lookup(value);
    return alias ? alias : value;
  }
  /// Whether something must be done to have the value in an iteration.
  bool isForeign(Value value) const { return isInside(value, op) && value != free; }
  bool comesBefore(Operation *a, Operation *b) const;
  void hoistInvariant(Value value);
  llvm::SetVector<Value> closure(ArrayRef<ReverseIteration> iterations) const;

  Context &context;
  Operation *op;
  DenseMap<Value, Value> aliases;
  Value free;
  DenseSet<Value> held;
  SmallVector<Value> keep;
};

} // namespace mlir::weft
