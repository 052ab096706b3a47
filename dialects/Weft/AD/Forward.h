// Forward mode: tangents beside the values, and beside the state of loops.
#pragma once

#include "Weft/AD/Context.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// Builds the tangents of the forward part: of ops behind them, of region ops as further results,
/// from further state.
class Forward {
public:
  explicit Forward(Context &context) : context(context) {}

  /// Builds the tangents of these ops of one block in front of `end`, from the tangents known.
  LogicalResult run(ArrayRef<Operation *> ops, Operation *end);

private:
  LogicalResult forwardBranches(Operation *op);
  LogicalResult forwardFor(scf::ForOp op);
  LogicalResult forwardWhile(scf::WhileOp op);
  /// The tangent of a value, or zeros, of the value's type.
  Value tangentOf(Value value);
  /// Runs a region, whose terminator then hands on the tangents of those of its operands that stand
  /// at `places`, from operand `first` on.
  LogicalResult runRegion(Block &block, ArrayRef<unsigned> places, ValueRange handedOn,
                          ValueRange arguments, ArrayRef<Value> tangents);
  /// Where active values stand among these.
  SmallVector<unsigned> activePlaces(ValueRange values) const;
  void replace(Operation *op, ValueRange operands, ArrayRef<unsigned> places);

  Context &context;
};

} // namespace mlir::weft
