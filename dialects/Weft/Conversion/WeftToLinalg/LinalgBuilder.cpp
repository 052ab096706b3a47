// Sizes, empty tensors and loops over elements, for the conversions of single ops.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "OpDefs/SizeWords.h"
#include "Weft/IR/Bridge.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The tensor of the parts that complex numbers are a cast of; null of others.
static Value partsOf(Value tensor) {
  if (!isa<ComplexType>(getElementTypeOrSelf(tensor.getType()))) return {};
  auto cast = tensor.getDefiningOp<UnrealizedConversionCastOp>();
  return cast ? cast.getInputs().front() : Value();
}

Sizes LinalgBuilder::sizesOf(Value tensor) {
  auto found = sizes_.find(tensor);
  if (found != sizes_.end()) return found->second;
  if (Value parts = partsOf(tensor)) {
    Sizes sizes = sizesOf(parts);
    sizes.pop_back();
    return sizes;
  }
  InsertionGuard guard(*this);
  setInsertionPointAfterValue(tensor);
  Sizes sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) sizes.push_back(getIndexAttr(type.getDimSize(axis)));
    else sizes.push_back(tensor::DimOp::create(*this, tensor, index(axis)).getResult());
  }
  sizes_[tensor] = sizes;
  return sizes;
}

/// An i64 scalar as an index: what it was before, if it is the size of a tensor.
static Value indexOf(LinalgBuilder &b, Value scalar) {
  if (auto elements = scalar.getDefiningOp<tensor::FromElementsOp>())
    if (auto cast = elements.getElements().front().getDefiningOp<arith::IndexCastOp>();
        cast && cast.getIn().getType().isIndex())
      return cast.getIn();
  Value number = tensor::ExtractOp::create(b, scalar, ValueRange{});
  return arith::IndexCastOp::create(b, b.getIndexType(), number);
}

Sizes LinalgBuilder::sizesIn(ArrayRef<int64_t> list, OperandRange &values, StringRef op) {
  Sizes sizes;
  for (int64_t number : list) {
    if (!ShapedType::isDynamic(number)) {
      sizes.push_back(getIndexAttr(number));
      continue;
    }
    Value scalar = values.front();
    values = values.drop_front();
    Value &size = indices_[scalar];
    if (!size) {
      // Where all later uses see it.
      InsertionGuard guard(*this);
      setInsertionPointAfterValue(scalar);
      size = indexOf(*this, scalar);
    }
    if (!size.getDefiningOp<tensor::DimOp>())
      requireNotNegative(size, op + ": a size is {}, which is negative", OpFoldResult(size));
    sizes.push_back(size);
  }
  return sizes;
}

Value LinalgBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value LinalgBuilder::toValue(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size)) return value;
  return index(*getConstantIntValue(size));
}

OpFoldResult LinalgBuilder::add(OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (left && right)
    return getIndexAttr(
        static_cast<int64_t>(static_cast<uint64_t>(*left) + static_cast<uint64_t>(*right)));
  if (left == 0) return rhs;
  if (right == 0) return lhs;
  return arith::AddIOp::create(*this, toValue(lhs), toValue(rhs)).getResult();
}

OpFoldResult LinalgBuilder::checkedSum(OpFoldResult lhs, OpFoldResult rhs, const Twine &message) {
  OpFoldResult sum = add(lhs, rhs);
  if (sum != lhs && sum != rhs) requireNotNegative(sum, message, {});
  return sum;
}

OpFoldResult LinalgBuilder::multiply(OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  // The product may wrap around before it meets a size 0.
  if (left && right)
    return getIndexAttr(
        static_cast<int64_t>(static_cast<uint64_t>(*left) * static_cast<uint64_t>(*right)));
  if (left == 1) return rhs;
  if (right == 1) return lhs;
  return arith::MulIOp::create(*this, toValue(lhs), toValue(rhs)).getResult();
}

OpFoldResult LinalgBuilder::countOf(ArrayRef<OpFoldResult> sizes) {
  OpFoldResult count = getIndexAttr(1);
  for (OpFoldResult size : sizes) count = multiply(count, size);
  return count;
}

Value LinalgBuilder::iterations(OpFoldResult size, ArrayRef<OpFoldResult> others) {
  OpFoldResult count = countOf(others);
  if (std::optional<int64_t> number = getConstantIntValue(count))
    return *number == 0 ? index(0) : toValue(size);
  Value none = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, toValue(count), index(0));
  return arith::SelectOp::create(*this, none, index(0), toValue(size));
}

Value LinalgBuilder::larger(Value lhs, Value rhs) {
  return arith::MaxSIOp::create(*this, lhs, rhs);
}

void LinalgBuilder::require(Value holds, const Twine &message, ArrayRef<OpFoldResult> named,
                            LeaveKind error) {
  SmallVector<Value> sizes;
  for (OpFoldResult size : named) sizes.push_back(toValue(size));
  CheckSizesOp::create(*this, holds, message.str(), sizes, error);
}

std::string LinalgBuilder::written(Value tensor, SmallVectorImpl<OpFoldResult> &named) {
  ::weft::Shape shape;
  for (OpFoldResult size : sizesOf(tensor)) {
    const std::optional<int64_t> known = getConstantIntValue(size);
    shape.push_back(known.value_or(::weft::unknown));
    if (!known) named.push_back(size);
  }
  return ::weft::words::with_fields(shape);
}

void LinalgBuilder::requireEqual(OpFoldResult lhs, OpFoldResult rhs, const Twine &message,
                                 ArrayRef<OpFoldResult> named) {
  if (isEqualConstantIntOrValue(lhs, rhs)) return;
  Value equal = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, toValue(lhs), toValue(rhs));
  require(equal, message, named);
}

void LinalgBuilder::requireNotNegative(OpFoldResult size, const Twine &message,
                                       ArrayRef<OpFoldResult> named) {
  if (std::optional<int64_t> known = getConstantIntValue(size); known && *known >= 0) return;
  Value fits = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, toValue(size), index(0));
  require(fits, message, named);
}

void LinalgBuilder::requirePositive(OpFoldResult size, const Twine &message,
                                    ArrayRef<OpFoldResult> named) {
  if (std::optional<int64_t> known = getConstantIntValue(size); known && *known > 0) return;
  Value fits = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sgt, toValue(size), index(0));
  require(fits, message, named);
}

void LinalgBuilder::requireAtMost(OpFoldResult lhs, OpFoldResult rhs, const Twine &message,
                                  ArrayRef<OpFoldResult> named, LeaveKind error) {
  std::optional<int64_t> left = getConstantIntValue(lhs), right = getConstantIntValue(rhs);
  if (lhs == rhs || left == 0 || (left && right && *left <= *right)) return;
  Value fits = createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, toValue(lhs), toValue(rhs));
  require(fits, message, named, error);
}

/// Sizes as a type writes them.
static SmallVector<int64_t> shapeOf(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return shape;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value LinalgBuilder::empty(ArrayRef<OpFoldResult> sizes, Type elementType) {
  Value tensor = tensor::EmptyOp::create(*this, sizes, elementType);
  setSizes(tensor, sizes);
  return tensor;
}

Value LinalgBuilder::filled(ArrayRef<OpFoldResult> sizes, Value scalar) {
  Value tensor = empty(sizes, scalar.getType());
  Value result = linalg::FillOp::create(*this, scalar, tensor).getResult(0);
  setSizes(result, sizes);
  return result;
}

Value LinalgBuilder::elementwise(ArrayRef<OpFoldResult> sizes, Type elementType, ValueRange inputs,
                                 ArrayRef<AffineMap> maps, Body body) {
  const unsigned rank = sizes.size();
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value init = empty(sizes, elementType);
  auto generic =
      linalg::GenericOp::create(*this, init.getType(), inputs, init, allMaps, loops,
                                [&](OpBuilder &builder, Location loc, ValueRange args) {
                                  linalg::YieldOp::create(builder, loc, body(builder, loc, args));
                                });
  setSizes(generic.getResult(0), sizes);
  return generic.getResult(0);
}

Value LinalgBuilder::range(OpFoldResult size, Type elementType) {
  Value result = elementwise(
      size, elementType, {}, {}, [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
        Value at = linalg::IndexOp::create(builder, loc, 0);
        Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
        return ScalarBuilder(builder, loc).cast(wide, elementType);
      });
  setRangeStart(result, getIndexAttr(0));
  return result;
}

Value LinalgBuilder::moved(ArrayRef<OpFoldResult> sizes, Value input, AffineMap map) {
  return elementwise(sizes, getElementTypeOrSelf(input.getType()), input, map,
                     [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value LinalgBuilder::permuted(Value input, ArrayRef<int64_t> permutation) {
  Sizes from = sizesOf(input), sizes;
  SmallVector<AffineExpr> exprs(from.size());
  for (auto [axis, source] : llvm::enumerate(permutation)) {
    sizes.push_back(from[source]);
    exprs[source] = getAffineDimExpr(axis);
  }
  return moved(sizes, input, AffineMap::get(from.size(), 0, exprs, getContext()));
}

Value LinalgBuilder::called(StringRef routine, ValueRange inputs, ArrayRef<OpFoldResult> numbers,
                            ArrayRef<OpFoldResult> sizes, Type elementType, bool isUnsigned) {
  SmallVector<Value> given;
  for (OpFoldResult number : numbers) given.push_back(toValue(number));
  Value into = empty(sizes, elementType);
  Value result =
      CallIntoOp::create(*this, into.getType(), routine, into, inputs, given,
                         /*attrs=*/nullptr, isUnsigned, /*isComplex=*/false,
                         /*intoPairs=*/false, /*variables=*/nullptr, /*state=*/ValueRange())
          .getResult(0);
  setSizes(result, sizes);
  return result;
}

Value LinalgBuilder::routine(Operation *op, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> results = routines(op, {Sizes(sizes)});
  return results.empty() ? Value() : results.front();
}

SmallVector<Value> LinalgBuilder::routines(Operation *op, ArrayRef<Sizes> sizes) {
  const ::weft::OpInfo &info = *opInfoOf(op);
  if (!hasRoutines()) {
    op->emitOpError("is computed by a routine of the library, which code without it does not have");
    return {};
  }
  SmallVector<int64_t> integers;
  for (const ::weft::Attr &attr : attrsOf(op)) {
    const auto *flag = std::get_if<bool>(&attr);
    integers.push_back(flag ? *flag : std::get<int64_t>(attr));
  }
  bool isComplex = false;
  SmallVector<Value> inputs, into;
  for (Value operand : op->getOperands()) {
    Value parts = partsOf(operand);
    isComplex |= bool(parts);
    inputs.push_back(parts ? parts : operand);
  }
  for (auto [result, of] : llvm::zip_equal(op->getResults(), sizes)) {
    Type element = getElementTypeOrSelf(result.getType());
    Sizes all(of);
    if (auto complex = dyn_cast<ComplexType>(element)) {
      element = complex.getElementType();
      all.push_back(getIndexAttr(2));
    }
    into.push_back(empty(all, element));
  }
  auto call = CallIntoOp::create(
      *this, TypeRange(ValueRange(into)), StringRef(info.name.data(), info.name.size()), into,
      inputs, ValueRange(), getDenseI64ArrayAttr(integers), signsOf(op).operandsUnsigned, isComplex,
      /*intoPairs=*/false, /*variables=*/nullptr, /*state=*/ValueRange());
  SmallVector<Value> values;
  for (auto [result, made, of] : llvm::zip_equal(op->getResults(), call.getResults(), sizes)) {
    Sizes sizesOfIt(of);
    Value value = made;
    if (auto type = cast<RankedTensorType>(result.getType());
        isa<ComplexType>(type.getElementType())) {
      sizesOfIt.push_back(getIndexAttr(2));
      setSizes(made, sizesOfIt);
      Value parts = asWritten(made, cast<RankedTensorType>(interleavedType(type)),
                              op->getName().stripDialect());
      sizesOfIt = sizesOf(parts);
      sizesOfIt.pop_back();
      value = UnrealizedConversionCastOp::create(*this, type, parts).getResult(0);
    }
    setSizes(value, sizesOfIt);
    values.push_back(value);
  }
  return values;
}

Sizes LinalgBuilder::linesOf(ArrayRef<OpFoldResult> sizes, int64_t axis) {
  return {countOf(sizes.take_front(axis)), sizes[axis], countOf(sizes.drop_front(axis + 1))};
}

Value LinalgBuilder::typed(Value tensor, Type type) {
  if (tensor.getType() == type) return tensor;
  Sizes sizes = sizesOf(tensor);
  auto made = cast<RankedTensorType>(tensor.getType());
  // Types that contradict each other are no cast; by then a check has ended the call.
  if (failed(verifyCompatibleShape(made, cast<RankedTensorType>(type))))
    tensor = WidenOp::create(
        *this, made.clone(SmallVector<int64_t>(made.getRank(), ShapedType::kDynamic)), tensor);
  if (tensor.getType() != type) tensor = tensor::CastOp::create(*this, type, tensor);
  setSizes(tensor, sizes);
  return tensor;
}

Value LinalgBuilder::ofSizes(Value tensor, ArrayRef<OpFoldResult> sizes) {
  return typed(tensor,
               RankedTensorType::get(shapeOf(sizes), getElementTypeOrSelf(tensor.getType())));
}

Value LinalgBuilder::asWritten(Value value, RankedTensorType type, StringRef op) {
  auto made = dyn_cast<RankedTensorType>(value.getType());
  if (!made) return value; // a scalar of weft.item
  Sizes sizes = sizesOf(value);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (type.isDynamicDim(axis)) continue;
    OpFoldResult written = getIndexAttr(type.getDimSize(axis));
    requireEqual(size, written,
                 op + ": axis " + Twine(axis) + " of the result has size {}, but its type says {}");
    size = written;
  }
  value = typed(value, type);
  setSizes(value, sizes);
  return value;
}

/// Groups of the axes of a larger shape that are one axis of a smaller one, where the axes in
/// `units` (ascending) are only in the larger: each joins the axis before it, the leading ones the
/// first axis that is in both.
static SmallVector<ReassociationIndices> groupUnits(int64_t largerRank, ArrayRef<int64_t> units) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t axis = 0; axis < largerRank; ++axis) {
    if (llvm::is_contained(units, axis)) {
      (groups.empty() ? leading : groups.back()).push_back(axis);
      continue;
    }
    groups.push_back(std::exchange(leading, {}));
    groups.back().push_back(axis);
  }
  return groups;
}

Value LinalgBuilder::dropUnitAxes(Value tensor, ArrayRef<int64_t> axes) {
  if (axes.empty()) return tensor;
  Sizes sizes = sizesOf(tensor), kept;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis))) kept.push_back(size);
  Value result =
      tensor::CollapseShapeOp::create(*this, tensor, groupUnits(sizes.size(), axes)).getResult();
  setSizes(result, kept);
  return result;
}

Value LinalgBuilder::addUnitAxes(Value tensor, ArrayRef<int64_t> axes) {
  if (axes.empty()) return tensor;
  Sizes sizes = sizesOf(tensor), larger;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  const int64_t rank = type.getRank() + static_cast<int64_t>(axes.size());
  for (int64_t axis = 0, from = 0; axis < rank; ++axis) {
    const bool isNew = llvm::is_contained(axes, axis);
    larger.push_back(isNew ? OpFoldResult(getIndexAttr(1)) : sizes[from]);
    shape.push_back(isNew ? 1 : type.getDimSize(from));
    from += !isNew;
  }
  Value result = tensor::ExpandShapeOp::create(*this, type.clone(shape), tensor,
                                               groupUnits(rank, axes), larger);
  setSizes(result, larger);
  return result;
}

/// All axes as one group, for a collapse to a line and back.
static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  ReassociationIndices all;
  for (int64_t axis = 0; axis < rank; ++axis) all.push_back(axis);
  return {all};
}

Value LinalgBuilder::flattened(Value tensor) {
  Sizes sizes = sizesOf(tensor);
  if (sizes.size() == 1) return tensor;
  if (sizes.empty()) return addUnitAxes(tensor, 0);
  OpFoldResult count = countOf(sizes);
  Value line = tensor::CollapseShapeOp::create(*this, tensor, oneGroup(sizes.size()));
  setSizes(line, count);
  return line;
}

Value LinalgBuilder::expanded(Value line, ArrayRef<OpFoldResult> sizes) {
  auto from = cast<RankedTensorType>(line.getType());
  SmallVector<int64_t> shape = shapeOf(sizes);
  // On buffers expand_shape divides the size of a group by those known of it, which a 0 is not
  // good for: and there is nothing to move.
  if (llvm::is_contained(shape, 0)) return empty(sizes, from.getElementType());
  if (llvm::count(shape, ShapedType::kDynamic) > 1) {
    // It finds out one size of a group so, not more.
    SmallVector<Value> numbers;
    for (OpFoldResult size : sizes) numbers.push_back(toValue(size));
    Value all = tensor::FromElementsOp::create(*this, numbers);
    Value result = tensor::ReshapeOp::create(*this, from.clone(shape), line, all);
    setSizes(result, sizes);
    return result;
  }
  Value result = line;
  if (shape.empty()) {
    result = dropUnitAxes(typed(line, from.clone(ArrayRef<int64_t>{1})), 0);
  } else if (shape.size() > 1) {
    // expand_shape wants a type that is known on both sides or on neither.
    const bool known = !ShapedType::isDynamicShape(shape);
    line =
        typed(line, from.clone(known ? ShapedType::getNumElements(shape) : ShapedType::kDynamic));
    result = tensor::ExpandShapeOp::create(*this, from.clone(shape), line, oneGroup(shape.size()),
                                           sizes);
  }
  setSizes(result, sizes);
  return result;
}

SmallVector<Value> LinalgBuilder::stridesOf(ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> strides(sizes.size());
  OpFoldResult stride = getIndexAttr(1);
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = toValue(stride);
    stride = multiply(stride, sizes[axis]);
  }
  return strides;
}

Value LinalgBuilder::placeInLine(OpBuilder &builder, Location loc, ArrayRef<Value> strides) {
  Value place;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    Value part = linalg::IndexOp::create(builder, loc, axis);
    if (axis + 1 != strides.size()) part = arith::MulIOp::create(builder, loc, part, strides[axis]);
    place = place ? arith::AddIOp::create(builder, loc, place, part).getResult() : part;
  }
  return place;
}

/// Offsets and sizes of a slice at one place of an axis.
static std::pair<Sizes, Sizes> sliceAt(OpBuilder &b, ArrayRef<OpFoldResult> sizes, int64_t axis,
                                       OpFoldResult at) {
  Sizes offsets(sizes.size(), b.getIndexAttr(0)), extents(sizes.begin(), sizes.end());
  offsets[axis] = at;
  extents[axis] = b.getIndexAttr(1);
  return {offsets, extents};
}

Sizes LinalgBuilder::sizesAcross(Builder &builder, ArrayRef<OpFoldResult> sizes, int64_t axis) {
  Sizes across(sizes.begin(), sizes.end());
  if (axis == 0) across.erase(across.begin());
  else across[axis] = builder.getIndexAttr(1);
  return across;
}

RankedTensorType LinalgBuilder::sliceType(Value tensor, ArrayRef<OpFoldResult> sizes,
                                          int64_t axis) {
  return RankedTensorType::get(shapeOf(sizesAcross(*this, sizes, axis)),
                               getElementTypeOrSelf(tensor.getType()));
}

Value LinalgBuilder::sliceAcross(Value tensor, int64_t axis, OpFoldResult at) {
  Sizes sizes = sizesOf(tensor), strides(sizes.size(), getIndexAttr(1));
  auto [offsets, extents] = sliceAt(*this, sizes, axis, at);
  Value slice = tensor::ExtractSliceOp::create(*this, sliceType(tensor, sizes, axis), tensor,
                                               offsets, extents, strides);
  setSizes(slice, sizesAcross(*this, sizes, axis));
  return slice;
}

Value LinalgBuilder::insertAcross(Value slice, Value tensor, int64_t axis, OpFoldResult at) {
  Sizes sizes = sizesOf(tensor), strides(sizes.size(), getIndexAttr(1));
  auto [offsets, extents] = sliceAt(*this, sizes, axis, at);
  slice = ofSizes(slice, sizesAcross(*this, sizes, axis));
  Value result = tensor::InsertSliceOp::create(*this, slice, tensor, offsets, extents, strides);
  setSizes(result, sizes);
  return result;
}

} // namespace mlir::weft
