// Verifies the op attention, and says for which types there is a kernel.
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

namespace mlir::weft {

/// What the kernel counts in 32 bits: bytes of a head, and rows of all.
static constexpr int64_t kMostOfHead = int64_t{1} << 29, kMostRows = int64_t{1} << 30;

/// Whether each size of `mask` is 1 or that of `scores`, from the last one on.
static bool broadcastsTo(ArrayRef<int64_t> mask, ArrayRef<int64_t> scores) {
  if (mask.size() > scores.size()) return false;
  return llvm::all_of(llvm::zip_equal(mask, scores.take_back(mask.size())), [](auto sizes) {
    auto [own, wanted] = sizes;
    return own == 1 || own == wanted || ShapedType::isDynamic(own) || ShapedType::isDynamic(wanted);
  });
}

LogicalResult AttentionOp::verify() {
  const auto format = dyn_cast<FloatType>(getFormat());
  if (!format || !(format.isBF16() || format.isF16()))
    return emitOpError() << "has format bf16 or f16, but it is " << getFormat();
  if (getInto().size() != 2)
    return emitOpError() << "writes over means and logarithms, but is given " << getInto().size()
                         << " places";
  const bool onBuffers = isa<MemRefType>(getQuery().getType());
  for (Type type : getOperandTypes())
    if (isa<MemRefType>(type) != onBuffers)
      return emitOpError() << "is on tensors or on buffers, but meets " << getQuery().getType()
                           << " and " << type;
  if (TypeRange(getResults()) != (onBuffers ? TypeRange() : TypeRange(getInto())))
    return emitOpError() << "gives what it writes over, where that is tensors";
  const auto shape = [](Value value) { return cast<ShapedType>(value.getType()).getShape(); };
  const ArrayRef<int64_t> query = shape(getQuery()), key = shape(getKey()),
                          value = shape(getValue());
  if (query.size() < 2) return emitOpError() << "query has fewer than two axes";
  SmallVector<int64_t> scores(query), logs(query);
  logs.back() = 1;
  const auto fits = [](ArrayRef<int64_t> one, ArrayRef<int64_t> other) {
    return succeeded(verifyCompatibleShape(one, other));
  };
  if (key.size() != query.size() || !fits(key.drop_back(2), query.drop_back(2)) ||
      !fits(key.take_back(), query.take_back()) || !fits(key, value))
    return emitOpError() << "key and value are (batch.., keys, depth) of the query's batch and "
                         << "depth, but there are " << getQuery().getType() << ", "
                         << getKey().getType() << " and " << getValue().getType();
  scores.back() = key[key.size() - 2];
  if (!fits(shape(getInto()[0]), query) || !fits(shape(getInto()[1]), logs))
    return emitOpError() << "means are of the query's shape, and logarithms have 1 in the place of "
                         << "its last size, but these are " << getInto().getTypes();
  const auto elementOf = [](Value of) { return getElementTypeOrSelf(of.getType()); };
  const Type element = elementOf(getQuery());
  if (element != format && element != storageType(format))
    return emitOpError() << "has numbers of " << format << ", but is given " << element;
  for (Value number :
       llvm::concat<Value>(SmallVector<Value>{getKey(), getValue()}, SmallVector<Value>(getInto())))
    if (elementOf(number) != element)
      return emitOpError() << "has numbers of one type, but " << element << " meets "
                           << number.getType();
  if (getMask()) {
    if (elementOf(getMask()) != element && !elementOf(getMask()).isInteger(1))
      return emitOpError() << "has a mask of i1 or " << element << ", but it is "
                           << getMask().getType();
    if (!broadcastsTo(shape(getMask()), scores))
      return emitOpError() << "the mask broadcasts with (batch.., rows, keys), but is "
                           << getMask().getType();
  }
  if (!llvm::is_contained({"no", "top_left", "bottom_right"}, getCausal()))
    return emitOpError() << "causal is no, top_left or bottom_right, but it is " << getCausal();
  const int64_t rows = query[query.size() - 2];
  const auto queries = static_cast<int64_t>(getQueries());
  if (queries < 0 || (rows > 0 && (queries == 0 || rows % queries != 0)))
    return emitOpError() << "queries divides the rows, but it is " << queries << " of "
                         << getQuery().getType();
  return success();
}

bool AttentionOp::hasKernel(TypeRange operands, double scale) {
  const auto isKnown = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasStaticShape() && shaped.getNumElements() > 0;
  };
  if (operands.size() < 3 || !llvm::all_of(operands, isKnown)) return false;
  const auto query = cast<ShapedType>(operands[0]), key = cast<ShapedType>(operands[1]),
             value = cast<ShapedType>(operands[2]);
  const Type element = query.getElementType();
  const auto fits = [&](ShapedType other) {
    return other.getRank() == query.getRank() && other.getElementType() == element &&
           other.getShape().drop_back(2) == query.getShape().drop_back(2) &&
           other.getShape().back() == query.getShape().back();
  };
  // Scores are compared before they are scaled.
  const int64_t depth = query.getRank() < 2 ? 0 : query.getShape().back();
  const auto isSmall = [&](ShapedType type) {
    return type.getShape().drop_front(type.getRank() - 2).front() * depth <= kMostOfHead;
  };
  return (element.isBF16() || element.isF16()) && query.getRank() >= 2 && fits(key) &&
         key.getShape() == value.getShape() && value.getElementType() == element &&
         depth % 16 == 0 && depth >= 16 && depth <= 128 && isSmall(query) && isSmall(key) &&
         query.getNumElements() / depth <= kMostRows && scale > 0 && std::isfinite(scale);
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!isa<MemRefType>(getQuery().getType())) return;
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    const bool isInto = llvm::is_contained(getInto(), operand.get());
    if (isInto)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

} // namespace mlir::weft
