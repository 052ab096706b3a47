// Ops that move elements: reshape, transpose, broadcast, slice, reverse, concatenate and pad.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

#include <limits>

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The target sizes: those given, and the one left open as what remains of `count`.
static Sizes targetSizes(LinalgBuilder &b, ArrayRef<int64_t> shape, OpFoldResult count) {
  Sizes sizes;
  uint64_t product = 1; // unsigned: sizes beside a 0 may multiply to anything
  for (int64_t size : shape) {
    sizes.push_back(b.getIndexAttr(size));
    if (size != -1) product *= static_cast<uint64_t>(size);
  }
  auto known = static_cast<int64_t>(product);
  std::string message = "reshape: {} elements do not fill the shape (";
  llvm::raw_string_ostream text(message);
  llvm::interleaveComma(shape, text);
  text << (shape.size() == 1 ? ",)" : ")");
  const auto *open = llvm::find(shape, -1);
  if (open == shape.end()) {
    b.requireEqual(count, b.getIndexAttr(known), message, count);
    return sizes;
  }
  OpFoldResult &rest = sizes[open - shape.begin()];
  if (std::optional<int64_t> total = getConstantIntValue(count)) {
    rest = b.getIndexAttr(known == 0 ? 0 : *total / known);
    return sizes;
  }
  if (known == 0) known = 1; // x must be empty then; the check below says so
  rest = arith::DivUIOp::create(b, b.toValue(count), b.index(known)).getResult();
  b.requireEqual(b.multiply(rest, b.getIndexAttr(known)), count, message, count);
  return sizes;
}

Value lowerReshape(LinalgBuilder &b, ReshapeOp op) {
  Value x = op.getX();
  auto from = cast<RankedTensorType>(x.getType()), to = cast<RankedTensorType>(op.getType());
  if (from.hasStaticShape() && to.hasStaticShape()) {
    // One collapse or expansion where that is possible keeps the loops of the neighbours apart.
    if (auto groups = getReassociationIndicesForReshape(from, to)) {
      if (from.getRank() > to.getRank()) return tensor::CollapseShapeOp::create(b, to, x, *groups);
      if (from.getRank() < to.getRank()) return tensor::ExpandShapeOp::create(b, to, x, *groups);
    }
    if (from == to) return x;
  }
  Sizes sizes = targetSizes(b, op.getShape(), b.countOf(b.sizesOf(x)));
  return b.expanded(b.flattened(x), sizes);
}

//===----------------------------------------------------------------------===//
// Transpose, broadcast, reverse: an indexing map
//===----------------------------------------------------------------------===//

Value lowerTranspose(LinalgBuilder &b, TransposeOp op) {
  return b.permuted(op.getX(), op.getPermutation());
}

Value lowerBroadcast(LinalgBuilder &b, BroadcastOp op) {
  Sizes from = b.sizesOf(op.getX()), sizes;
  for (int64_t size : op.getShape()) sizes.push_back(b.getIndexAttr(size));
  const size_t missing = sizes.size() - from.size();
  SmallVector<AffineExpr> exprs;
  for (auto [axis, size] : llvm::enumerate(from)) {
    const bool stretched =
        op.getX().getType().getDimSize(axis) == 1 && !isConstantIntValue(sizes[missing + axis], 1);
    if (!stretched)
      b.requireEqual(size, sizes[missing + axis],
                     "broadcast: x does not broadcast to the shape: {} meets {} in axis " +
                         Twine(missing + axis) + "; an unknown size never stretches");
    exprs.push_back(stretched ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(missing + axis));
  }
  return b.moved(sizes, op.getX(), AffineMap::get(sizes.size(), 0, exprs, b.getContext()));
}

Value lowerReverse(LinalgBuilder &b, ReverseOp op) {
  Value x = op.getX();
  Sizes sizes = b.sizesOf(x);
  bool known = true;
  SmallVector<AffineExpr> exprs;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    AffineExpr loop = b.getAffineDimExpr(axis);
    if (llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis))) {
      if (std::optional<int64_t> last = getConstantIntValue(size)) loop = *last - 1 - loop;
      else known = false;
    }
    exprs.push_back(loop);
  }
  // Without elements or without known sizes there is no such map; then the body does the reading.
  if (known && !llvm::is_contained(cast<RankedTensorType>(x.getType()).getShape(), 0))
    return b.moved(sizes, x, AffineMap::get(sizes.size(), 0, exprs, b.getContext()));
  SmallVector<Value> last;
  for (OpFoldResult size : sizes)
    last.push_back(arith::SubIOp::create(b, b.toValue(size), b.index(1)));
  return b.elementwise(
      sizes, getElementTypeOrSelf(x.getType()), {}, {},
      [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
        SmallVector<Value> at;
        for (size_t axis = 0; axis < sizes.size(); ++axis) {
          Value loop = linalg::IndexOp::create(builder, loc, axis);
          const bool backwards = llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
          at.push_back(backwards ? arith::SubIOp::create(builder, loc, last[axis], loop) : loop);
        }
        return tensor::ExtractOp::create(builder, loc, x, at);
      });
}

//===----------------------------------------------------------------------===//
// Slice, concatenate, pad: slices of a larger tensor
//===----------------------------------------------------------------------===//

Value lowerSlice(LinalgBuilder &b, SliceOp op) {
  Sizes from = b.sizesOf(op.getX()), starts, strides, sizes;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int64_t start = op.getStarts()[axis], limit = op.getLimits()[axis],
                  stride = op.getStrides()[axis];
    starts.push_back(b.getIndexAttr(start));
    strides.push_back(b.getIndexAttr(stride));
    if (limit != -1 || isa<Attribute>(from[axis])) {
      const int64_t end = limit != -1 ? limit : *getConstantIntValue(from[axis]);
      b.requireAtMost(b.getIndexAttr(end), from[axis],
                      "slice: the limit " + Twine(end) + " of axis " + Twine(axis) +
                          " is out of range for x, whose size there is {}",
                      from[axis]);
      // Rounded up, without a sum that a large stride could make overflow.
      sizes.push_back(b.getIndexAttr(end <= start ? 0 : (end - start - 1) / stride + 1));
      continue;
    }
    b.requireAtMost(starts.back(), from[axis],
                    "slice: the start " + Twine(start) + " of axis " + Twine(axis) +
                        " is out of range for x, whose size there is {}",
                    from[axis]);
    AffineExpr size = b.getAffineDimExpr(0);
    sizes.push_back(affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), (size - start).ceilDiv(stride), {from[axis]}));
  }
  // Of nothing there is no slice: it would begin past the end.
  const bool empty = llvm::any_of(sizes, [](OpFoldResult s) { return isConstantIntValue(s, 0); });
  Value result =
      empty ? tensor::EmptyOp::create(b, sizes, op.getX().getType().getElementType()).getResult()
            : tensor::ExtractSliceOp::create(b, op.getX(), starts, sizes, strides).getResult();
  b.setSizes(result, sizes);
  return result;
}

/// So many tensors are joined by a chain of insertions, so that what computes one may do it in its
/// place. Bufferization takes time that grows as the cube of the chain's length.
constexpr size_t kChained = 16;

Value lowerConcatenate(LinalgBuilder &b, ConcatenateOp op) {
  const int64_t axis = op.getAxis();
  Sizes sizes = b.sizesOf(op.getXs().front());
  for (Value x : op.getXs().drop_front()) {
    for (auto [other, size] : llvm::enumerate(b.sizesOf(x))) {
      if (static_cast<int64_t>(other) == axis) {
        sizes[other] =
            b.checkedSum(sizes[other], size,
                         "concatenate: the size of axis " + Twine(axis) + " exceeds 2^63 - 1");
        continue;
      }
      b.requireEqual(sizes[other], size,
                     "concatenate: the shapes differ outside axis " + Twine(axis) +
                         ": {} meets {} in axis " + Twine(other));
      if (isa<Attribute>(size)) sizes[other] = size;
    }
  }
  // A part without elements would begin past the end.
  SmallVector<Value> parts;
  for (Value x : op.getXs())
    if (!llvm::is_contained(cast<RankedTensorType>(x.getType()).getShape(), 0)) parts.push_back(x);
  Value result;
  if (parts.size() > kChained) {
    result = tensor::ConcatOp::create(b, axis, parts);
  } else {
    result = b.empty(sizes, getElementTypeOrSelf(op.getType()));
    Sizes offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
    for (Value x : parts) {
      Sizes part = b.sizesOf(x);
      for (size_t other = 0; other < part.size(); ++other)
        if (static_cast<int64_t>(other) != axis) part[other] = sizes[other];
      result = tensor::InsertSliceOp::create(b, b.ofSizes(x, part), result, offsets, part, strides);
      offsets[axis] = b.add(offsets[axis], part[axis]);
    }
  }
  b.setSizes(result, sizes);
  return result;
}

Value lowerPad(LinalgBuilder &b, PadOp op) {
  Sizes from = b.sizesOf(op.getX()), offsets, strides, sizes;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int64_t low = op.getLow()[axis], high = op.getHigh()[axis],
                  interior = op.getInterior()[axis];
    const std::string tooLarge =
        "pad: the padded size of axis " + std::to_string(axis) + " exceeds 2^63 - 1";
    offsets.push_back(b.getIndexAttr(low));
    strides.push_back(b.getIndexAttr(interior + 1));
    OpFoldResult size = from[axis];
    if (interior != 0) {
      // One gap less than there are elements, and none without elements.
      OpFoldResult gaps;
      if (std::optional<int64_t> known = getConstantIntValue(size)) {
        gaps = b.getIndexAttr(std::max<int64_t>(*known - 1, 0));
      } else {
        Value atLeastOne = arith::MaxSIOp::create(b, b.toValue(size), b.index(1));
        gaps = arith::SubIOp::create(b, atLeastOne, b.index(1)).getResult();
      }
      b.requireAtMost(gaps, b.getIndexAttr(std::numeric_limits<int64_t>::max() / interior),
                      tooLarge, {});
      size = b.checkedSum(size, b.multiply(gaps, b.getIndexAttr(interior)), tooLarge);
    }
    sizes.push_back(b.checkedSum(size, b.getIndexAttr(low + high), tooLarge));
  }
  Value value = tensor::ExtractOp::create(b, op.getValue(), ValueRange{});
  Value background = b.filled(sizes, value);
  Value result = tensor::InsertSliceOp::create(b, b.ofSizes(op.getX(), from), background, offsets,
                                               from, strides);
  b.setSizes(result, sizes);
  return result;
}

Value lowerMatchShape(LinalgBuilder &b, MatchShapeOp op) {
  Sizes sizes = b.sizesOf(op.getX()), like = b.sizesOf(op.getLike());
  for (auto [axis, size, wanted] : llvm::enumerate(sizes, like))
    b.requireEqual(size, wanted,
                   "match_shape: x has size {} along axis " + Twine(axis) +
                       ", but must have that of like, {}",
                   {size, wanted});
  return op.getX();
}

Value lowerReplicate(LinalgBuilder &b, ReplicateOp op) {
  Value number = tensor::ExtractOp::create(b, op.getCount(), ValueRange{});
  Sizes from = b.sizesOf(op.getX()),
        sizes{arith::IndexCastOp::create(b, b.getIndexType(), number).getResult()};
  b.requireNotNegative(sizes[0], "replicate: the count is {}, which is negative", sizes[0]);
  llvm::append_range(sizes, from);
  AffineMap map = AffineMap::getMinorIdentityMap(sizes.size(), from.size(), b.getContext());
  return b.moved(sizes, op.getX(), map);
}

Value lowerResize(LinalgBuilder &b, ResizeOp op) {
  Value number = tensor::ExtractOp::create(b, op.getCount(), ValueRange{});
  Value count = arith::IndexCastOp::create(b, b.getIndexType(), number);
  b.requireNotNegative(count, "resize: the count is {}, which is negative", {count});
  Sizes sizes = b.sizesOf(op.getX()), part = sizes;
  sizes[0] = count;
  part[0] = arith::MinSIOp::create(b, count, b.toValue(part[0])).getResult();
  Type element = getElementTypeOrSelf(op.getType());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  Value background = b.filled(sizes, zero);
  // A part without elements would begin past the end.
  if (llvm::is_contained(op.getX().getType().getShape(), 0) ||
      llvm::is_contained(op.getType().getShape(), 0))
    return background;
  Sizes offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  Value taken = tensor::ExtractSliceOp::create(b, op.getX(), offsets, part, strides);
  Value result = tensor::InsertSliceOp::create(b, taken, background, offsets, part, strides);
  b.setSizes(result, sizes);
  return result;
}

Value lowerSize(LinalgBuilder &b, SizeOp op) {
  Value size = b.toValue(b.sizesOf(op.getX())[op.getAxis()]);
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), size);
  return tensor::FromElementsOp::create(b, op.getY().getType(), number);
}

} // namespace mlir::weft
