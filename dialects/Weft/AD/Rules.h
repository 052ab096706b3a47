// The rules of the op table, run on IR: what one op gives in reverse and in forward mode.
#pragma once

#include "Weft/AD/Context.h"

namespace mlir::weft {

/// Adds to the cotangents of an op's active operands what reaches them from its results'. The op is
/// in the op table, or a cast or of a stack. Fails after a diagnostic where it has no derivative.
LogicalResult reverseRule(Context &context, Operation *op);

/// The tangents of such an op's results, from those of its operands, null of one that has none; the
/// first is null after a diagnostic.
SmallVector<Value> forwardRule(Context &context, Operation *op);

/// Refuses an active host call, whose derivative is not known.
void refuseHost(Context &context, HostCallOp op);

/// Adds to the cotangents of the op's sources what its pullback gives, whose body is copied.
LogicalResult reverseCustom(Context &context, CustomGradientOp op);

/// Sets the tangents of its results: those of its sources through the transposed pullback, which is
/// a weft.vjp to be expanded further. Fails after a diagnostic.
LogicalResult forwardCustom(Context &context, CustomGradientOp op);

/// Adds to a value's derivative, if the value is active.
void accumulate(Context &context, Value value, Value derivative);

} // namespace mlir::weft
