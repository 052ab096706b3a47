// Which values get derivatives: those on a way from what is differentiated to what is asked for.
#pragma once

#include "Weft/IR/Weft.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::weft {

/// Activity of the values in a list of ops and their regions. Integers and ops without derivative
/// end it; loops are followed until nothing changes.
class Activity {
public:
  /// Whether host calls end it, too.
  bool endsAtHosts = false;

  /// Finds what lies between `sources` and `targets`. What was found before is forgotten.
  void find(ArrayRef<Operation *> ops, ValueRange sources, ValueRange targets);

  bool isActive(Value value) const { return varied.contains(value) && useful.contains(value); }
  bool anyActive(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return isActive(value); });
  }
  /// `to` stands for `from`, which is about to be erased.
  void follow(Value from, Value to) {
    if (varied.erase(from)) varied.insert(to);
    if (useful.erase(from)) useful.insert(to);
  }
  /// `copy` is computed as `value` is, and has a derivative if that one does.
  void imitate(Value value, Value copy) {
    if (varied.contains(value)) varied.insert(copy);
    if (useful.contains(value)) useful.insert(copy);
  }
  /// The value is about to be erased.
  void forget(Value value) {
    varied.erase(value);
    useful.erase(value);
  }
  /// Whether an operand, or a value that its regions use from outside, is active.
  bool dependsOnActive(Operation *op) const;

private:
  // Forward: what depends on a source.
  void vary(Operation *op);
  void vary(Block &block);
  void vary(Value value);
  void vary(ValueRange values, ValueRange from);
  // Backward: what the targets depend on.
  void use(Operation *op);
  void use(Block &block);
  void use(Value value);
  void use(ValueRange values, ValueRange by);

  bool variesAny(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return varied.contains(value); });
  }
  bool usesAny(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return useful.contains(value); });
  }

  /// Goes round a loop until nothing changes any more.
  void untilStable(llvm::function_ref<void()> round);

  DenseSet<Value> varied, useful;
  bool changed = false;
};

/// Whether the op, which is none of control flow, has a derivative or ends activity. Of ops that
/// do neither, active ones are refused.
bool isKnownToActivity(Operation *op);

} // namespace mlir::weft
