// Ops that move elements: reshape, transpose, broadcast, slice, reverse, concatenate and pad.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "OpDefs/SizeWords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

#include <limits>

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// A size as the product of sizes that only run time knows and a number.
struct Factors {
  SmallVector<Value> unknown;
  int64_t known = 1;

  Factors() = default;
  Factors(OpFoldResult size) {
    if (std::optional<int64_t> number = getConstantIntValue(size)) known = *number;
    else unknown.push_back(cast<Value>(size));
  }
  Factors &operator*=(const Factors &other) {
    unknown.append(other.unknown);
    known = static_cast<int64_t>(static_cast<uint64_t>(known) * static_cast<uint64_t>(other.known));
    return *this;
  }
  bool operator==(const Factors &) const = default;
};

static Factors productOf(ArrayRef<OpFoldResult> sizes) {
  Factors product;
  for (OpFoldResult size : sizes) product *= size;
  return product;
}

/// What is left of a product without those factors, which are among its own; nothing if that cannot
/// be seen.
static std::optional<Factors> quotientOf(Factors product, const Factors &others) {
  for (Value factor : others.unknown) {
    auto found = llvm::find(product.unknown, factor);
    if (found == product.unknown.end()) return std::nullopt;
    product.unknown.erase(found);
  }
  if (others.known == 0 || product.known == 0 || product.known % others.known != 0)
    return std::nullopt;
  product.known /= others.known;
  return product;
}

/// The sizes of x and of the result, as factors, of which one of the result may be what the others
/// leave.
static std::optional<std::pair<SmallVector<Factors>, SmallVector<Factors>>>
factorsOf(ArrayRef<OpFoldResult> x, ArrayRef<OpFoldResult> shape, std::optional<size_t> rest) {
  SmallVector<Factors> from(x.begin(), x.end()), to(shape.begin(), shape.end());
  if (!rest) return std::pair(from, to);
  Factors others;
  for (auto [axis, size] : llvm::enumerate(to))
    if (axis != *rest) others *= size;
  std::optional<Factors> left = quotientOf(productOf(x), others);
  if (!left) return std::nullopt;
  to[*rest] = *left;
  return std::pair(from, to);
}

/// A product of sizes, computed in numbers of 128 bits.
struct WideProduct {
  Value number;
  Value overflows; ///< whether 64 bits do not hold it, or a part of it beside a 0
  Value isEmpty;   ///< whether a size is 0
};

static WideProduct wideProductOf(LinalgBuilder &b, ArrayRef<OpFoldResult> sizes) {
  Value product = b.index(1), none = b.index(0);
  Value overflows = arith::ConstantOp::create(b, b.getBoolAttr(false)), isEmpty = overflows;
  for (OpFoldResult each : sizes) {
    Value size = b.toValue(each);
    isEmpty = arith::OrIOp::create(b, isEmpty,
                                   arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, none));
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), size);
    auto both = arith::MulUIExtendedOp::create(
        b, arith::IndexCastOp::create(b, b.getI64Type(), product), wide);
    Value zero = arith::ConstantIntOp::create(b, 0, 64);
    Value high = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, both.getHigh(), zero);
    overflows = arith::OrIOp::create(b, overflows, high);
    product = arith::IndexCastOp::create(b, b.getIndexType(), both.getLow());
  }
  return {product, overflows, isEmpty};
}

static Value negated(LinalgBuilder &b, Value holds) {
  return arith::XOrIOp::create(b, holds, arith::ConstantOp::create(b, b.getBoolAttr(true)));
}

/// Has the call end if a broadcast has more elements than there are numbers: it is computed where
/// it is used, so that no allocation would tell.
static void requireCountable(LinalgBuilder &b, ArrayRef<OpFoldResult> sizes) {
  const auto isOf = [](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value && !value.getDefiningOp<tensor::DimOp>();
  };
  const auto isOne = [](OpFoldResult size) { return isConstantIntValue(size, 1); };
  if (llvm::none_of(sizes, isOf) || sizes.size() - llvm::count_if(sizes, isOne) < 2) return;
  WideProduct count = wideProductOf(b, sizes);
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, count.number, b.index(0));
  Value fits = negated(b, arith::OrIOp::create(b, count.overflows, negative));
  std::string shape;
  for (size_t i = 0; i < sizes.size(); ++i) shape += i == 0 ? "{}" : ", {}";
  b.requireTrue(arith::OrIOp::create(b, count.isEmpty, fits),
                "broadcast: a tensor of shape (" + shape + ") has more elements than 2^63 - 1",
                sizes);
}

/// What is said of a reshape of an x of that shape: a {} is for its number of elements, and one for
/// each target size that is a value.
static std::string doesNotFill(StringRef ofX, ArrayRef<int64_t> shape) {
  std::string sizes = "(";
  llvm::raw_string_ostream text(sizes);
  llvm::interleaveComma(shape, text, [&](int64_t size) {
    if (ShapedType::isDynamic(size)) text << "{}";
    else text << size;
  });
  text << (shape.size() == 1 ? ",)" : ")");
  return "reshape: " + ::weft::words::does_not_fill(std::string_view(ofX), "{}", sizes);
}

/// The target sizes where some are values: those given, of which one may be -1 and is what the
/// others leave. What cannot be seen to fit is checked, in numbers of 128 bits.
static Sizes targetValues(LinalgBuilder &b, Value x, ReshapeOp op) {
  const Sizes from = b.sizesOf(x);
  OperandRange values = op.getSizes();
  Sizes sizes = b.sizesIn(op.getShape(), values, "reshape"), others;
  std::optional<size_t> rest;
  for (auto [axis, size] : llvm::enumerate(op.getShape()))
    if (size == -1) rest = axis;
    else others.push_back(sizes[axis]);
  const Factors elements = productOf(from);
  if (std::optional<Factors> left = quotientOf(elements, productOf(others))) {
    OpFoldResult size = b.getIndexAttr(left->known);
    for (Value factor : left->unknown) size = b.multiply(size, factor);
    if (rest) {
      // Beside a size 0 nothing follows from the number of elements.
      sizes[*rest] = size;
      for (OpFoldResult other : others)
        if (!getConstantIntValue(other))
          b.requirePositive(other, "reshape: a size of -1 does not follow beside a size {}", other);
      return sizes;
    }
    if (left->unknown.empty() && left->known == 1) return sizes;
  }
  const OpFoldResult count = b.countOf(from);
  Value total = b.toValue(count), none = b.index(0);
  const auto [product, overflows, isEmpty] = wideProductOf(b, others);
  SmallVector<OpFoldResult> named;
  const std::string ofX = b.written(op.getX(), named);
  named.push_back(count);
  for (auto [size, given] : llvm::zip_equal(op.getShape(), sizes))
    if (ShapedType::isDynamic(size)) named.push_back(given);
  const std::string message = doesNotFill(ofX, op.getShape());
  Value fits;
  Value isExact = negated(b, overflows);
  if (rest) {
    Value divisor = b.larger(product, b.index(1));
    divisor = arith::SelectOp::create(b, overflows, b.index(1), divisor);
    Value left = arith::DivUIOp::create(b, total, divisor);
    Value whole = arith::MulIOp::create(b, left, product);
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, whole, total);
    fits = arith::AndIOp::create(b, arith::AndIOp::create(b, isExact, negated(b, isEmpty)), same);
    sizes[*rest] = left;
  } else {
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, product, total);
    Value noElements = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, total, none);
    fits = arith::SelectOp::create(b, isEmpty, noElements, arith::AndIOp::create(b, isExact, same));
  }
  b.requireTrue(fits, message, named);
  return sizes;
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
  SmallVector<OpFoldResult> named;
  const std::string written = b.written(x, named);
  named.push_back(count);
  const std::string message = doesNotFill(written, shape);
  SmallVector<size_t> open;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == -1) open.push_back(axis);
  if (open.empty()) {
    b.requireEqual(count, b.getIndexAttr(besideZero ? 0 : known), message, named);
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
  b.requireEqual(b.multiply(rest, b.getIndexAttr(known)), total, message, named);
  return sizes;
}

/// The reshape of an x of several unknown sizes by axes that become one, and then several: null if
/// its elements have to be counted through.
static Value regrouped(LinalgBuilder &b, Value x, const Sizes &sizes, std::optional<size_t> rest) {
  auto type = cast<RankedTensorType>(x.getType());
  const Sizes fromSizes = b.sizesOf(x);
  // On buffers expand_shape divides by the sizes that are known.
  const auto isZero = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
  if (llvm::any_of(fromSizes, isZero) || llvm::any_of(sizes, isZero)) return {};
  auto factors = factorsOf(fromSizes, sizes, rest);
  if (!factors) return {};
  const auto &[from, to] = *factors;
  SmallVector<ReassociationIndices> joined, parted;
  Sizes middle;
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
  const bool hasValues = !op.getSizes().empty();
  const Sizes sizes = hasValues ? targetValues(b, x, op) : targetSizes(b, x, op.getShape());
  std::optional<size_t> rest; // the last of those that follow
  for (auto [axis, size] : llvm::enumerate(op.getShape()))
    if (size == -1) rest = axis;
  if (hasValues || llvm::count(op.getShape(), -1) > 1)
    if (Value result = regrouped(b, x, sizes, rest)) return result;
  return b.expanded(b.flattened(x), sizes);
}

//===----------------------------------------------------------------------===//
// Transpose, broadcast, reverse: an indexing map
//===----------------------------------------------------------------------===//

Value lowerTranspose(LinalgBuilder &b, TransposeOp op) {
  return b.permuted(op.getX(), op.getPermutation());
}

Value lowerBroadcast(LinalgBuilder &b, BroadcastOp op) {
  OperandRange values = op.getSizes();
  const Sizes from = b.sizesOf(op.getX()), sizes = b.sizesIn(op.getShape(), values, "broadcast");
  requireCountable(b, sizes);
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

/// How many steps there are from one position to before another that is not below it.
static Value stepsBetween(LinalgBuilder &b, Value start, Value limit, int64_t stride) {
  Value taken = arith::SubIOp::create(b, limit, start);
  if (stride == 1) return taken;
  // Rounded up: one more than steps fit behind the first element, if there is one.
  Value one = b.index(1);
  Value behind = arith::SubIOp::create(b, b.larger(taken, one), one);
  Value steps = arith::DivUIOp::create(b, behind, b.index(stride));
  return arith::MinSIOp::create(b, taken, arith::AddIOp::create(b, steps, one));
}

/// Where a slice begins in an axis and how many elements it takes, if one of its bounds is a value.
static std::pair<OpFoldResult, OpFoldResult> takenBetween(LinalgBuilder &b, OpFoldResult start,
                                                          OpFoldResult limit, OpFoldResult size,
                                                          int64_t stride, size_t axis, Value x) {
  // To the end, behind which there is nothing.
  if (getConstantIntValue(limit) == -1) {
    Value begin = arith::MinSIOp::create(b, b.toValue(start), b.toValue(size));
    return {begin, stepsBetween(b, begin, b.toValue(size), stride)};
  }
  SmallVector<OpFoldResult> named = {start, limit};
  const std::string shape = b.written(x, named);
  const std::string outside =
      "slice: " + ::weft::words::slice_outside("{}", "{}", static_cast<int64_t>(axis), shape);
  b.requireAtMost(limit, size, outside, named, LeaveKind::bounds);
  b.requireAtMost(start, limit, outside, named, LeaveKind::bounds);
  if (getConstantIntValue(start) == 0 && stride == 1) return {start, limit};
  return {start, stepsBetween(b, b.toValue(start), b.toValue(limit), stride)};
}

Value lowerSlice(LinalgBuilder &b, SliceOp op) {
  OperandRange values = op.getSizes();
  const Sizes from = b.sizesOf(op.getX()), first = b.sizesIn(op.getStarts(), values, "slice"),
              last = b.sizesIn(op.getLimits(), values, "slice");
  Sizes starts, strides, sizes;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int64_t start = op.getStarts()[axis], limit = op.getLimits()[axis],
                  stride = op.getStrides()[axis];
    if (ShapedType::isDynamic(start) || ShapedType::isDynamic(limit)) {
      auto [begin, count] =
          takenBetween(b, first[axis], last[axis], from[axis], stride, axis, op.getX());
      starts.push_back(begin);
      strides.push_back(b.getIndexAttr(stride));
      sizes.push_back(count);
      continue;
    }
    starts.push_back(b.getIndexAttr(start));
    strides.push_back(b.getIndexAttr(stride));
    if (limit != -1 || isa<Attribute>(from[axis])) {
      const int64_t end = limit != -1 ? limit : *getConstantIntValue(from[axis]);
      SmallVector<OpFoldResult> named;
      const std::string shape = b.written(op.getX(), named);
      b.requireAtMost(
          b.getIndexAttr(end), from[axis],
          "slice: " + ::weft::words::slice_outside(start, end, static_cast<int64_t>(axis), shape),
          named, LeaveKind::bounds);
      // Rounded up, without a sum that a large stride could make overflow.
      sizes.push_back(b.getIndexAttr(end <= start ? 0 : (end - start - 1) / stride + 1));
      continue;
    }
    // To the end, behind which there is nothing.
    Value end = b.toValue(from[axis]);
    if (start != 0) starts.back() = arith::MinSIOp::create(b, b.index(start), end).getResult();
    else if (stride == 1) {
      sizes.push_back(end);
      continue;
    }
    sizes.push_back(stepsBetween(b, b.toValue(starts.back()), end, stride));
  }
  // Of nothing there is no slice: it would begin past the end. A slice of something empty is that,
  // also where its own sizes are computed.
  const auto none = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
  const bool empty = llvm::any_of(sizes, none) || llvm::any_of(from, none) ||
                     llvm::is_contained(op.getX().getType().getShape(), 0);
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
  for (auto [i, x] : llvm::enumerate(op.getXs().drop_front())) {
    SmallVector<OpFoldResult> named;
    const std::string first = b.written(op.getXs().front(), named), of = b.written(x, named);
    const std::string differ =
        "concatenate: " + ::weft::words::shapes_differ(axis, first, i + 1, of);
    for (auto [other, size] : llvm::enumerate(b.sizesOf(x))) {
      if (static_cast<int64_t>(other) == axis) {
        sizes[other] =
            b.checkedSum(sizes[other], size,
                         "concatenate: the size of axis " + Twine(axis) + " exceeds 2^63 - 1");
        continue;
      }
      b.requireEqual(sizes[other], size, differ, named);
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
  OperandRange values = op.getSizes();
  const Sizes from = b.sizesOf(op.getX()), offsets = b.sizesIn(op.getLow(), values, "pad"),
              behind = b.sizesIn(op.getHigh(), values, "pad");
  Sizes strides, sizes;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int64_t interior = op.getInterior()[axis];
    const std::string tooLarge =
        "pad: the padded size of axis " + std::to_string(axis) + " exceeds 2^63 - 1";
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
    sizes.push_back(
        b.checkedSum(size, b.checkedSum(offsets[axis], behind[axis], tooLarge), tooLarge));
  }
  Value value = tensor::ExtractOp::create(b, op.getValue(), ValueRange{});
  Value result = b.filled(sizes, value);
  // Of nothing there is nothing to insert, and insert_slice would refuse its offset.
  if (!llvm::is_contained(op.getX().getType().getShape(), 0))
    result = tensor::InsertSliceOp::create(b, b.ofSizes(op.getX(), from), result, offsets, from,
                                           strides);
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

Value lowerSize(LinalgBuilder &b, SizeOp op) {
  Value size = b.toValue(b.sizesOf(op.getX())[op.getAxis()]);
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), size);
  return tensor::FromElementsOp::create(b, op.getY().getType(), number);
}

} // namespace mlir::weft
