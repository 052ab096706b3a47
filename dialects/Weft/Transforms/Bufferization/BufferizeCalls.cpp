// Bufferizes call_into: a call of a routine of the library on dense buffers.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Bufferization/IntoModel.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

/// A dense row-major buffer of the sizes of `buffer`: itself if its type says that it is one,
/// wherever it begins in a larger one.
Value denseOf(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.areTrailingDimsContiguous(type.getRank())) return buffer;
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, buffer, axis));
  auto dense = MemRefType::get(type.getShape(), type.getElementType());
  return memref::AllocOp::create(b, dense, sizes);
}

struct CallIntoModel : IntoModel<CallIntoModel, CallIntoOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto call = cast<CallIntoOp>(op);
    FailureOr<Value> into = getBuffer(rewriter, call.getInto(), options, state);
    if (failed(into)) return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    SmallVector<Value> operands{stackArray(b, call.getNumbers().size())};
    for (auto [place, given] : llvm::enumerate(call.getNumbers()))
      put(b, operands.front(), place, number(b, OpFoldResult(given)));
    for (Value input : call.getInputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer)) return failure();
      b.setInsertionPoint(op);
      Value dense = denseOf(b, *buffer);
      if (dense != *buffer) memref::CopyOp::create(b, *buffer, dense);
      operands.push_back(dense);
    }
    Value result = denseOf(b, *into);
    operands.push_back(result);
    const auto element =
        cast<RankedTensorType>(call.getInputs().front().getType()).getElementType();
    callRuntime(b, ("weft_rt_" + call.getRoutine() + "_" + name_of(*dtypeOf(element))).str(),
                operands, /*withContext=*/false);
    if (result != *into) memref::CopyOp::create(b, result, *into);
    replaceOpWithBufferizedValues(rewriter, op, *into);
    return success();
  }
};

} // namespace

void registerBufferizableCalls(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    CallIntoOp::attachInterface<CallIntoModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
