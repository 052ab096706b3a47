// The pass weft-expand-complex: complex numbers become real and imaginary parts.
#include "Complex/Elementwise.h"
#include "Weft/AD/IREmitter.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/SizeLists.h"
#include "Weft/IR/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_EXPANDCOMPLEXPASS
#include "Weft/Conversion/Passes.h.inc"

using ::weft::OpCode;
using ::weft::OpKind;
using ::weft::planar::Number;
using ::weft::planar::Planes;

namespace {

bool isComplex(Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); }
bool isAnyComplex(TypeRange types) { return llvm::any_of(types, isComplex); }

/// Complex values are a pair of real ones where ops compute them, and one interleaved tensor where
/// they cross a boundary: of a function or a region, of what shows them to the library, of a stack.
class Expander {
public:
  explicit Expander(func::FuncOp function)
      : function(function), builder(function.getContext()), emitter(builder) {}

  LogicalResult run() {
    if (function.isExternal()) return retypeFunction(), success();
    const WalkResult any = function.walk([](Operation *op) {
      return isAnyComplex(op->getResultTypes()) || isAnyComplex(op->getOperandTypes())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!any.wasInterrupted() && !isAnyComplex(function.getArgumentTypes())) return success();
    if (failed(visit(function.getBody()))) return failure();
    for (Operation *op : llvm::reverse(expanded)) op->erase();
    retypeFunction();
    return success();
  }

private:
  LogicalResult visit(Region &region) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments()) retype(argument);
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(visit(&op))) return failure();
    }
    return success();
  }

  LogicalResult visit(Operation *op) {
    const bool touches = isAnyComplex(op->getResultTypes()) ||
                         llvm::any_of(op->getOperands(), [&](Value v) { return isComplexNow(v); });
    if (touches) {
      const ::weft::OpInfo *info = opInfoOf(op);
      if (info && info->kind == OpKind::routine) return hand(op), success();
      if (info && info->kind != OpKind::effect) return expand(op, *info);
      keepWhole(op);
    }
    for (Region &region : op->getRegions())
      if (failed(visit(region))) return failure();
    return success();
  }

  //===------------------------------------------------------------------===//
  // Values at boundaries
  //===------------------------------------------------------------------===//

  void retype(Value value) {
    if (!isComplex(value.getType())) return;
    written[value] = cast<RankedTensorType>(value.getType());
    value.setType(interleavedType(value.getType()));
  }

  /// Notes which of the values that the op shows to the library are complex.
  void note(Operation *op) {
    const auto noteOf = [&](StringRef name, ValueRange values) {
      SmallVector<int64_t> numbers;
      for (auto [i, value] : llvm::enumerate(values))
        if (isComplexNow(value)) numbers.push_back(static_cast<int64_t>(i));
      if (!numbers.empty()) op->setAttr(name, builder.getDenseI64ArrayAttr(numbers));
    };
    if (auto print = dyn_cast<PrintOp>(op)) noteOf(kComplex, print.getValues());
    if (auto assertion = dyn_cast<AssertOp>(op)) noteOf(kComplex, assertion.getValues());
    if (auto call = dyn_cast<HostCallOp>(op)) {
      noteOf(kComplex, call.getValues());
      noteOf(kComplexResults, call.getGiven());
    }
  }

  /// An op that is none of arithmetic: its values are interleaved.
  void keepWhole(Operation *op) {
    note(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isComplex(operand.get().getType())) operand.set(whole(operand.get()));
    for (Value result : op->getResults()) retype(result);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
          elements && isComplex(elements.getType()))
        constant.setValueAttr(cast<TypedAttr>(Attribute(
            elementsOf(elements, cast<RankedTensorType>(constant.getType()), std::nullopt))));
  }

  /// An op that a routine of the library computes, on complex numbers as they lie in memory: they
  /// come and go by casts, through which its conversion looks.
  void hand(Operation *op) {
    builder.setInsertionPoint(op);
    const auto cast = [&](Value value, Type type) {
      return UnrealizedConversionCastOp::create(builder, op->getLoc(), type, value).getResult(0);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isComplexNow(operand.get()))
        operand.set(cast(whole(operand.get()), writtenType(operand.get())));
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      if (!isComplex(result.getType())) continue;
      Value parts = cast(result, interleavedType(result.getType()));
      written[parts] = mlir::cast<RankedTensorType>(result.getType());
      result.replaceAllUsesExcept(parts, parts.getDefiningOp());
    }
  }

  /// The elements of complex numbers: both parts one after the other, or one of them.
  static DenseElementsAttr elementsOf(DenseElementsAttr complex, RankedTensorType type,
                                      std::optional<unsigned> part) {
    const size_t item = type.getElementTypeBitWidth() / 8;
    const size_t count = complex.isSplat() ? 1 : static_cast<size_t>(complex.getNumElements());
    ArrayRef<char> raw = complex.getRawData();
    SmallVector<char> bytes;
    if (!part && !complex.isSplat()) return DenseElementsAttr::getFromRawBuffer(type, raw);
    if (!part)
      for (int64_t i = 0; i < complex.getNumElements(); ++i) llvm::append_range(bytes, raw);
    else
      for (size_t i = 0; i < count; ++i)
        llvm::append_range(bytes, raw.slice((2 * i + *part) * item, item));
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }

  SmallVector<OpFoldResult> sizesOf(Value value) {
    return tensor::getMixedSizes(builder, value.getLoc(), value);
  }

  /// The parts of a value.
  Planes<Value> partsOf(Value value) {
    if (auto found = parts.find(value); found != parts.end()) return found->second;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> sizes = sizesOf(value);
    sizes.back() = builder.getIndexAttr(1);
    SmallVector<OpFoldResult> steps(sizes.size(), builder.getIndexAttr(1));
    const auto part = [&](int64_t number) -> Value {
      // A slice of nothing would begin past the end.
      if (llvm::is_contained(type.getShape(), 0))
        return tensor::EmptyOp::create(builder, value.getLoc(), ArrayRef(sizes).drop_back(),
                                       type.getElementType());
      SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
      offsets.back() = builder.getIndexAttr(number);
      Value slice =
          tensor::ExtractSliceOp::create(builder, value.getLoc(), value, offsets, sizes, steps);
      return withoutUnits(slice, type.getRank() - 1);
    };
    Planes<Value> found{part(0), part(1)};
    parts[value] = found;
    return found;
  }

  /// What axes become, or are, where those in `units`, of size 1, are not. Slices keep their axes
  /// and lose them here: upstream takes an axis that a slice loses for the first one of size 1.
  static SmallVector<ReassociationIndices> unitGroups(int64_t rank, ArrayRef<int64_t> units) {
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices ahead;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (!llvm::is_contained(units, axis)) {
        ahead.push_back(axis);
        groups.push_back(std::exchange(ahead, {}));
      } else if (groups.empty()) {
        ahead.push_back(axis);
      } else {
        groups.back().push_back(axis);
      }
    }
    return groups;
  }
  Value withoutUnits(Value value, ArrayRef<int64_t> units) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (!llvm::is_contained(units, axis)) shape.push_back(type.getDimSize(axis));
    return tensor::CollapseShapeOp::create(builder, value.getLoc(),
                                           RankedTensorType::get(shape, type.getElementType()),
                                           value, unitGroups(type.getRank(), units));
  }

  /// The value as one tensor.
  Value whole(Value value) {
    if (!isComplex(value.getType())) return value;
    Value &known = joined[value];
    if (known) return known;
    const Planes<Value> &planes = parts.at(value);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(value.getDefiningOp()); // which is erased, and its parts stand before
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(interleavedType(value.getType()));
    auto partType = RankedTensorType::get(type.getShape().drop_back(), type.getElementType());
    Value re = typed(planes.re, partType), im = typed(planes.im, partType);
    SmallVector<OpFoldResult> sizes = sizesOf(re);
    sizes.push_back(builder.getIndexAttr(2));
    Value result = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    result = typed(result, type);
    if (llvm::is_contained(type.getShape(), 0)) return known = result;
    sizes.back() = builder.getIndexAttr(1);
    SmallVector<OpFoldResult> steps(sizes.size(), builder.getIndexAttr(1));
    SmallVector<int64_t> sliceShape(partType.getShape());
    sliceShape.push_back(1);
    const auto sliceType = RankedTensorType::get(sliceShape, type.getElementType());
    for (const auto &[number, part] : {std::pair(0, re), std::pair(1, im)}) {
      SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
      offsets.back() = builder.getIndexAttr(number);
      Value slice = tensor::ExpandShapeOp::create(
          builder, loc, sliceType, part, unitGroups(type.getRank(), type.getRank() - 1), sizes);
      result = tensor::InsertSliceOp::create(builder, loc, slice, result, offsets, sizes, steps);
    }
    return known = result;
  }

  Value typed(Value value, Type type) {
    if (value.getType() == type) return value;
    auto from = cast<RankedTensorType>(value.getType()), to = cast<RankedTensorType>(type);
    bool forgets = true; // the cast that upstream would move through loops
    for (auto [a, b] : llvm::zip_equal(from.getShape(), to.getShape()))
      forgets &= ShapedType::isDynamic(b) || a == b;
    if (forgets) return WidenOp::create(builder, value.getLoc(), to, value);
    return tensor::CastOp::create(builder, value.getLoc(), to, value);
  }

  void retypeFunction() {
    SmallVector<Type> arguments, results;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      // What was complex has an axis more, which has no name.
      if (auto names = function.getArgAttrOfType<ArrayAttr>(i, kDimNames);
          names && !function.isExternal() && written.contains(function.getArgument(i))) {
        SmallVector<Attribute> longer(names.getValue());
        longer.push_back(builder.getStringAttr(""));
        function.setArgAttr(i, kDimNames, builder.getArrayAttr(longer));
      }
      arguments.push_back(interleavedType(type));
    }
    for (Type type : function.getResultTypes()) results.push_back(interleavedType(type));
    function.setFunctionType(FunctionType::get(function.getContext(), arguments, results));
  }

  //===------------------------------------------------------------------===//
  // Arithmetic
  //===------------------------------------------------------------------===//

  bool isComplexNow(Value value) const {
    return isComplex(value.getType()) || written.contains(value);
  }

  /// The type that a value was written with.
  RankedTensorType writtenType(Value value) const {
    auto found = written.find(value);
    return found != written.end() ? found->second : cast<RankedTensorType>(value.getType());
  }

  LogicalResult expand(Operation *op, const ::weft::OpInfo &info) {
    builder.setInsertionPoint(op);
    emitter.setLocation(op->getLoc());
    // What a formula has of constants stands before its own ops.
    const IREmitter::Scope scope(emitter);
    try {
      Number<Value> number = numberOf(op, info);
      replace(op->getResult(0), number, op);
    } catch (const BuildFailed &) {
      return failure();
    } catch (const ::weft::Error &error) {
      return op->emitOpError(error.what());
    }
    expanded.push_back(op);
    return success();
  }

  void replace(Value result, Number<Value> &number, Operation *op) {
    if (!number.complex) {
      result.replaceAllUsesWith(typed(number.planes.re, result.getType()));
      return;
    }
    number.planes.re = full(number.planes.re, result, op);
    number.planes.im = full(number.planes.im, result, op);
    parts[result] = number.planes;
  }

  /// Stops the call unless the operands, which become the parts as they are, have sizes that meet,
  /// where only the call knows them: no op of the parts would compare them.
  void requireEqualSizes(Operation *op) {
    const Value re = op->getOperand(0), im = op->getOperand(1);
    const auto shape = cast<RankedTensorType>(re.getType()).getShape(),
               other = cast<RankedTensorType>(im.getType()).getShape();
    const size_t rank = std::max(shape.size(), other.size());
    for (size_t back = 1; back <= std::min(shape.size(), other.size()); ++back) {
      const size_t i = shape.size() - back, j = other.size() - back;
      if (shape[i] == 1 || other[j] == 1 || (shape[i] == other[j] && shape[i] >= 0)) continue;
      Location loc = op->getLoc();
      const Value sizes[] = {tensor::DimOp::create(builder, loc, re, i),
                             tensor::DimOp::create(builder, loc, im, j)};
      Value equal =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, sizes[0], sizes[1]);
      CheckSizesOp::create(builder, loc, equal, sizesDoNotBroadcast(op, rank - back), sizes);
    }
  }

  /// A part that is the same all over, in the shape of the result.
  Value full(Value part, Value result, Operation *op) {
    const auto type = cast<RankedTensorType>(result.getType());
    const auto has = cast<RankedTensorType>(part.getType());
    const bool fits = has.getRank() == type.getRank() &&
                      llvm::all_of(llvm::zip_equal(has.getShape(), type.getShape()), [](auto both) {
                        return std::get<0>(both) != 1 || std::get<1>(both) == 1;
                      });
    if (fits) return part;
    ::weft::Shape shape = tensorTypeOf(type).shape;
    if (shape.is_static()) return emitter.broadcast(part, shape);
    for (Value operand : op->getOperands()) {
      Value witness = isComplexNow(operand) ? partsOf(operand).re : operand;
      if (::weft::is_storage(tensorTypeOf(cast<RankedTensorType>(witness.getType())).dtype))
        witness = emitter.cast(witness, ::weft::DType::f32); // nothing compares it
      Value holds = emitter.equal(witness, witness);
      part = emitter.select(holds, part, part);
    }
    return part;
  }

  /// What the op gives.
  Number<Value> numberOf(Operation *op, const ::weft::OpInfo &info) {
    if (auto constant = dyn_cast<ConstantOp>(op)) return constantOf(constant);
    SmallVector<Number<Value>> operands;
    SmallVector<::weft::DType> dtypes;
    for (Value operand : op->getOperands()) {
      operands.push_back(isComplexNow(operand) ? Number<Value>(partsOf(operand))
                                               : Number<Value>(operand));
      dtypes.push_back(*dtypeOf(writtenType(operand).getElementType()));
    }
    const ::weft::Attrs attrs = attrsOf(op);
    if (info.op == OpCode::complex) requireEqualSizes(op);
    if (info.kind == OpKind::elementwise) return elementwise(info.op, operands, dtypes, attrs);
    switch (info.op) {
#include "ComplexExpansions.inc"
    default: break;
    }
    if (isComplex(op->getResult(0).getType()))
      return ::weft::planar::each_part(emitter, info.op, attrs, {operands.data(), operands.size()});
    SmallVector<Value> values; // the size of complex numbers is that of their real parts
    for (const Number<Value> &operand : operands) values.push_back(operand.planes.re);
    return emitter.emit(info.op, {values.data(), values.size()}, attrs);
  }

  Number<Value> elementwise(OpCode op, ArrayRef<Number<Value>> operands,
                            ArrayRef<::weft::DType> dtypes, const ::weft::Attrs &attrs) {
    return ::weft::planar::Formulas<IREmitter>(emitter, op, attrs,
                                               {operands.data(), operands.size()},
                                               {dtypes.data(), dtypes.size()})
        .result();
  }

  Number<Value> constantOf(ConstantOp constant) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(constant.getType());
    auto partType = type.clone(cast<ComplexType>(type.getElementType()).getElementType());
    const auto part = [&](unsigned number) -> Value {
      return ConstantOp::create(builder, constant.getLoc(), partType,
                                elementsOf(elements, partType, number));
    };
    return Planes<Value>{part(0), part(1)};
  }

  Number<Value> expandMatmul(Operation *, ArrayRef<Number<Value>> operands,
                             const ::weft::Attrs &attrs) {
    const auto &[a, b] = operands[0].planes;
    const auto &[c, d] = operands[1].planes;
    const auto times = [&](Value lhs, Value rhs) {
      const Value both[] = {lhs, rhs};
      return emitter.emit(OpCode::matmul, both, attrs);
    };
    return Planes<Value>{emitter.subtract(times(a, c), times(b, d)),
                         emitter.add(times(a, d), times(b, c))};
  }

  //===------------------------------------------------------------------===//
  // Chains of products, which are those of complex numbers and so no two of real ones
  //===------------------------------------------------------------------===//

  /// Steps along one axis, as Cumulative.cpp lowers those of real numbers: each result, and the
  /// last, whose axis is of size 1.
  struct Steps {
    Planes<Value> all, last;
  };
  struct Along {
    int64_t axis;
    bool reverse = false, exclusive = false, shifted = false, keepsAll = true;
  };

  Value filled(ArrayRef<OpFoldResult> sizes, Type element, double value) {
    Location loc = emitter.at();
    Value number = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, value));
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
    return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
  }

  /// `next(acc, elements)` for the elements at each step, whose last operand the first step takes
  /// as it is.
  template <class Next>
  Steps run(ArrayRef<Planes<Value>> operands, const Along &along, double init, const Next &next) {
    Location loc = emitter.at();
    auto type = cast<RankedTensorType>(operands.back().re.getType());
    Type element = type.getElementType();
    SmallVector<OpFoldResult> sizes = sizesOf(operands.back().re), across(sizes);
    across[along.axis] = builder.getIndexAttr(1);
    const auto index = [&](int64_t i) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, i);
    };
    Value count = getValueOrCreateConstantIndexOp(builder, loc, sizes[along.axis]);
    Value one = index(1), zero = index(0);
    SmallVector<Value> state{filled(across, element, init), filled(across, element, 0)};
    const Type accType = state.front().getType();
    if (along.keepsAll)
      for (int i = 0; i < 2; ++i)
        state.push_back(tensor::EmptyOp::create(builder, loc, sizes, element));
    if (llvm::is_contained(type.getShape(), 0)) { // slices would begin past the end
      Steps nothing{.all = {}, .last = {state[0], state[1]}};
      if (along.keepsAll) nothing.all = {state[2], state[3]};
      return nothing;
    }
    const auto at = [&](Value place) {
      SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)), part(sizes);
      offsets[along.axis] = place;
      part[along.axis] = builder.getIndexAttr(1);
      return std::pair(offsets, part);
    };
    const SmallVector<OpFoldResult> steps(sizes.size(), builder.getIndexAttr(1));
    auto loop = scf::ForOp::create(builder, loc, zero, count, one, state);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    {
      const IREmitter::Scope scope(emitter);
      Value number = loop.getInductionVar();
      const auto place = [&](Value step) -> Value {
        if (!along.reverse) return step;
        return arith::SubIOp::create(builder, loc, arith::SubIOp::create(builder, loc, count, one),
                                     step);
      };
      const auto slice = [&](Value of, Value step) -> Value {
        auto [offsets, part] = at(place(step));
        return tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(accType), of,
                                              offsets, part, steps);
      };
      Value before = arith::MaxSIOp::create(builder, loc,
                                            arith::SubIOp::create(builder, loc, number, one), zero);
      SmallVector<Planes<Value>> elements;
      for (auto [i, operand] : llvm::enumerate(operands)) {
        Value step = along.shifted && i + 1 != operands.size() ? before : number;
        elements.push_back({slice(operand.re, step), slice(operand.im, step)});
      }
      const Planes<Value> acc{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
      Value isFirst = tensor::FromElementsOp::create(
          builder, loc, RankedTensorType::get({}, builder.getI1Type()),
          Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, zero)));
      const Planes<Value> found = next(acc, elements);
      SmallVector<Value> yielded;
      for (auto [first, other] :
           {std::pair(elements.back().re, found.re), std::pair(elements.back().im, found.im)})
        yielded.push_back(typed(emitter.select(isFirst, first, other), accType));
      if (along.keepsAll)
        for (int i = 0; i < 2; ++i) {
          auto [offsets, part] = at(place(number));
          Value stored = along.exclusive ? loop.getRegionIterArg(i) : yielded[i];
          yielded.push_back(tensor::InsertSliceOp::create(
              builder, loc, stored, loop.getRegionIterArg(i + 2), offsets, part, steps));
        }
      scf::YieldOp::create(builder, loc, yielded);
    }
    Steps result;
    result.last = {loop.getResult(0), loop.getResult(1)};
    if (along.keepsAll) result.all = {loop.getResult(2), loop.getResult(3)};
    return result;
  }

  Planes<Value> arithmetic(OpCode op, const Planes<Value> &a, const Planes<Value> &b,
                           ::weft::DType dtype) {
    return elementwise(op, {a, b}, {dtype, dtype}, {}).planes;
  }

  Number<Value> expandChain(Operation *op, ArrayRef<Number<Value>> operands,
                            const ::weft::Attrs &attrs) {
    const ::weft::DType dtype = *dtypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
    SmallVector<Planes<Value>> planes;
    for (const Number<Value> &operand : operands) planes.push_back(operand.planes);
    const ::weft::CumulativeAttrs way(attrs);
    Along along{.axis = way.axis, .reverse = way.reverse, .exclusive = way.exclusive};
    const bool adds = operands.size() == 2;
    if (adds) along.shifted = ::weft::LinearRecurrenceAttrs(attrs).shifted;
    return run(planes, along, adds ? 0 : 1,
               [&](const Planes<Value> &acc, ArrayRef<Planes<Value>> elements) {
                 if (!adds) return arithmetic(OpCode::multiply, acc, elements[0], dtype);
                 return arithmetic(OpCode::add,
                                   arithmetic(OpCode::multiply, elements[0], acc, dtype),
                                   elements[1], dtype);
               })
        .all;
  }

  Number<Value> expandProd(Operation *op, ArrayRef<Number<Value>> operands,
                           const ::weft::Attrs &attrs) {
    Planes<Value> x = operands[0].planes;
    const ::weft::DType dtype = *dtypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
    const ::weft::ReductionAttrs over(attrs);
    for (const int64_t axis : over.axes)
      x = run(x, {.axis = axis, .keepsAll = false}, 1,
              [&](const Planes<Value> &acc, ArrayRef<Planes<Value>> elements) {
                return arithmetic(OpCode::multiply, acc, elements[0], dtype);
              })
              .last;
    if (over.keepdims || over.axes.empty()) return x;
    const SmallVector<int64_t> axes(over.axes.begin(), over.axes.end());
    return Planes<Value>{withoutUnits(x.re, axes), withoutUnits(x.im, axes)};
  }

  func::FuncOp function;
  OpBuilder builder;
  IREmitter emitter;
  DenseMap<Value, RankedTensorType> written; ///< interleaved values, by the types they had
  DenseMap<Value, Planes<Value>> parts;
  DenseMap<Value, Value> joined;
  SmallVector<Operation *> expanded;
};

struct ExpandComplex : impl::ExpandComplexPassBase<ExpandComplex> {
  void runOnOperation() override {
    if (failed(Expander(getOperation()).run())) signalPassFailure();
  }
};

} // namespace

} // namespace mlir::weft
