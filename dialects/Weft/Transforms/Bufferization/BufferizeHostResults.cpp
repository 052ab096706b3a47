// Bufferizes host_result: the runtime tells the sizes of what a callable gave, and copies the
// elements to new memory.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

static MemRefType bufferTypeOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

namespace {

struct HostResultModel : BufferizableOpInterface::ExternalModel<HostResultModel, HostResultOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    return cast<BufferLikeType>(bufferTypeOf(value));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &,
                          BufferizationState &) const {
    auto result = cast<HostResultOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, value, 64); };
    MemRefType type = bufferTypeOf(result.getValue());
    Value index = number(static_cast<int64_t>(result.getIndex()));
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) continue;
      auto size = callRuntime(b, "weft_rt_host_size", {index, number(axis)},
                              /*withContext=*/true, b.getI64Type());
      sizes.push_back(arith::IndexCastOp::create(b, b.getIndexType(), size.getResult(0)));
    }
    Value buffer = memref::AllocOp::create(b, type, sizes);
    // One function for all dtypes: it takes a plain pointer.
    Value pointer =
        LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address(b, buffer));
    callRuntime(b, "weft_rt_host_take", {index, pointer}, /*withContext=*/true);
    replaceOpWithBufferizedValues(rewriter, op, buffer);
    return success();
  }
};

} // namespace

void registerBufferizableHostResults(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    HostResultOp::attachInterface<HostResultModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                         memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
