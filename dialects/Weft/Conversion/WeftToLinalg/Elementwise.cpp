// Elementwise ops as one linalg.generic each; broadcasting is in the indexing maps.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"
#include "Weft/IR/SizeLists.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

/// The map from the loops over a result of `type` to an operand that broadcasts to it: axes align
/// at the end, and those of size 1 are read at 0.
static AffineMap broadcastMap(OpBuilder &b, RankedTensorType operand, RankedTensorType result) {
  const int64_t rank = result.getRank(), missing = rank - operand.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t axis = 0; axis < operand.getRank(); ++axis) {
    const bool stretched = operand.getDimSize(axis) == 1 && result.getDimSize(missing + axis) != 1;
    exprs.push_back(stretched ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(missing + axis));
  }
  return AffineMap::get(rank, 0, exprs, b.getContext());
}

/// The result's sizes: of each axis that of an operand that has it and does not stretch, a known
/// one if there is one. An operand stretches where its type says 1; an unknown size never does,
/// even if it turns out to be 1, so sizes that meet are required to be equal.
static Sizes broadcastSizes(LinalgBuilder &b, Operation *op, int64_t rank) {
  Sizes result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    SmallVector<OpFoldResult> meeting;
    for (Value operand : op->getOperands()) {
      auto type = cast<RankedTensorType>(operand.getType());
      const int64_t at = axis - (rank - type.getRank());
      if (at >= 0 && type.getDimSize(at) != 1) meeting.push_back(b.sizesOf(operand)[at]);
    }
    OpFoldResult size = b.getIndexAttr(1);
    if (!meeting.empty()) {
      auto *known = llvm::find_if(meeting, [](OpFoldResult s) { return isa<Attribute>(s); });
      size = known != meeting.end() ? *known : meeting.front();
    }
    for (OpFoldResult other : meeting) b.requireEqual(size, other, sizesDoNotBroadcast(op, axis));
    result.push_back(size);
  }
  return result;
}

/// Where a range begins to which a scalar is added.
static std::optional<OpFoldResult> startOfSum(LinalgBuilder &b, Operation *op) {
  if (!isa<AddOp>(op)) return std::nullopt;
  Value vector = op->getOperand(0), scalar = op->getOperand(1);
  if (cast<RankedTensorType>(vector.getType()).getRank() == 0) std::swap(vector, scalar);
  std::optional<OpFoldResult> start = b.rangeStartOf(vector);
  if (!start || cast<RankedTensorType>(scalar.getType()).getRank() != 0) return std::nullopt;
  Value number = tensor::ExtractOp::create(b, scalar, ValueRange{});
  return b.add(*start, arith::IndexCastOp::create(b, b.getIndexType(), number).getResult());
}

Value lowerElementwise(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Sizes sizes = broadcastSizes(b, op, type.getRank());
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<AffineMap> maps;
  for (Value operand : op->getOperands())
    maps.push_back(broadcastMap(b, cast<RankedTensorType>(operand.getType()), type.clone(shape)));
  const Signs signs = b.signsOf(op);
  Value result = b.elementwise(sizes, type.getElementType(), op->getOperands(), maps,
                               [&](OpBuilder &builder, Location loc, ValueRange args) {
                                 ScalarBuilder scalar(builder, loc, signs);
                                 return buildScalarBody(info.op, scalar, args.drop_back(),
                                                        type.getElementType());
                               });
  if (std::optional<OpFoldResult> start = startOfSum(b, op)) b.setRangeStart(result, *start);
  return result;
}

Value lowerIota(LinalgBuilder &b, IotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  OperandRange values = op.getSizes();
  const Sizes sizes = b.sizesIn(op.getShape(), values, "iota");
  if (sizes.size() == 1) return b.range(sizes[0], type.getElementType());
  return b.elementwise(sizes, type.getElementType(), {}, {},
                       [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
                         Value at = linalg::IndexOp::create(builder, loc, op.getAxis());
                         Value wide =
                             arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
                         return ScalarBuilder(builder, loc).cast(wide, type.getElementType());
                       });
}

} // namespace mlir::weft
