// Gather, scatter_add, their kin along an axis, and update_slice: the indices are checked before
// the loops that use them.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

/// Stops the call with an IndexError unless all `indices` are below the size of `axis`.
static void checkIndices(LinalgBuilder &b, Value indices, OpFoldResult size, StringRef op) {
  CheckIndicesOp::create(b, indices, b.toValue(size), op);
}

/// One slice across the first axis of a tensor that lies in memory row by row, where it is. Of
/// others the elements would lie otherwise than in a tensor of their own, which products see.
static Value sliceOf(LinalgBuilder &b, GatherOp op, const Sizes &from) {
  Value x = op.getX();
  RankedTensorType type = op.getX().getType();
  Operation *source = x.getDefiningOp();
  if (op.getAxis() != 0 || op.getIndices().getType().getRank() != 0 || type.getRank() < 2 ||
      llvm::is_contained(type.getShape(), 0) ||
      (source && !isa<linalg::LinalgOp, tensor::InsertSliceOp, scf::ForOp>(source)))
    return {};
  Value at = tensor::ExtractOp::create(b, op.getIndices(), ValueRange{});
  Sizes offsets(from.size(), b.getIndexAttr(0)), sizes = from,
                                                 strides(from.size(), b.getIndexAttr(1));
  offsets[0] = arith::IndexCastOp::create(b, b.getIndexType(), at).getResult();
  sizes[0] = b.getIndexAttr(1);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : ArrayRef(sizes).drop_front())
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  Value slice = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), x, offsets, sizes, strides);
  b.setSizes(slice, Sizes(ArrayRef(from).drop_front()));
  return slice;
}

/// What a gather or scatter_add picks of a tensor of `sizes` by a range of indices: a slice along
/// the axis. Nothing for other indices, and of no elements, where a slice would begin past the end.
struct RangeSlice {
  Sizes offsets, sizes, strides;

  static std::optional<RangeSlice> of(LinalgBuilder &b, Value indices, const Sizes &sizes,
                                      size_t axis) {
    std::optional<OpFoldResult> start = b.rangeStartOf(indices);
    if (!start) return std::nullopt;
    RangeSlice slice{Sizes(sizes.size(), b.getIndexAttr(0)), sizes,
                     Sizes(sizes.size(), b.getIndexAttr(1))};
    slice.offsets[axis] = *start;
    slice.sizes[axis] = b.sizesOf(indices)[0];
    const auto none = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
    if (llvm::any_of(sizes, none) || llvm::any_of(slice.sizes, none)) return std::nullopt;
    return slice;
  }

  /// The slice, of which no more is said to be known than `type` does: what a function returns has
  /// the memory of its type.
  Value extract(LinalgBuilder &b, Value x, RankedTensorType type) const {
    Value result = tensor::ExtractSliceOp::create(b, x, offsets, sizes, strides);
    auto known = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(known.getShape());
    for (auto [size, wanted] : llvm::zip_equal(shape, type.getShape()))
      if (ShapedType::isDynamic(wanted)) size = wanted;
    if (known.clone(shape) != known) result = WidenOp::create(b, known.clone(shape), result);
    b.setSizes(result, sizes);
    return result;
  }
};

Value lowerGather(LinalgBuilder &b, GatherOp op) {
  Value x = op.getX(), indices = op.getIndices();
  const size_t axis = op.getAxis();
  Sizes from = b.sizesOf(x), picked = b.sizesOf(indices), sizes;
  checkIndices(b, indices, from[axis], "gather");
  if (Value slice = sliceOf(b, op, from)) return slice;
  if (auto slice = RangeSlice::of(b, indices, from, axis))
    return slice->extract(b, x, op.getType());

  // The result: x's axes before `axis`, the axes of the indices, x's axes after it.
  llvm::append_range(sizes, ArrayRef(from).take_front(axis));
  llvm::append_range(sizes, picked);
  llvm::append_range(sizes, ArrayRef(from).drop_front(axis + 1));
  SmallVector<AffineExpr> exprs;
  for (size_t i = 0; i < picked.size(); ++i) exprs.push_back(b.getAffineDimExpr(axis + i));
  AffineMap map = AffineMap::get(sizes.size(), 0, exprs, b.getContext());
  return b.elementwise(
      sizes, getElementTypeOrSelf(x.getType()), indices, map,
      [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (size_t i = 0; i < from.size(); ++i) {
          if (i == axis)
            at.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), args[0]));
          else
            at.push_back(
                linalg::IndexOp::create(builder, loc, i < axis ? i : i + picked.size() - 1));
        }
        return tensor::ExtractOp::create(builder, loc, x, at);
      });
}

/// target[.., at, ..] += update, on whole slices of `target` across `axis`, which the update has
/// with size 1, or not at all.
static Value addSlice(LinalgBuilder &b, Value target, const Sizes &targetSizes, size_t axis,
                      Value at, Value update) {
  const size_t rank = targetSizes.size();
  Sizes offsets(rank, b.getIndexAttr(0)), sizes = targetSizes, strides(rank, b.getIndexAttr(1));
  offsets[axis] = at;
  sizes[axis] = b.getIndexAttr(1);
  RankedTensorType sliceType = b.sliceType(target, sizes, axis);
  const unsigned loopsOf = sliceType.getRank();
  Value slice = tensor::ExtractSliceOp::create(b, sliceType, target, offsets, sizes, strides);
  AffineMap identity = b.getMultiDimIdentityMap(loopsOf), updates = identity;
  if (cast<RankedTensorType>(update.getType()).getRank() != loopsOf)
    updates = identity.dropResult(static_cast<int64_t>(axis));
  SmallVector<utils::IteratorType> loops(loopsOf, utils::IteratorType::parallel);
  Value sum = linalg::GenericOp::create(b, sliceType, update, slice, {updates, identity}, loops,
                                        [&](OpBuilder &builder, Location loc, ValueRange args) {
                                          Value total =
                                              ScalarBuilder(builder, loc).add(args[1], args[0]);
                                          linalg::YieldOp::create(builder, loc, total);
                                        })
                  .getResult(0);
  return tensor::InsertSliceOp::create(b, sum, target, offsets, sizes, strides);
}

Value lowerScatterAdd(LinalgBuilder &b, ScatterAddOp op) {
  Value x = op.getX(), indices = op.getIndices(), updates = op.getUpdates();
  const size_t axis = op.getAxis();
  Sizes into = b.sizesOf(x), picked = b.sizesOf(indices), from = b.sizesOf(updates);
  checkIndices(b, indices, into[axis], "scatter_add");
  for (size_t i = 0; i < from.size(); ++i) {
    const bool isIndex = i >= axis && i < axis + picked.size();
    b.requireEqual(isIndex ? picked[i - axis] : into[i < axis ? i : i - picked.size() + 1], from[i],
                   "scatter_add: updates are not of x's shape with the axis replaced by the "
                   "shape of indices: {} meets {} in axis " +
                       Twine(i));
  }
  // There is nothing to add to, and slices would begin past the end.
  if (llvm::any_of(into, [](OpFoldResult size) { return isConstantIntValue(size, 0); })) return x;

  if (auto slice = RangeSlice::of(b, indices, into, axis)) {
    // No index comes twice.
    Value part = tensor::ExtractSliceOp::create(b, x, slice->offsets, slice->sizes, slice->strides);
    Value update = b.ofSizes(updates, slice->sizes);
    AffineMap identity = b.getMultiDimIdentityMap(into.size());
    Value sum =
        b.elementwise(slice->sizes, getElementTypeOrSelf(x.getType()), ValueRange{part, update},
                      {identity, identity}, [](OpBuilder &builder, Location loc, ValueRange args) {
                        return ScalarBuilder(builder, loc).add(args[0], args[1]);
                      });
    Value result = tensor::InsertSliceOp::create(b, b.ofSizes(sum, slice->sizes), x, slice->offsets,
                                                 slice->sizes, slice->strides);
    b.setSizes(result, into);
    return result;
  }

  if (picked.size() > 1) {
    // One-shot bufferization finds the result of one loop in place, not that of nested ones.
    OpFoldResult count = b.getIndexAttr(1);
    for (OpFoldResult size : picked) count = b.multiply(count, size);
    ReassociationIndices all;
    SmallVector<ReassociationIndices> groups;
    for (size_t i = 0; i < from.size(); ++i) {
      if (i <= axis || i >= axis + picked.size()) groups.emplace_back();
      groups.back().push_back(i);
    }
    for (size_t i = 0; i < picked.size(); ++i) all.push_back(i);
    indices = tensor::CollapseShapeOp::create(b, indices, SmallVector{all});
    updates = tensor::CollapseShapeOp::create(b, updates, groups);
    picked = {count};
    from.erase(from.begin() + axis, from.begin() + axis + all.size());
    from.insert(from.begin() + axis, count);
    b.setSizes(indices, picked);
    b.setSizes(updates, from);
  }

  // In order: equal indices add up as the updates stand.
  Value result = x;
  SmallVector<Value> at;
  SmallVector<scf::ForOp> loops;
  Sizes row = into;
  row.erase(row.begin() + axis);
  OpBuilder::InsertionGuard guard(b);
  for (OpFoldResult size : picked) {
    auto loop = scf::ForOp::create(b, b.index(0), b.iterations(size, row), b.index(1), result);
    loops.push_back(loop);
    at.push_back(loop.getInductionVar());
    result = loop.getRegionIterArg(0);
    b.setInsertionPointToStart(loop.getBody());
  }
  Sizes offsets, sizes, strides(from.size(), b.getIndexAttr(1));
  for (size_t i = 0; i < from.size(); ++i) {
    const bool isIndex = i >= axis && i < axis + picked.size();
    offsets.push_back(isIndex ? OpFoldResult(at[i - axis]) : OpFoldResult(b.getIndexAttr(0)));
    sizes.push_back(isIndex ? OpFoldResult(b.getIndexAttr(1))
                            : into[i < axis ? i : i - picked.size() + 1]);
  }
  // A scalar index has updates without the axis.
  Value update = updates;
  if (!picked.empty())
    update = tensor::ExtractSliceOp::create(b, b.sliceType(updates, sizes, axis), updates, offsets,
                                            sizes, strides);
  else update = b.ofSizes(updates, sizes);
  Value place =
      arith::IndexCastOp::create(b, b.getIndexType(), tensor::ExtractOp::create(b, indices, at));
  result = addSlice(b, result, into, axis, place, update);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    scf::YieldOp::create(b, result);
    result = loop.getResult(0);
    b.setInsertionPointAfter(loop);
  }
  b.setSizes(result, into);
  return result;
}

/// Stops the call unless all sizes but that of `axis` are equal; gives those known better.
static Sizes sizesAlong(LinalgBuilder &b, ArrayRef<OpFoldResult> x, Value other, int64_t axis,
                        const Twine &message) {
  Sizes sizes = b.sizesOf(other);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (static_cast<int64_t>(i) == axis) continue;
    b.requireEqual(x[i], sizes[i], message + ": {} meets {} in axis " + Twine(i));
    if (isa<Attribute>(x[i])) sizes[i] = x[i];
  }
  return sizes;
}

Value lowerTakeAlongAxis(LinalgBuilder &b, TakeAlongAxisOp op) {
  Value x = op.getX(), indices = op.getIndices();
  const int64_t axis = op.getAxis();
  Sizes from = b.sizesOf(x);
  Sizes sizes =
      sizesAlong(b, from, indices, axis,
                 "take_along_axis: the sizes of indices differ from x's outside the axis");
  checkIndices(b, indices, from[axis], "take_along_axis");
  return b.elementwise(
      sizes, getElementTypeOrSelf(x.getType()), indices, b.getMultiDimIdentityMap(sizes.size()),
      [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        SmallVector<Value> at;
        for (size_t i = 0; i < sizes.size(); ++i) {
          if (static_cast<int64_t>(i) == axis)
            at.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), args[0]));
          else at.push_back(linalg::IndexOp::create(builder, loc, i));
        }
        return tensor::ExtractOp::create(builder, loc, x, at);
      });
}

Value lowerAddAlongAxis(LinalgBuilder &b, AddAlongAxisOp op) {
  Value x = op.getX(), indices = op.getIndices(), updates = op.getUpdates();
  const int64_t axis = op.getAxis();
  Sizes into = b.sizesOf(x), given = b.sizesOf(updates);
  Sizes picked =
      sizesAlong(b, into, indices, axis,
                 "add_along_axis: the sizes of indices differ from x's outside the axis");
  for (auto [i, size, other] : llvm::enumerate(picked, given))
    b.requireEqual(size, other,
                   "add_along_axis: updates are not of the shape of indices: {} meets {} in axis " +
                       Twine(i));
  checkIndices(b, indices, into[axis], "add_along_axis");

  // One loop over all updates, in order. It counts the updates of a line across the axis and the
  // elements of x before the line instead of dividing.
  Value zero = b.index(0), one = b.index(1);
  Value inner = b.toValue(b.countOf(ArrayRef(into).drop_front(axis + 1)));
  Value block = arith::MulIOp::create(b, inner, b.toValue(picked[axis]));
  Value stride = arith::MulIOp::create(b, inner, b.toValue(into[axis]));
  Value target = b.flattened(x), places = b.flattened(indices), values = b.flattened(updates);
  auto loop = scf::ForOp::create(b, zero, b.toValue(b.countOf(picked)), one,
                                 ValueRange{target, zero, zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), tensor = loop.getRegionIterArg(0);
    Value column = loop.getRegionIterArg(1), inBlock = loop.getRegionIterArg(2),
          start = loop.getRegionIterArg(3);
    Value index = arith::IndexCastOp::create(b, b.getIndexType(),
                                             tensor::ExtractOp::create(b, places, number));
    Value at = arith::AddIOp::create(b, start, arith::MulIOp::create(b, index, inner));
    at = arith::AddIOp::create(b, at, column);
    Value sum = ScalarBuilder(b, b.getLoc())
                    .add(tensor::ExtractOp::create(b, tensor, at),
                         tensor::ExtractOp::create(b, values, number));
    tensor = tensor::InsertOp::create(b, sum, tensor, at);
    // The counter that follows, 0 at its end.
    const auto next = [&](Value counter, Value end) -> std::pair<Value, Value> {
      Value following = arith::AddIOp::create(b, counter, one);
      Value ends = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, following, end);
      return {arith::SelectOp::create(b, ends, zero, following), ends};
    };
    column = next(column, inner).first;
    auto [nextInBlock, blockEnds] = next(inBlock, block);
    Value nextStart = arith::AddIOp::create(b, start, stride);
    start = arith::SelectOp::create(b, blockEnds, nextStart, start);
    scf::YieldOp::create(b, ValueRange{tensor, column, nextInBlock, start});
  }
  b.setSizes(loop.getResult(0), b.countOf(into));
  return b.expanded(loop.getResult(0), into);
}

Value lowerUpdateSlice(LinalgBuilder &b, UpdateSliceOp op) {
  Value x = op.getX(), value = op.getValue();
  const size_t axis = op.getAxis();
  Sizes sizes = b.sizesOf(x), into = sizes, given = b.sizesOf(value);
  checkIndices(b, op.getIndex(), sizes[axis], "update_slice");
  for (size_t i = 0; i < given.size(); ++i)
    b.requireEqual(sizes[i < axis ? i : i + 1], given[i],
                   "update_slice: the value is not of x's shape without the axis: {} meets {} in "
                   "axis " +
                       Twine(i) + " of the value");
  // There is nothing to insert, and insert_slice would refuse its offset.
  if (llvm::is_contained(op.getX().getType().getShape(), 0)) return x;
  Sizes offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  offsets[axis] =
      arith::IndexCastOp::create(b, b.getIndexType(),
                                 tensor::ExtractOp::create(b, op.getIndex(), ValueRange{}))
          .getResult();
  sizes[axis] = b.getIndexAttr(1);
  Value slice = axis == 0 ? value : b.addUnitAxes(value, static_cast<int64_t>(axis));
  slice = b.ofSizes(slice, LinalgBuilder::sizesAcross(b, sizes, static_cast<int64_t>(axis)));
  Value result = tensor::InsertSliceOp::create(b, slice, x, offsets, sizes, strides);
  b.setSizes(result, into);
  return result;
}

} // namespace mlir::weft
