// Declares runtime functions and constant text on demand and builds the calls.
#include "Weft/Transforms/RuntimeCalls.h"

#include "Weft/IR/Bridge.h"
#include "Weft/IR/Places.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

static ModuleOp moduleAround(OpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

func::CallOp callRuntime(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands,
                         bool withContext, TypeRange results) {
  // One declaration serves operands of any shape.
  SmallVector<Value> arguments;
  for (Value operand : operands) {
    if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      auto unranked = UnrankedMemRefType::get(type.getElementType(), type.getMemorySpace());
      operand = memref::CastOp::create(b, unranked, operand);
    }
    arguments.push_back(operand);
  }
  ModuleOp module = moduleAround(b);
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = b.getFunctionType(ValueRange(arguments).getTypes(), results);
    auto declaration = func::FuncOp::create(b, name, type);
    declaration.setPrivate();
    declaration->setAttr("weft.runtime", b.getUnitAttr());
    if (withContext) declaration->setAttr("weft.context", b.getUnitAttr());
  }
  return func::CallOp::create(b, name, results, arguments);
}

Value stackArray(ImplicitLocOpBuilder &b, int64_t size) {
  OpBuilder::InsertionGuard guard(b);
  auto function = b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function) function = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(b, MemRefType::get(size, b.getI64Type()));
}

void put(ImplicitLocOpBuilder &b, Value array, int64_t at, Value value) {
  memref::StoreOp::create(b, value, array, ValueRange{arith::ConstantIndexOp::create(b, at)});
}

Value number(ImplicitLocOpBuilder &b, OpFoldResult value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return arith::ConstantIntOp::create(b, *known, 64);
  return arith::IndexCastOp::create(b, b.getI64Type(), cast<Value>(value));
}

void putAll(ImplicitLocOpBuilder &b, Value array, int64_t from, ArrayRef<OpFoldResult> values) {
  for (auto [i, value] : llvm::enumerate(values))
    put(b, array, from + static_cast<int64_t>(i), number(b, value));
}

Value address(ImplicitLocOpBuilder &b, Value buffer) {
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

/// Puts the description of a tensor of that type at place `index` of an array.
static void describe(ImplicitLocOpBuilder &b, Value values, int64_t index, ShapedType type,
                     Type element, ArrayRef<Value> sizes, Value data) {
  Value dims = stackArray(b, std::max<int64_t>(type.getRank(), 1));
  for (auto [axis, size] : llvm::enumerate(sizes)) put(b, dims, static_cast<int64_t>(axis), size);
  const auto dtype = static_cast<int64_t>(*dtypeOf(element));
  put(b, values, 3 * index, arith::ConstantIntOp::create(b, dtype | type.getRank() << 32, 64));
  put(b, values, 3 * index + 1, address(b, dims));
  put(b, values, 3 * index + 2, data);
}

static Value arrayOfValues(ImplicitLocOpBuilder &b, size_t count) {
  return stackArray(b, std::max<int64_t>(3 * static_cast<int64_t>(count), 1));
}

Value runtimeValues(ImplicitLocOpBuilder &b, ValueRange buffers, TypeRange elements) {
  Value values = arrayOfValues(b, buffers.size());
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    ShapedType type = cast<MemRefType>(buffer.getType());
    Type element = elements.empty() ? type.getElementType() : elements[i];
    if (isa<ComplexType>(element)) // the parts are its last axis
      type = RankedTensorType::get(type.getShape().drop_back(), element);
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      sizes.push_back(
          arith::IndexCastOp::create(b, b.getI64Type(), memref::DimOp::create(b, buffer, axis)));
    describe(b, values, static_cast<int64_t>(i), type, element, sizes, address(b, buffer));
  }
  return values;
}

Value runtimeTypes(ImplicitLocOpBuilder &b, TypeRange types) {
  Value values = arrayOfValues(b, types.size());
  for (auto [i, type] : llvm::enumerate(types)) {
    auto shaped = cast<ShapedType>(type);
    SmallVector<Value> sizes;
    for (int64_t size : shaped.getShape())
      sizes.push_back(arith::ConstantIntOp::create(
          b, ShapedType::isDynamic(size) ? ::weft::unknown : size, 64));
    describe(b, values, static_cast<int64_t>(i), shaped, shaped.getElementType(), sizes,
             arith::ConstantIntOp::create(b, 0, 64));
  }
  return values;
}

void appendIndices(ImplicitLocOpBuilder &b, Value buffer, Value size,
                   SmallVectorImpl<Value> &operands) {
  auto type = cast<MemRefType>(buffer.getType());
  Value count = arith::ConstantIndexOp::create(b, 1);
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    count = arith::MulIOp::create(b, count, memref::DimOp::create(b, buffer, axis));
  const auto dtype = static_cast<int64_t>(*dtypeOf(type.getElementType()));
  operands.push_back(arith::ConstantIntOp::create(b, dtype, 32));
  // One function for both dtypes of indices: it takes a plain pointer.
  operands.push_back(
      LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address(b, buffer)));
  operands.push_back(arith::IndexCastOp::create(b, b.getI64Type(), count));
  operands.push_back(arith::IndexCastOp::create(b, b.getI64Type(), size));
}

Value textPointer(ImplicitLocOpBuilder &b, StringRef text) {
  ModuleOp module = moduleAround(b);
  std::string content = text.str();
  content.push_back('\0');
  LLVM::GlobalOp global;
  unsigned count = 0;
  for (auto other : module.getOps<LLVM::GlobalOp>()) {
    ++count;
    if (auto value = dyn_cast_or_null<StringAttr>(other.getValueOrNull());
        value && value.getValue() == content)
      global = other;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), content.size());
    global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "weft_text_" + std::to_string(count), b.getStringAttr(content));
  }
  return LLVM::AddressOfOp::create(b, global);
}

Value siteOf(ImplicitLocOpBuilder &b, Location location) {
  return arith::ConstantIntOp::create(b, siteNumber(location).value_or(-1), 64);
}

} // namespace mlir::weft
