// Verifies attention and its gradients, and says for which types there are kernels.
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

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}
static bool fits(ArrayRef<int64_t> one, ArrayRef<int64_t> other) {
  return succeeded(verifyCompatibleShape(one, other));
}
/// One of each row.
static SmallVector<int64_t> shapeOfRows(Value query) {
  SmallVector<int64_t> rows(shapeOf(query));
  rows.back() = 1;
  return rows;
}

/// What both ops have to be.
template <class Op>
static LogicalResult verifyProblem(Op op) {
  const auto format = dyn_cast<FloatType>(op.getFormat());
  if (!format || !(format.isBF16() || format.isF16()))
    return op.emitOpError() << "has format bf16 or f16, but it is " << op.getFormat();
  const bool onBuffers = isa<MemRefType>(op.getQuery().getType());
  for (Type type : op->getOperandTypes())
    if (isa<MemRefType>(type) != onBuffers)
      return op.emitOpError() << "is on tensors or on buffers, but meets "
                              << op.getQuery().getType() << " and " << type;
  if (TypeRange(op.getResults()) != (onBuffers ? TypeRange() : TypeRange(op.getInto())))
    return op.emitOpError() << "gives what it writes over, where that is tensors";
  const ArrayRef<int64_t> query = shapeOf(op.getQuery()), key = shapeOf(op.getKey()),
                          value = shapeOf(op.getValue());
  if (query.size() < 2) return op.emitOpError() << "query has fewer than two axes";
  if (key.size() != query.size() || !fits(key.drop_back(2), query.drop_back(2)) ||
      !fits(key.take_back(), query.take_back()) || !fits(key, value))
    return op.emitOpError() << "key and value are (batch.., keys, depth) of the query's batch and "
                            << "depth, but there are " << op.getQuery().getType() << ", "
                            << op.getKey().getType() << " and " << op.getValue().getType();
  const Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (element != format && element != storageType(format))
    return op.emitOpError() << "has numbers of " << format << ", but is given " << element;
  if (Value mask = op.getMask()) {
    const Type ofMask = getElementTypeOrSelf(mask.getType());
    if (ofMask != element && !ofMask.isInteger(1))
      return op.emitOpError() << "has a mask of i1 or " << element << ", but it is "
                              << mask.getType();
    SmallVector<int64_t> scores(query);
    scores.back() = key[key.size() - 2];
    if (!broadcastsTo(shapeOf(mask), scores))
      return op.emitOpError() << "the mask broadcasts with (batch.., rows, keys), but is "
                              << mask.getType();
  }
  if (!llvm::is_contained({"no", "top_left", "bottom_right"}, op.getCausal()))
    return op.emitOpError() << "causal is no, top_left or bottom_right, but it is "
                            << op.getCausal();
  const int64_t rows = query[query.size() - 2];
  const auto queries = static_cast<int64_t>(op.getQueries());
  if (queries < 0 || (rows > 0 && (queries == 0 || rows % queries != 0)))
    return op.emitOpError() << "queries divides the rows, but it is " << queries << " of "
                            << op.getQuery().getType();
  return success();
}

/// Whether all are numbers of the query's type.
template <class Op>
static LogicalResult verifyNumbers(Op op, ArrayRef<Value> numbers) {
  const Type element = getElementTypeOrSelf(op.getQuery().getType());
  for (Value number : numbers)
    if (getElementTypeOrSelf(number.getType()) != element)
      return op.emitOpError() << "has numbers of one type, but " << element << " meets "
                              << number.getType();
  return success();
}

/// An f32 of each row.
static bool isOfRows(Value value, Value query) {
  return fits(shapeOf(value), shapeOfRows(query)) && getElementTypeOrSelf(value.getType()).isF32();
}

LogicalResult AttentionOp::verify() {
  if (getInto().size() != 2)
    return emitOpError() << "writes over means and logarithms, but is given " << getInto().size()
                         << " places";
  if (failed(verifyProblem(*this)) ||
      failed(verifyNumbers(*this, {getKey(), getValue(), getInto()[0]})))
    return failure();
  if (!fits(shapeOf(getInto()[0]), shapeOf(getQuery())) || !isOfRows(getInto()[1], getQuery()))
    return emitOpError() << "means are of the query's shape, and logarithms, of f32, have 1 in the "
                         << "place of its last size, but these are " << getInto().getTypes();
  return success();
}

LogicalResult AttentionGradientsOp::verify() {
  if (getInto().size() != 3)
    return emitOpError() << "writes over gradients by query, key and value, but is given "
                         << getInto().size() << " places";
  if (failed(verifyProblem(*this)) ||
      failed(verifyNumbers(
          *this, {getKey(), getValue(), getCotangent(), getInto()[0], getInto()[1], getInto()[2]})))
    return failure();
  for (auto [into, of] : {std::pair<Value, Value>{getInto()[0], getQuery()},
                          {getInto()[1], getKey()},
                          {getInto()[2], getValue()}})
    if (!fits(shapeOf(into), shapeOf(of)))
      return emitOpError() << "gradients are of the shapes of query, key and value, but these are "
                           << getInto().getTypes();
  if (!fits(shapeOf(getCotangent()), shapeOf(getQuery())))
    return emitOpError() << "the cotangent is of the query's shape, but it is "
                         << getCotangent().getType();
  for (Value ofRows : {getLogs(), getAlong()})
    if (!isOfRows(ofRows, getQuery()))
      return emitOpError() << "logs and along are (batch.., rows, 1) of f32, but there is "
                           << ofRows.getType();
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

/// Writes what it is written over, and reads all else.
template <class Op>
static void
effectsOf(Op op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!isa<MemRefType>(op.getQuery().getType())) return;
  for (OpOperand &operand : op->getOpOperands()) {
    MemoryEffects::Effect *effect = MemoryEffects::Read::get();
    if (llvm::is_contained(op.getInto(), operand.get())) effect = MemoryEffects::Write::get();
    effects.emplace_back(effect, &operand, SideEffects::DefaultResource::get());
  }
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effectsOf(*this, effects);
}

void AttentionGradientsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effectsOf(*this, effects);
}

} // namespace mlir::weft
