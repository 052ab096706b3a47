// Zeros, types and captured values, for both directions.
#include "Weft/AD/Context.h"

#include "Autodiff/Rules/UnknownSizes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

LogicalResult Context::refuseUser(Operation *clone, const std::string &words) {
  Operation *original = originalOf(clone);
  original->getParentOfType<ModuleOp>()->setAttr(refusedName, UnitAttr::get(op->getContext()));
  return emitError(original->getLoc()) << words;
}

Value Context::zerosLike(Value value) {
  ::weft::TensorType type = tensorTypeOf(derivativeTypeOf(value.getType()));
  Value zero = emitter.scalar(0, type.dtype);
  if (type.shape.empty()) return zero;
  if (type.shape.is_static()) return emitter.broadcast(zero, type.shape);
  // Without a look at the elements, which a stack may not have yet.
  return emitter.broadcast(zero, ::weft::autodiff::rules::sizes_of(emitter, value));
}

Value Context::typed(Value value, Type type) {
  if (value.getType() == type) return value;
  auto from = cast<RankedTensorType>(value.getType()), to = cast<RankedTensorType>(type);
  // All that either type knows, first; then what is not known any more. A tensor.cast that forgets
  // a size would be moved through loops as if their state kept its size.
  SmallVector<int64_t> shape(from.getShape());
  for (auto [size, known] : llvm::zip(shape, to.getShape()))
    if (!ShapedType::isDynamic(known)) size = known;
  RankedTensorType both = from.clone(shape);
  if (both != from) value = tensor::CastOp::create(builder, emitter.at(), both, value);
  if (both != to) value = WidenOp::create(builder, emitter.at(), to, value);
  return value;
}

SmallVector<Value> capturedBy(Operation *op) {
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!isInside(operand, op)) captured.insert(operand);
    });
  return captured.takeVector();
}

void eraseUnused(Block *block, Operation *before, Operation *behind) {
  Operation *last = behind ? behind->getPrevNode() : block->empty() ? nullptr : &block->back();
  while (last != before) {
    Operation *previous = last->getPrevNode();
    if (isOpTriviallyDead(last)) last->erase();
    else
      for (Region &region : last->getRegions())
        for (Block &inner : region) eraseUnused(&inner, nullptr, nullptr);
    last = previous;
  }
}

Operation *lastOp(OpBuilder &b) {
  auto at = b.getInsertionPoint();
  return at == b.getInsertionBlock()->begin() ? nullptr : &*std::prev(at);
}

bool isControlFlow(Operation *op) {
  return isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp, scf::WhileOp>(op);
}

} // namespace mlir::weft
