// A table of kernels as a constant of the module.

#include "Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft::kernelgen {

using namespace mlir;

void buildTable(ModuleOp module, const std::string &name, std::size_t words,
                const std::vector<TableEntry> &entries) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMArrayType::get(pointer, words);
  auto table = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::External, name, Attribute());
  builder.setInsertionPointToStart(builder.createBlock(&table.getInitializerRegion()));
  Value value = LLVM::ZeroOp::create(builder, loc, type);
  for (const TableEntry &entry : entries) {
    Value word;
    if (entry.function.empty()) {
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                              builder.getI64IntegerAttr(entry.number));
      word = LLVM::IntToPtrOp::create(builder, loc, pointer, number);
    } else {
      word = LLVM::AddressOfOp::create(builder, loc, pointer, entry.function);
    }
    value =
        LLVM::InsertValueOp::create(builder, loc, value, word, static_cast<int64_t>(entry.index));
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

} // namespace weft::kernelgen
