// Declares runtime functions and constant text on demand and builds the calls.
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/Path.h"

namespace mlir::weft {

static ModuleOp moduleAround(OpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

void callRuntime(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands, bool withContext) {
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
    auto type = b.getFunctionType(ValueRange(arguments).getTypes(), {});
    auto declaration = func::FuncOp::create(b, name, type);
    declaration.setPrivate();
    declaration->setAttr("weft.runtime", b.getUnitAttr());
    if (withContext) declaration->setAttr("weft.context", b.getUnitAttr());
  }
  func::CallOp::create(b, name, TypeRange(), arguments);
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

std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file) return WalkResult::advance();
    place = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()))
                .str();
    return WalkResult::interrupt();
  });
  return place;
}

} // namespace mlir::weft
