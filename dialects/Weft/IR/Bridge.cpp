// Converts calls between operations and the op table's form.
#include "Weft/IR/Bridge.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using ::weft::AttrKind;
using ::weft::DType;
using ::weft::DTypeKind;

namespace mlir::weft {

const ::weft::OpInfo *opInfoOf(Operation *op) {
  if (!isa_and_nonnull<WeftDialect>(op->getDialect())) return nullptr;
  StringRef name = op->getName().stripDialect();
  return ::weft::find_op({name.data(), name.size()});
}

bool hasOperand(Operation *op, ::weft::OperandRole role) {
  const ::weft::OpInfo *info = opInfoOf(op);
  return info && llvm::any_of(info->operands, [&](const ::weft::OperandInfo &operand) {
           return operand.role == role;
         });
}

std::optional<DType> dtypeOf(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType)) {
    if (integer.isSigned()) return std::nullopt;
    if (integer.isSignless() && integer.getWidth() == 1) return DType::boolean;
    return ::weft::find_dtype(integer.isUnsigned() ? DTypeKind::unsigned_integer
                                                   : DTypeKind::integer,
                              static_cast<int>(integer.getWidth()));
  }
  if (elementType.isF16()) return DType::f16;
  if (elementType.isBF16()) return DType::bf16;
  if (isa<Float8E4M3FNType>(elementType)) return DType::f8e4m3fn;
  if (isa<Float8E5M2Type>(elementType)) return DType::f8e5m2;
  if (elementType.isF32()) return DType::f32;
  if (elementType.isF64()) return DType::f64;
  if (auto complex = dyn_cast<ComplexType>(elementType);
      complex && isa<Float32Type, Float64Type>(complex.getElementType()))
    return ::weft::find_dtype(
        DTypeKind::complex, 2 * static_cast<int>(complex.getElementType().getIntOrFloatBitWidth()));
  return std::nullopt;
}

bool isUnsigned(Type type) { return getElementTypeOrSelf(type).isUnsignedInteger(); }

FloatType narrowFormat(Type type) {
  Type element = getElementTypeOrSelf(type);
  const bool isNarrow = isa<Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(element);
  return isNarrow ? cast<FloatType>(element) : FloatType();
}

Type storageType(Type type) {
  if (!isUnsigned(type) && !narrowFormat(type)) return type;
  Type element =
      IntegerType::get(type.getContext(), getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  if (auto shaped = dyn_cast<ShapedType>(type)) return shaped.clone(element);
  return element;
}

Type interleavedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto complex = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  if (!complex) return type;
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, complex.getElementType());
}

int64_t elementBytes(Type element) {
  if (auto pair = dyn_cast<ComplexType>(element)) return 2 * elementBytes(pair.getElementType());
  if (!element.isIntOrFloat()) return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

void noteElements(Operation *op, StringRef name, TypeRange types) {
  if (llvm::none_of(types, isStoredOtherwise)) return;
  const auto elements =
      llvm::map_to_vector(types, [](Type type) -> Type { return getElementTypeOrSelf(type); });
  op->setAttr(name, Builder(op->getContext()).getTypeArrayAttr(elements));
}

Type notedElement(Operation *op, StringRef name, size_t number, Type stored) {
  auto elements = op->getAttrOfType<ArrayAttr>(name);
  if (!elements || number >= elements.size()) return stored;
  auto element = dyn_cast<TypeAttr>(elements[number]);
  return element && storageType(element.getValue()) == stored ? element.getValue() : stored;
}

std::string dtypesInWords(StringRef beforeLast) {
  return ::weft::detail::list_of_dtypes(&::weft::DTypeInfo::mlir, beforeLast.str());
}

Type elementTypeOf(DType dtype, MLIRContext *context) {
  const ::weft::DTypeInfo &info = ::weft::dtype_info(dtype);
  const auto bits = static_cast<unsigned>(info.bits);
  switch (info.kind) {
  case DTypeKind::boolean: return IntegerType::get(context, 1);
  case DTypeKind::integer: return IntegerType::get(context, bits);
  case DTypeKind::unsigned_integer: return IntegerType::get(context, bits, IntegerType::Unsigned);
  case DTypeKind::floating:
    if (bits == 16 && dtype == DType::f16) return Float16Type::get(context);
    if (bits == 16) return BFloat16Type::get(context);
    return bits == 32 ? Type(Float32Type::get(context)) : Type(Float64Type::get(context));
  case DTypeKind::storage:
    if (dtype == DType::f8e4m3fn) return Float8E4M3FNType::get(context);
    return Float8E5M2Type::get(context);
  case DTypeKind::complex:
    return ComplexType::get(elementTypeOf(::weft::component_of(dtype), context));
  }
  llvm_unreachable("every kind has its MLIR types");
}

bool isWeftTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && dtypeOf(tensor.getElementType());
}

::weft::TensorType tensorTypeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ::weft::Shape shape;
  for (int64_t dim : tensor.getShape())
    shape.push_back(ShapedType::isDynamic(dim) ? ::weft::unknown : dim);
  return {*dtypeOf(tensor.getElementType()), shape};
}

RankedTensorType mlirTypeOf(const ::weft::TensorType &type, MLIRContext *context) {
  SmallVector<int64_t> shape;
  for (int64_t dim : type.shape)
    shape.push_back(dim == ::weft::unknown ? ShapedType::kDynamic : dim);
  return RankedTensorType::get(shape, elementTypeOf(type.dtype, context));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static ::weft::Fault attributeFault(const ::weft::AttrInfo &info, const Twine &what) {
  return {
      ::weft::ErrorKind::value,
      (Twine("attribute '") + StringRef(info.name.data(), info.name.size()) + "' must be " + what)
          .str()};
}

static ::weft::Result<::weft::Attr> attrFrom(const ::weft::AttrInfo &info, Attribute attribute) {
  switch (info.kind) {
  case AttrKind::flag:
    if (!attribute) return ::weft::Attr(false); // the default of every flag
    if (auto flag = dyn_cast<BoolAttr>(attribute)) return ::weft::Attr(flag.getValue());
    return attributeFault(info, "true or false");
  case AttrKind::axis:
  case AttrKind::number:
    if (auto axis = dyn_cast_or_null<IntegerAttr>(attribute)) return ::weft::Attr(axis.getInt());
    return attributeFault(info, "an integer");
  case AttrKind::count:
    if (!attribute) return ::weft::Attr(int64_t{-1}); // the default of every count: all
    if (auto count = dyn_cast<IntegerAttr>(attribute)) return ::weft::Attr(count.getInt());
    return attributeFault(info, "an integer");
  case AttrKind::axes:
  case AttrKind::permutation:
  case AttrKind::per_axis:
  case AttrKind::spatial:
  case AttrKind::shape:
    if (auto ints = dyn_cast_or_null<DenseI64ArrayAttr>(attribute)) {
      ArrayRef<int64_t> values = ints.asArrayRef();
      return ::weft::Attr(::weft::Ints(values.begin(), values.end()));
    }
    return attributeFault(info, "a list of integers, array<i64: ...>");
  case AttrKind::dtype:
    if (auto type = dyn_cast_or_null<TypeAttr>(attribute))
      if (std::optional<DType> dtype = dtypeOf(type.getValue())) return ::weft::Attr(*dtype);
    return attributeFault(info, "one of " + dtypesInWords(", "));
  case AttrKind::text:
    if (!attribute) return ::weft::Attr(std::string()); // one that has a default has this one
    if (auto text = dyn_cast_or_null<StringAttr>(attribute))
      return ::weft::Attr(text.getValue().str());
    return attributeFault(info, "a string");
  case AttrKind::constant:
    if (auto elements = dyn_cast_or_null<ElementsAttr>(attribute)) {
      if (!isWeftTensor(elements.getType()))
        return attributeFault(info, "elements of a tensor of " + dtypesInWords());
      // Its type is all that inference needs; constantOf reads the elements.
      auto data = std::make_shared<::weft::ConstantData>();
      data->type = tensorTypeOf(elements.getType());
      return ::weft::Attr(::weft::ConstantRef(std::move(data)));
    }
    return attributeFault(info, "dense elements");
  case AttrKind::variable: break;
  }
  return attributeFault(info, "no attribute: variables are operands");
}

::weft::Result<::weft::Attrs> attrsFrom(const ::weft::OpInfo &info, DictionaryAttr attributes) {
  ::weft::Attrs attrs;
  for (const ::weft::AttrInfo &attrInfo : info.attrs) {
    if (attrInfo.kind == AttrKind::variable) continue;
    Attribute attribute =
        attributes ? attributes.get(StringRef(attrInfo.name.data(), attrInfo.name.size()))
                   : Attribute();
    ::weft::Result<::weft::Attr> attr = attrFrom(attrInfo, attribute);
    if (!attr) return attr.fault();
    attrs.push_back(std::move(*attr));
  }
  return attrs;
}

::weft::Attrs attrsOf(Operation *op) {
  const ::weft::OpInfo *info = opInfoOf(op);
  ::weft::Attrs attrs;
  for (const ::weft::AttrInfo &attrInfo : info->attrs) {
    if (attrInfo.kind == AttrKind::variable) continue;
    std::optional<Attribute> attribute =
        op->getInherentAttr(StringRef(attrInfo.name.data(), attrInfo.name.size()));
    if (attrInfo.kind == AttrKind::constant) {
      attrs.emplace_back(constantOf(cast<DenseElementsAttr>(*attribute)));
      continue;
    }
    attrs.push_back(std::move(*attrFrom(attrInfo, attribute.value_or(Attribute()))));
  }
  return attrs;
}

SmallVector<NamedAttribute> namedAttributes(const ::weft::OpInfo &info, const ::weft::Attrs &attrs,
                                            MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> named;
  for (size_t i = 0; i < info.attrs.size(); ++i) {
    const ::weft::AttrInfo &attrInfo = info.attrs[i];
    Attribute value;
    switch (attrInfo.kind) {
    case AttrKind::flag: value = builder.getBoolAttr(std::get<bool>(attrs[i])); break;
    case AttrKind::axis:
    case AttrKind::number:
    case AttrKind::count: value = builder.getI64IntegerAttr(std::get<int64_t>(attrs[i])); break;
    case AttrKind::axes:
    case AttrKind::permutation:
    case AttrKind::per_axis:
    case AttrKind::spatial:
    case AttrKind::shape: {
      const ::weft::Ints &ints = std::get<::weft::Ints>(attrs[i]);
      value = builder.getDenseI64ArrayAttr(ArrayRef<int64_t>(ints.data(), ints.size()));
      break;
    }
    case AttrKind::dtype:
      value = TypeAttr::get(elementTypeOf(std::get<DType>(attrs[i]), context));
      break;
    case AttrKind::text: value = builder.getStringAttr(std::get<std::string>(attrs[i])); break;
    case AttrKind::constant:
      value = elementsAttrOf(*std::get<::weft::ConstantRef>(attrs[i]), context);
      break;
    case AttrKind::variable: continue;
    }
    named.push_back(
        builder.getNamedAttr(StringRef(attrInfo.name.data(), attrInfo.name.size()), value));
  }
  return named;
}

DenseElementsAttr elementsAttrOf(const ::weft::ConstantData &constant, MLIRContext *context) {
  RankedTensorType type = mlirTypeOf(constant.type, context);
  const size_t count = static_cast<size_t>(type.getNumElements());
  if (constant.type.dtype == DType::boolean)
    return DenseElementsAttr::get(type,
                                  ArrayRef<bool>(static_cast<const bool *>(constant.bytes), count));
  const size_t bytes = count * ::weft::item_size(constant.type.dtype);
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef<char>(static_cast<const char *>(constant.bytes), bytes));
}

::weft::ConstantRef constantOf(DenseElementsAttr elements) {
  auto data = std::make_shared<::weft::ConstantData>();
  data->type = tensorTypeOf(elements.getType());
  const size_t item = ::weft::item_size(data->type.dtype);
  auto bytes = std::make_shared<std::vector<char>>();
  const size_t count = static_cast<size_t>(elements.getNumElements());
  bytes->reserve(count * item);
  if (data->type.dtype == DType::boolean) {
    for (bool value : elements.getValues<bool>()) bytes->push_back(value);
  } else if (elements.isSplat()) {
    ArrayRef<char> raw = elements.getRawData();
    for (size_t i = 0; i < count; ++i) bytes->insert(bytes->end(), raw.begin(), raw.end());
  } else {
    ArrayRef<char> raw = elements.getRawData();
    bytes->assign(raw.begin(), raw.end());
  }
  data->bytes = bytes->data();
  data->owner = std::move(bytes);
  return data;
}

//===----------------------------------------------------------------------===//
// Building and typing
//===----------------------------------------------------------------------===//

Operation *buildCall(OpBuilder &builder, Location location, ::weft::OpCode op, ValueRange operands,
                     const ::weft::Attrs &attrs) {
  const ::weft::OpInfo &info = ::weft::op_info(op);
  MLIRContext *context = builder.getContext();
  OperationState state(location, ("weft." + StringRef(info.name.data(), info.name.size())).str());
  state.addOperands(operands);
  state.addAttributes(namedAttributes(info, attrs, context));
  SmallVector<Type> types;
  if (failed(inferResultTypes(state.name.getStringRef(), context, location, operands,
                              state.attributes.getDictionary(context), types)))
    return nullptr;
  state.addTypes(types);
  return builder.create(state);
}

Value buildOp(OpBuilder &builder, Location location, ::weft::OpCode op, ValueRange operands,
              const ::weft::Attrs &attrs) {
  Operation *built = buildCall(builder, location, op, operands, attrs);
  return built ? built->getResult(0) : Value();
}

Value buildEffect(OpBuilder &builder, Location location, ::weft::OpCode op, Value variable,
                  ValueRange operands, const ::weft::Attrs &attrs) {
  const ::weft::OpInfo &info = ::weft::op_info(op);
  MLIRContext *context = builder.getContext();
  OperationState state(location, ("weft." + StringRef(info.name.data(), info.name.size())).str());
  if (variable) state.addOperands(variable);
  state.addOperands(operands);
  state.addAttributes(namedAttributes(info, attrs, context));
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>()) {
    SmallVector<int32_t> sizes(info.operands.size() + (variable ? 1 : 0), 1);
    if (!info.operands.empty() && info.operands.back().variadic)
      sizes.back() = static_cast<int32_t>(operands.size() + 1 - info.operands.size());
    sizes.push_back(0); // no token comes before it yet
    state.addAttribute(OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr(),
                       builder.getDenseI32ArrayAttr(sizes));
  }
  if (info.results != 0) state.addTypes(cast<VarType>(variable.getType()).getValueType());
  Operation *built = builder.create(state);
  return built->getNumResults() != 0 ? built->getResult(0) : Value();
}

LogicalResult inferResultTypes(StringRef name, MLIRContext *context,
                               std::optional<Location> location, ValueRange operands,
                               DictionaryAttr attributes, SmallVectorImpl<Type> &inferred) {
  name.consume_front("weft.");
  const ::weft::OpInfo &info = *::weft::find_op({name.data(), name.size()});
  SmallVector<::weft::TensorType> types;
  for (Value operand : operands) {
    // The verifier of the operand's constraint has its own words for this.
    if (!isWeftTensor(operand.getType()))
      return emitOptionalError(location, "'weft.", name, "' op operand of type ", operand.getType(),
                               " is no ranked tensor of ", dtypesInWords());
    types.push_back(tensorTypeOf(operand.getType()));
  }
  ::weft::Result<::weft::Attrs> attrs = attrsFrom(info, attributes);
  if (!attrs) return emitOptionalError(location, "'weft.", name, "' op ", attrs.fault().message);
  std::vector<::weft::TensorType> more(info.results > 1 ? info.results - 1 : 0);
  ::weft::Result<::weft::TensorType> result = ::weft::infer(
      {info.op, std::span<const ::weft::TensorType>(types.data(), types.size()), *attrs, more});
  if (!result) return emitOptionalError(location, "'weft.", name, "' op ", result.fault().message);
  if (info.results != 0) inferred.push_back(mlirTypeOf(*result, context));
  for (const ::weft::TensorType &other : more) inferred.push_back(mlirTypeOf(other, context));
  return success();
}

bool areCompatible(TypeRange inferred, TypeRange actual) {
  if (inferred.size() != actual.size()) return false;
  for (auto [a, b] : llvm::zip(inferred, actual)) {
    auto ta = dyn_cast<RankedTensorType>(a), tb = dyn_cast<RankedTensorType>(b);
    if (!ta || !tb || ta.getElementType() != tb.getElementType() ||
        failed(verifyCompatibleShape(ta, tb)))
      return false;
  }
  return true;
}

} // namespace mlir::weft
