// The pass weft-share-fma: one function per type for what is a call of libm per lane.

#include "Weft/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::weft {
#define GEN_PASS_DEF_SHAREFMAPASS
#include "Weft/Conversion/Passes.h.inc"
} // namespace mlir::weft

using namespace mlir;

namespace {

struct ShareFmaPass : mlir::weft::impl::ShareFmaPassBase<ShareFmaPass> {
  void runOnOperation() final {
    llvm::MapVector<Type, SmallVector<LLVM::FMAOp>> found;
    getOperation().walk([&](LLVM::FMAOp op) {
      if (isa<VectorType>(op.getType())) found[op.getType()].push_back(op);
    });
    SymbolTable symbols(getOperation());
    for (auto &[type, ops] : found) {
      LLVM::LLVMFuncOp function = create(symbols, cast<VectorType>(type));
      for (LLVM::FMAOp op : ops) {
        OpBuilder builder(op);
        auto call = LLVM::CallOp::create(builder, op.getLoc(), function, op.getOperands());
        op.replaceAllUsesWith(call.getResult());
        op.erase();
      }
    }
  }

private:
  LLVM::LLVMFuncOp create(SymbolTable &symbols, VectorType type) {
    std::string name;
    llvm::raw_string_ostream(name)
        << "weft.fma_" << type.getNumElements() << 'x' << type.getElementType();
    const Location loc = getOperation().getLoc();
    OpBuilder builder(getOperation().getBodyRegion());
    auto function = LLVM::LLVMFuncOp::create(builder, loc, name,
                                             LLVM::LLVMFunctionType::get(type, {type, type, type}),
                                             LLVM::Linkage::Internal);
    function.setNoInline(true);
    symbols.insert(function);
    builder.setInsertionPointToStart(function.addEntryBlock(builder));
    Value result = LLVM::FMAOp::create(builder, loc, type, function.getArguments());
    LLVM::ReturnOp::create(builder, loc, result);
    return function;
  }
};

} // namespace
