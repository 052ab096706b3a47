// Effects as MLIR's interfaces see them: memory effects, and what may run ahead of its time.
#include "Weft/IR/Bridge.h"

#include "Weft/IR/Interfaces.cpp.inc"

namespace mlir::weft {

LogicalResult verifyOrdered(OrderedOpInterface op) {
  if (static_cast<bool>(op.getAfter()) == static_cast<bool>(op.getToken())) return success();
  return op->emitOpError("has a token before it and one of its own, or neither");
}

OwnEffects ownEffectsOf(Operation *op) {
  auto ordered = dyn_cast<OrderedOpInterface>(op);
  return ordered ? ordered.getOwnEffects() : OwnEffects();
}

void addMemoryEffects(
    OrderedOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (op.getToken()) return;
  const OwnEffects own = op.getOwnEffects();
  if (own.reads)
    effects.emplace_back(MemoryEffects::Read::get(), &op->getOpOperand(0), VariableResource::get());
  if (own.writes)
    effects.emplace_back(MemoryEffects::Write::get(), &op->getOpOperand(0),
                         VariableResource::get());
  if (own.io) effects.emplace_back(MemoryEffects::Write::get(), IoResource::get());
}

void LeaveOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getKind() == LeaveKind::routine) effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Write::get(), IoResource::get());
}

bool mayStop(Operation *op) {
  if (op->hasTrait<StopsCall>()) return true;
  if (auto call = dyn_cast<CallIntoOp>(op)) return call.mayThrow();
  if (auto call = dyn_cast<HostCallOp>(op)) return call.getPure();
  const ::weft::OpInfo *info = opInfoOf(op);
  if (!info || info->has_effect()) return false;
  if (hasOperand(op, ::weft::OperandRole::index) || !sizeOperands(op).empty()) return true;
  // Sizes are compared where two operands meet, and with those that an attribute gives.
  const bool compares = op->getNumOperands() > 1 || info->kind == ::weft::OpKind::structural ||
                        info->kind == ::weft::OpKind::routine;
  if (compares && llvm::any_of(op->getOperandTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return shaped && !shaped.hasStaticShape();
      }))
    return true;
  return knowsMoreThanInferred(op);
}

Speculation::Speculatability speculatabilityOf(Operation *op) {
  bool speculatable = !mayStop(op);
  if (auto ordered = dyn_cast<OrderedOpInterface>(op)) {
    const OwnEffects own = ordered.getOwnEffects();
    speculatable = !own.writes && !own.io && !own.stops;
  }
  return speculatable ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

} // namespace mlir::weft
