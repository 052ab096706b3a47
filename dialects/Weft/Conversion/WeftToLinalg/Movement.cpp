// Ops that move elements: reshape, transpose, broadcast, slice, reverse, concatenate and pad.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

#include <limits>

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// A size as the product of sizes of x that only run time knows, by their axes, and a number.
struct Factors {
  SmallVector<int64_t> unknown;
  int64_t known = 1;

  Factors &operator*=(const Factors &other) {
    unknown.append(other.unknown);
    known *= other.known;
    return *this;
  }
  bool operator==(const Factors &) const = default;
};

/// The sizes of x and of the result, as factors. Of the result's open ones all but the last stand
/// for unknown ones of x; the last has what the others leave, unless that is a matter of run time.
static std::optional<std::pair<SmallVector<Factors>, SmallVector<Factors>>>
factorsOf(RankedTensorType x, ArrayRef<int64_t> shape) {
  SmallVector<Factors> from, to;
  Factors all, open;
  int64_t known = 1;
  for (auto [axis, size] : llvm::enumerate(x.getShape())) {
    if (ShapedType::isDynamic(size)) from.push_back({{static_cast<int64_t>(axis)}, 1});
    else from.push_back({{}, size});
    all *= from.back();
  }
  const int64_t last = shape.rend() - std::find(shape.rbegin(), shape.rend(), -1) - 1;
  size_t copied = 0;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size != -1) known *= size;
    if (size != -1) to.push_back({{}, size});
    else if (static_cast<int64_t>(axis) != last) to.push_back({{all.unknown[copied++]}, 1});
    else to.push_back({});
  }
  if (known == 0 || all.known == 0 || all.known % known != 0) return std::nullopt;
  to[last] = {SmallVector<int64_t>(ArrayRef(all.unknown).drop_front(copied)), all.known / known};
  return std::pair(from, to);
}

/// The target sizes: those given, and the open ones, of which the last is what remains.
static Sizes targetSizes(LinalgBuilder &b, Value x, ArrayRef<int64_t> shape) {
  const Sizes from = b.sizesOf(x);
  const OpFoldResult count = b.countOf(from);
  Sizes sizes, unknown;
  auto type = cast<RankedTensorType>(x.getType());
  // Where both have a 0, the last open size is what follows without it.
  const bool besideZero = llvm::is_contained(shape, 0) && llvm::is_contained(type.getShape(), 0);
  uint64_t product = 1, ofX = 1; // unsigned: sizes beside a 0 may multiply to anything
  const auto take = [&](uint64_t &all, int64_t size) {
    if (size != 0 || !besideZero) all *= static_cast<uint64_t>(size);
  };
  for (int64_t size : shape) {
    sizes.push_back(b.getIndexAttr(size));
    if (size != -1) take(product, size);
  }
  for (auto [axis, size] : llvm::enumerate(from))
    if (type.isDynamicDim(axis)) unknown.push_back(size);
    else take(ofX, type.getDimSize(axis));
  auto known = static_cast<int64_t>(product);
  std::string message = "reshape: {} elements do not fill the shape (";
  llvm::raw_string_ostream text(message);
  llvm::interleaveComma(shape, text);
  text << (shape.size() == 1 ? ",)" : ")");
  SmallVector<size_t> open;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == -1) open.push_back(axis);
  if (open.empty()) {
    b.requireEqual(count, b.getIndexAttr(besideZero ? 0 : known), message, count);
    return sizes;
  }
  const size_t copied = open.size() - 1;
  for (size_t i = 0; i < copied; ++i) sizes[open[i]] = unknown[i];
  OpFoldResult &rest = sizes[open.back()];
  const OpFoldResult left = b.countOf(ArrayRef(unknown).drop_front(copied));
  if (product != 0 && ofX % product == 0) {
    rest = b.multiply(left, b.getIndexAttr(static_cast<int64_t>(ofX / product)));
    return sizes;
  }
  const OpFoldResult total =
      copied == 0 ? count : b.multiply(left, b.getIndexAttr(static_cast<int64_t>(ofX)));
  if (known == 0) known = 1; // x must be empty then; the check below says so
  if (std::optional<int64_t> number = getConstantIntValue(total))
    rest = b.getIndexAttr(*number / known);
  else rest = arith::DivUIOp::create(b, b.toValue(total), b.index(known)).getResult();
  b.requireEqual(b.multiply(rest, b.getIndexAttr(known)), total, message, count);
  return sizes;
}

/// The reshape of an x of several unknown sizes by axes that become one, and then several: null if
/// its elements have to be counted through.
static Value regrouped(LinalgBuilder &b, Value x, ArrayRef<int64_t> shape, const Sizes &sizes) {
  auto type = cast<RankedTensorType>(x.getType());
  auto factors = factorsOf(type, shape);
  if (!factors) return {};
  const auto &[from, to] = *factors;
  SmallVector<ReassociationIndices> joined, parted;
  Sizes middle, fromSizes = b.sizesOf(x);
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    Factors left, right;
    ReassociationIndices ofLeft, ofRight;
    const auto take = [](const SmallVector<Factors> &all, size_t &at, Factors &product,
                         ReassociationIndices &group) {
      product *= all[at];
      group.push_back(static_cast<int64_t>(at++));
    };
    // Sizes of 1 at the end belong to the last group.
    if (i == from.size() || j == to.size()) {
      if (joined.empty()) return {};
      while (i < from.size()) take(from, i, left, joined.back());
      while (j < to.size()) take(to, j, right, parted.back());
      if (!(left == right)) return {};
      break;
    }
    take(from, i, left, ofLeft);
    take(to, j, right, ofRight);
    while (!(left == right)) {
      const bool more = left.unknown.size() < right.unknown.size() ||
                        (left.unknown.size() == right.unknown.size() && left.known < right.known);
      if (more ? i == from.size() : j == to.size()) return {};
      if (more) take(from, i, left, ofLeft);
      else take(to, j, right, ofRight);
    }
    joined.push_back(ofLeft);
    parted.push_back(ofRight);
    Sizes group;
    for (int64_t axis : ofLeft) group.push_back(fromSizes[axis]);
    middle.push_back(b.countOf(group));
    int64_t unknownInGroup = 0;
    for (int64_t axis : ofRight) unknownInGroup += getConstantIntValue(sizes[axis]) ? 0 : 1;
    // On buffers expand_shape finds out one size of a group, not more.
    if (unknownInGroup > 1) return {};
  }
  Value result = x;
  if (joined.size() < from.size()) {
    result = tensor::CollapseShapeOp::create(b, result, joined);
    b.setSizes(result, middle);
  }
  if (parted.size() == to.size()) return result;
  result = b.ofSizes(result, middle);
  SmallVector<int64_t> known;
  for (OpFoldResult size : sizes)
    known.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  result = tensor::ExpandShapeOp::create(b, type.clone(known), result, parted, sizes);
  b.setSizes(result, sizes);
  return result;
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
  Sizes sizes = targetSizes(b, x, op.getShape());
  if (llvm::count(op.getShape(), -1) > 1)
    if (Value result = regrouped(b, x, op.getShape(), sizes)) return result;
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
    // To the end, behind which there is nothing.
    Value taken = b.toValue(from[axis]);
    if (start != 0) {
      Value first = arith::MinSIOp::create(b, b.index(start), taken);
      starts.back() = first;
      taken = arith::SubIOp::create(b, taken, first);
    }
    if (stride != 1) {
      // Rounded up: one more than steps fit behind the first element, if there is one.
      Value one = b.index(1);
      Value behind = arith::SubIOp::create(b, arith::MaxSIOp::create(b, taken, one), one);
      Value steps = arith::DivUIOp::create(b, behind, b.index(stride));
      taken = arith::MinSIOp::create(b, taken, arith::AddIOp::create(b, steps, one));
    }
    sizes.push_back(taken);
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
