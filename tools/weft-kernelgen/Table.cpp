// The table of kernels as a constant of the module.

#include "Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft::kernelgen {

using namespace mlir;

void buildTable(ModuleOp module, const std::string &name, const std::vector<KernelPlace> &kernels) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMArrayType::get(pointer, sizeof(KernelTable) / sizeof(Kernel));
  auto table = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::External, name, Attribute());
  builder.setInsertionPointToStart(builder.createBlock(&table.getInitializerRegion()));
  Value value = LLVM::ZeroOp::create(builder, loc, type);
  for (const KernelPlace &kernel : kernels) {
    Value address = LLVM::AddressOfOp::create(builder, loc, pointer, kernel.function);
    value = LLVM::InsertValueOp::create(builder, loc, value, address,
                                        static_cast<int64_t>(kernel.index));
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

} // namespace weft::kernelgen
