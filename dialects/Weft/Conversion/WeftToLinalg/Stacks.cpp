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

/// The axes of values in a flat stack: those that lie behind each other along its first axis, as
/// one, and those that are its own others. Complex numbers have such a one, for their parts.
static SmallVector<ReassociationIndices> flatGroups(RankedTensorType type, int64_t stackRank) {
  const int64_t along = type.getRank() - stackRank + 1;
  SmallVector<ReassociationIndices> groups{llvm::to_vector<2>(llvm::seq<int64_t>(0, along))};
  for (int64_t axis = along; axis < type.getRank(); ++axis) groups.push_back({axis});
  return groups;
}

namespace {
/// Where a value lies in its stack.
struct Place {
  Place(LinalgBuilder &b, RankedTensorType type, RankedTensorType stack, const Sizes &valueSizes,
        Value at) {
    const int64_t rank = stack.getRank();
    offsets.assign(rank, b.getIndexAttr(0));
    offsets[0] = at;
    strides.assign(rank, b.getIndexAttr(1));
    if (type.hasStaticShape()) {
      sizes = valueSizes;
      sizes.insert(sizes.begin(), b.getIndexAttr(1));
      slice = type;
      return;
    }
    const auto own = ArrayRef(valueSizes).take_back(rank - 1);
    OpFoldResult count = b.getIndexAttr(1);
    for (OpFoldResult size : ArrayRef(valueSizes).drop_back(rank - 1))
      count = b.multiply(count, size);
    sizes = {count};
    sizes.append(own.begin(), own.end());
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape().take_back(rank - 1));
    slice = RankedTensorType::get(shape, type.getElementType());
  }

  Sizes offsets, sizes, strides;
  RankedTensorType slice; ///< of what is taken out
};
} // namespace

/// A value as the slice that it is in its stack.
static Value asSlice(LinalgBuilder &b, Value value, int64_t stackRank) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape() || type.getRank() == stackRank) return value;
  return tensor::CollapseShapeOp::create(b, value, flatGroups(type, stackRank));
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
  RankedTensorType stack = op.getStack().getType();
  Place place(b, op.getValue().getType(), stack, b.sizesOf(op.getValue()), op.getAt());
  return tensor::InsertSliceOp::create(b, asSlice(b, op.getValue(), stack.getRank()), op.getStack(),
                                       place.offsets, place.sizes, place.strides);
}

Value lowerStackLoad(LinalgBuilder &b, StackLoadOp op) {
  RankedTensorType type = op.getType();
  Sizes sizes = sizesOfType(b, type, op.getSizes());
  if (hasNoElements(op.getStack())) return b.empty(sizes, type.getElementType());
  const int64_t rank = op.getStack().getType().getRank();
  Place place(b, type, op.getStack().getType(), sizes, op.getAt());
  Value value = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                               place.sizes, place.strides);
  if (type.getNumDynamicDims() > 1 && type.getRank() != rank)
    value = b.typed(b.expanded(value, sizes), type);
  else if (!type.hasStaticShape() && type.getRank() != rank)
    value = tensor::ExpandShapeOp::create(b, type, value, flatGroups(type, rank), sizes);
  b.setSizes(value, sizes);
  return value;
}

Value lowerStackAdd(LinalgBuilder &b, StackAddOp op) {
  if (hasNoElements(op.getStack())) return op.getStack();
  RankedTensorType stack = op.getStack().getType();
  Place place(b, op.getValue().getType(), stack, b.sizesOf(op.getValue()), op.getAt());
  Value before = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                                place.sizes, place.strides);
  const unsigned rank = place.slice.getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, place.slice, asSlice(b, op.getValue(), stack.getRank()), before, {identity, identity},
      loops, [signs = b.signsOf(op)](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder scalar(builder, loc, signs);
        Value total = scalar.add(scalar.decoded(args[1]), scalar.decoded(args[0]));
        linalg::YieldOp::create(builder, loc, scalar.encoded(total));
      });
  return tensor::InsertSliceOp::create(b, sum.getResult(0), op.getStack(), place.offsets,
                                       place.sizes, place.strides);
}

} // namespace mlir::weft
