// Stacks of derivatives: slices of a tensor, which bufferization finds in place.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

/// The sizes of that type, those it leaves open from `given`.
static Sizes sizesOfType(LinalgBuilder &b, RankedTensorType type, ValueRange given) {
  Sizes sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(given.front());
    given = given.drop_front();
  }
  return sizes;
}

/// Whether there is nothing to store or load, where slices would refuse their offset.
static bool hasNoElements(Value stack) {
  return llvm::is_contained(cast<RankedTensorType>(stack.getType()).getShape(), 0);
}

/// All axes of a tensor as one.
static ReassociationIndices allAxes(RankedTensorType type) {
  return llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
}

namespace {
/// Where a value lies in its stack.
struct Place {
  Place(LinalgBuilder &b, RankedTensorType type, const Sizes &valueSizes, Value at) {
    if (type.hasStaticShape()) {
      offsets.assign(type.getRank() + 1, b.getIndexAttr(0));
      sizes = valueSizes;
      sizes.insert(sizes.begin(), b.getIndexAttr(1));
      slice = type;
    } else {
      OpFoldResult count = b.getIndexAttr(1);
      for (OpFoldResult size : valueSizes) count = b.multiply(count, size);
      offsets.resize(1);
      sizes = {count};
      slice = RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
    }
    offsets[0] = at;
    strides.assign(offsets.size(), b.getIndexAttr(1));
  }

  Sizes offsets, sizes, strides;
  RankedTensorType slice; ///< of what is taken out
};
} // namespace

/// A value as the slice that it is in its stack.
static Value asSlice(LinalgBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape() || type.getRank() == 1) return value;
  return tensor::CollapseShapeOp::create(b, value, SmallVector{allAxes(type)});
}

Value lowerStackEmpty(LinalgBuilder &b, StackEmptyOp op) {
  // Upstream makes a tensor.cast of a size that is known and moves it through loops as if their
  // state kept its size; a stack that grows does not.
  Sizes sizes = sizesOfType(b, op.getType(), op.getSizes());
  for (OpFoldResult &size : sizes)
    if (std::optional<int64_t> known = getConstantIntValue(size)) size = b.getIndexAttr(*known);
  Value stack = b.empty(sizes, op.getType().getElementType());
  if (stack.getType() != op.getType()) stack = WidenOp::create(b, op.getType(), stack);
  return stack;
}

Value lowerStackStore(LinalgBuilder &b, StackStoreOp op) {
  if (hasNoElements(op.getStack())) return op.getStack();
  Place place(b, op.getValue().getType(), b.sizesOf(op.getValue()), op.getAt());
  return tensor::InsertSliceOp::create(b, asSlice(b, op.getValue()), op.getStack(), place.offsets,
                                       place.sizes, place.strides);
}

Value lowerStackLoad(LinalgBuilder &b, StackLoadOp op) {
  RankedTensorType type = op.getType();
  Sizes sizes = sizesOfType(b, type, op.getSizes());
  if (hasNoElements(op.getStack())) return b.empty(sizes, type.getElementType());
  Place place(b, type, sizes, op.getAt());
  Value value = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                               place.sizes, place.strides);
  if (type.getNumDynamicDims() > 1) value = b.typed(b.expanded(value, sizes), type);
  else if (!type.hasStaticShape() && type.getRank() != 1)
    value = tensor::ExpandShapeOp::create(b, type, value, SmallVector{allAxes(type)}, sizes);
  b.setSizes(value, sizes);
  return value;
}

Value lowerStackAdd(LinalgBuilder &b, StackAddOp op) {
  if (hasNoElements(op.getStack())) return op.getStack();
  Place place(b, op.getValue().getType(), b.sizesOf(op.getValue()), op.getAt());
  Value before = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                                place.sizes, place.strides);
  const unsigned rank = place.slice.getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, place.slice, asSlice(b, op.getValue()), before, {identity, identity}, loops,
      [signs = b.signsOf(op)](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder scalar(builder, loc, signs);
        Value total = scalar.add(scalar.decoded(args[1]), scalar.decoded(args[0]));
        linalg::YieldOp::create(builder, loc, scalar.encoded(total));
      });
  return tensor::InsertSliceOp::create(b, sum.getResult(0), op.getStack(), place.offsets,
                                       place.sizes, place.strides);
}

} // namespace mlir::weft
