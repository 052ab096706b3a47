// Verifiers of the ops on stacks.
#include "Weft/IR/Bridge.h"

namespace mlir::weft {

/// There must be one of `sizes` for each size that `type` leaves open.
static LogicalResult verifySizes(Operation *op, RankedTensorType type, ValueRange sizes) {
  if (sizes.size() == static_cast<size_t>(type.getNumDynamicDims())) return success();
  return op->emitOpError() << "needs " << type.getNumDynamicDims() << " sizes for " << type
                           << ", but has " << sizes.size();
}

/// Values of that type must fit in that stack.
static LogicalResult verifyPlace(Operation *op, RankedTensorType value, RankedTensorType stack) {
  bool fits = value.getElementType() == stack.getElementType() && stack.getRank() != 0 &&
              (value.hasStaticShape() ? stack.getRank() == value.getRank() + 1
                                      : stack.getRank() <= value.getRank());
  if (fits) {
    const auto own = stack.getShape().drop_front();
    fits = !ShapedType::isDynamicShape(own) && own == value.getShape().take_back(own.size());
  }
  if (fits) return success();
  return op->emitOpError() << "a stack of " << value << " has its shape behind one more axis, or "
                           << "its last axes if a size is unknown, but is " << stack;
}

LogicalResult StackEmptyOp::verify() { return verifySizes(*this, getType(), getSizes()); }

LogicalResult StackReserveOp::verify() {
  RankedTensorType type = getType();
  if (type.getRank() != 0 && type.isDynamicDim(0) && type.getNumDynamicDims() == 1)
    return success();
  return emitOpError() << "a stack that grows has an unknown first size and no other, but is "
                       << type;
}

LogicalResult StackStoreOp::verify() {
  return verifyPlace(*this, getValue().getType(), getStack().getType());
}

LogicalResult StackLoadOp::verify() {
  if (failed(verifySizes(*this, getType(), getSizes()))) return failure();
  return verifyPlace(*this, getType(), getStack().getType());
}

LogicalResult StackAddOp::verify() {
  return verifyPlace(*this, getValue().getType(), getStack().getType());
}

} // namespace mlir::weft
