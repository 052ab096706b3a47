// Verifies the attributes by which phases tell later ones what they found or decided, on ops of
// other dialects: their names begin with "weft.".
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::weft {

namespace {

/// What is wrong with an attribute, or nothing.
using Complaint = std::optional<std::string>;

std::string text(Attribute attribute) {
  std::string result;
  llvm::raw_string_ostream(result) << attribute;
  return result;
}

/// A number of 64 bits that is not negative, or -1.
int64_t countOf(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  if (!number || !number.getType().isSignlessInteger(64)) return -1;
  return number.getInt();
}

Complaint wantsUnit(Attribute value) {
  if (isa<UnitAttr>(value)) return std::nullopt;
  return "has no value, but is " + text(value);
}

Complaint wantsCount(Attribute value) {
  if (countOf(value) >= 0) return std::nullopt;
  return "must be an i64 that is not negative, but is " + text(value);
}

/// The type of a function that other verifiers have not seen yet, or null.
FunctionType typeOf(func::FuncOp function) {
  auto type =
      function ? function->getAttrOfType<TypeAttr>(function.getFunctionTypeAttrName()) : TypeAttr();
  return type ? dyn_cast<FunctionType>(type.getValue()) : FunctionType();
}

Complaint verifySplit(Operation *op, Attribute value) {
  FunctionType type = typeOf(dyn_cast<func::FuncOp>(op));
  auto words = dyn_cast<DictionaryAttr>(value);
  auto part = words ? words.get("part") : Attribute();
  const int64_t inputs = words ? countOf(words.get("inputs")) : -1;
  const int64_t results = words ? countOf(words.get("results")) : -1;
  auto half = dyn_cast_or_null<StringAttr>(part);
  if (type && !op->getRegion(0).empty() && inputs >= 0 && inputs <= type.getNumInputs() &&
      results >= 0 && results <= type.getNumResults() &&
      (!part || (half && (half == "forward" || half == "backward"))))
    return std::nullopt;
  return "is not {inputs = I, results = R} with at most its numbers of arguments and results, and "
         "perhaps part = \"forward\" or part = \"backward\"";
}

Complaint verifySaved(Operation *op, Attribute value) {
  auto places = dyn_cast<DenseI64ArrayAttr>(value);
  if (isa<func::FuncOp>(op) && places && places.size() % 2 == 0) return std::nullopt;
  if (isa<ModuleOp>(op) && isa<ArrayAttr>(value)) return std::nullopt; // a report's notes
  return "is a list of pairs, array<i64: ...>, on a func.func, or of notes on the module";
}

/// On an allocation: it has a known size, and room for its end.
Complaint verifyArenaOffset(Operation *op, Attribute value) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  const int64_t offset = countOf(value);
  if (!alloc || offset < 0 || offset % 64 != 0)
    return "is the place of a memref.alloc, a multiple of 64, but is " + text(value);
  if (op->getNumResults() == 1)
    if (auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
        !type || !type.hasStaticShape())
      return "gives a place to a buffer of unknown size";
  return std::nullopt;
}

Complaint verifyOutput(Operation *op, Attribute value) {
  auto type =
      op->getNumResults() == 1 ? dyn_cast<MemRefType>(op->getResult(0).getType()) : MemRefType();
  if (isa<memref::AllocOp>(op) && type && dtypeOf(type.getElementType()) && countOf(value) >= 0)
    return std::nullopt;
  return "is the number of a result that a memref.alloc of " + dtypesInWords() + " is, but is " +
         text(value);
}

/// On a call whose range threads share: begin, end and grain come first.
Complaint verifyParallel(Operation *op, Attribute value) {
  if (Complaint complaint = wantsUnit(value)) return complaint;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call || op->getNumResults() != 0 || op->getNumOperands() < 3 ||
      !llvm::all_of(TypeRange(op->getOperands().take_front(3)),
                    [](Type type) { return type.isIndex(); }))
    return "belongs to a func.call without results whose first three operands are of type index";
  return std::nullopt;
}

/// On the declaration of a function of the library.
Complaint verifyRuntime(Operation *op, Attribute value) {
  if (Complaint complaint = wantsUnit(value)) return complaint;
  // What weft-to-llvm makes of it, where weft-entry did not come before.
  if (auto function = dyn_cast<FunctionOpInterface>(op);
      function && op->getName().getDialectNamespace() == "llvm" && function.isExternal())
    return std::nullopt;
  FunctionType type = typeOf(dyn_cast<func::FuncOp>(op));
  if (!type || !op->getRegion(0).empty() || type.getNumResults() > 1)
    return "belongs to a func.func without a body, with at most one result";
  return std::nullopt;
}

Complaint verifyBf16Product(Operation *op, Attribute value) {
  if (Complaint complaint = wantsUnit(value)) return complaint;
  if (op->getName().getStringRef() == "linalg.contract" &&
      llvm::all_of(op->getOperandTypes(),
                   [](Type type) { return getElementTypeOrSelf(type).isInteger(16); }))
    return std::nullopt;
  return "belongs to a linalg.contract of i16";
}

Complaint verifyNarrowProduct(Operation *op, Attribute value) {
  if (Complaint complaint = wantsUnit(value)) return complaint;
  const auto is = [&](int64_t operand, auto matches) {
    return matches(getElementTypeOrSelf(op->getOperand(operand).getType()));
  };
  const auto isI16 = [](Type type) { return type.isInteger(16); };
  if (op->getName().getStringRef() == "linalg.generic" && op->getNumOperands() == 3 &&
      is(0, isI16) && is(1, isI16) && is(2, [](Type type) { return type.isF32(); }))
    return std::nullopt;
  return "belongs to a linalg.generic of two operands of i16 and one of f32";
}

Complaint verifyKernel(Operation *op, Attribute value) {
  auto kernel = dyn_cast<DictionaryAttr>(value);
  if (!kernel || !kernel.getAs<StringAttr>("op"))
    return "is a dictionary with the name of an op, 'op', but is " + text(value);
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !function.isPrivate()) return "belongs to a private func.func";
  return std::nullopt;
}

Complaint verify(Operation *op, StringRef name, Attribute value) {
  if (name == kKernel) return verifyKernel(op, value);
  if (name == kBf16Product) return verifyBf16Product(op, value);
  if (name == kNarrowProduct) return verifyNarrowProduct(op, value);
  if (name == "weft.split") return verifySplit(op, value);
  if (name == "weft.saved") return verifySaved(op, value);
  if (name == "weft.arena_offset") return verifyArenaOffset(op, value);
  if (name == "weft.output") return verifyOutput(op, value);
  if (name == "weft.parallel") return verifyParallel(op, value);
  if (name == "weft.runtime") return verifyRuntime(op, value);
  if (name == "weft.arena_bytes") {
    if (!isa<func::FuncOp>(op)) return "belongs to a func.func";
    return wantsCount(value);
  }
  if (name == kTf32) {
    if (!isa<ModuleOp>(op)) return "belongs to a module";
    return wantsUnit(value);
  }
  if (name == "weft.context") {
    if (!op->hasAttr("weft.runtime")) return "goes with 'weft.runtime'";
    return wantsUnit(value);
  }
  if (name == "weft.reason") {
    if (isa<StringAttr>(value)) return std::nullopt;
    return "is a text, but is " + text(value);
  }
  if (name == kElements || name == kResultElements) {
    auto elements = dyn_cast<ArrayAttr>(value);
    if (elements && llvm::all_of(elements, llvm::IsaPred<TypeAttr>)) return std::nullopt;
    return "is a list of types, but is " + text(value);
  }
  if (name == kComplex || name == kComplexResults) {
    if (isa<DenseI64ArrayAttr>(value)) return std::nullopt;
    return "is a list of the numbers of values, but is " + text(value);
  }
  if (name == "weft.again" || name == "weft.pulled") return wantsUnit(value);
  if (name == "weft.variable" || name == "weft.updated" || name == "weft.dims")
    return "belongs to an argument or a result of a function";
  return std::nullopt;
}

/// The module's variable of that name must be of that type, if there is one.
Complaint verifyVariable(Operation *op, Attribute value, Type type) {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(value);
  if (!symbol) return "names a variable, as @w, but is " + text(value);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || !shaped.hasStaticShape() || !dtypeOf(shaped.getElementType()))
    return "belongs to a tensor or a buffer of known sizes, but not to " +
           text(TypeAttr::get(type));
  auto module = op->getParentOfType<ModuleOp>();
  Operation *found = module ? SymbolTable::lookupSymbolIn(module, symbol) : nullptr;
  if (!found) return std::nullopt; // its code is compiled, but not called
  auto variable = dyn_cast<VariableOp>(found);
  auto declared = variable ? dyn_cast<RankedTensorType>(variable.getType()) : RankedTensorType();
  // What types below the weft dialect do not say: formats and signs, and complex numbers.
  if (declared && isa<ComplexType>(declared.getElementType()) &&
      !isa<ComplexType>(shaped.getElementType()) && shaped.getRank() == declared.getRank() + 1 &&
      shaped.getShape().back() == 2 && shaped.getShape().drop_back() == declared.getShape() &&
      cast<ComplexType>(declared.getElementType()).getElementType() == shaped.getElementType())
    return std::nullopt;
  if (declared && storageType(declared.getElementType()) == storageType(shaped.getElementType()) &&
      declared.getShape() == shaped.getShape())
    return std::nullopt;
  if (!declared) return "names " + text(symbol) + ", which is no weft.variable";
  return "says that " + text(TypeAttr::get(type)) + " is the variable " + text(symbol) +
         " of type " + text(TypeAttr::get(declared));
}

LogicalResult report(Operation *op, NamedAttribute attribute, const Complaint &complaint,
                     const Twine &where = "") {
  if (!complaint) return success();
  return op->emitOpError() << "has a '" << attribute.getName().getValue() << "'" << where.str()
                           << " that " << *complaint;
}

} // namespace

/// Where bufferization finds the layout of an argument.
static constexpr StringLiteral kBufferLayout = "bufferization.buffer_layout";

/// Whether `value` is so many numbers of an entry's sizes.
static bool namesSizes(Attribute value, int64_t count) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && numbers.size() == count &&
         llvm::none_of(numbers.asArrayRef(), [](int64_t number) { return number < 0; });
}

LogicalResult WeftDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return report(op, attribute, verify(op, attribute.getName(), attribute.getValue()));
}

/// What is wrong with an argument as the place of a result, which later phases do not return.
static Complaint verifyPlace(func::FuncOp function, int64_t result, ShapedType place) {
  if (result >= int64_t(function.getNumResults())) return {};
  auto type = dyn_cast<ShapedType>(function.getResultTypes()[result]);
  if (type && type.getElementType() == place.getElementType() &&
      succeeded(verifyCompatibleShape(type, place)))
    return {};
  return "is the number of a result of that dtype and shape, but result " + std::to_string(result) +
         " is " + text(TypeAttr::get(function.getResultTypes()[result]));
}

LogicalResult WeftDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned number,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function) return success();
  Type type = function.getArgumentTypes()[number];
  const Attribute value = attribute.getValue();
  const StringRef name = attribute.getName();
  Complaint complaint;
  if (name == "weft.variable") {
    complaint = verifyVariable(op, value, type);
    for (unsigned other = 0; !complaint && other < number; ++other)
      if (function.getArgAttr(other, name) == value)
        complaint = "is also that of argument " + std::to_string(other);
  } else if (name == "weft.output") {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() || !shaped.hasStaticShape())
      complaint = "belongs to a tensor or a buffer of known sizes";
    else complaint = wantsCount(value);
    if (!complaint) complaint = verifyPlace(function, cast<IntegerAttr>(value).getInt(), shaped);
  } else if (name == "weft.updated") {
    if (!isa<UnitAttr, BoolAttr>(value)) complaint = "is true or false";
    else if (!function.getArgAttr(number, "weft.variable")) complaint = "goes with 'weft.variable'";
  } else if (name == "weft.dims") {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() || !namesSizes(value, shaped.getNumDynamicDims()))
      complaint = "names a size of the entry for each unknown one of the argument";
  } else if (name == kDimNames) {
    auto shaped = dyn_cast<ShapedType>(type);
    auto names = dyn_cast<ArrayAttr>(value);
    if (!shaped || !shaped.hasRank() || !names || names.size() != size_t(shaped.getRank()) ||
        !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      complaint = "is a text for each axis of the argument";
  } else if (name == "weft.strides") {
    // A tensor has its strides in another attribute until it is a buffer.
    Attribute layout;
    if (auto memref = dyn_cast<MemRefType>(type)) layout = memref.getLayout();
    else layout = function.getArgAttr(number, kBufferLayout);
    auto strided = dyn_cast_or_null<StridedLayoutAttr>(layout);
    if (!strided || !namesSizes(value, llvm::count_if(strided.getStrides(), ShapedType::isDynamic)))
      complaint = "names a size of the entry for each unknown stride of the argument";
  }
  return report(op, attribute, complaint, " at argument " + Twine(number));
}

LogicalResult WeftDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned number,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || attribute.getName() != "weft.variable") return success();
  Type type = function.getResultTypes()[number];
  const Attribute value = attribute.getValue();
  Complaint complaint = verifyVariable(op, value, type);
  bool isArgument = false;
  for (unsigned i = 0; !complaint && i < function.getNumArguments(); ++i) {
    if (function.getArgAttr(i, "weft.variable") != value) continue;
    isArgument = true;
    Type argument = function.getArgumentTypes()[i];
    if (argument != type)
      complaint = "is that of argument " + std::to_string(i) + ", which is of another type, " +
                  text(TypeAttr::get(argument));
  }
  if (!complaint && !isArgument) complaint = "is that of no argument";
  for (unsigned other = 0; !complaint && other < number; ++other)
    if (function.getResultAttr(other, "weft.variable") == value)
      complaint = "is also that of result " + std::to_string(other);
  return report(op, attribute, complaint, " at result " + Twine(number));
}

} // namespace mlir::weft
