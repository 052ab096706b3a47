// Bufferizes weft.leave and weft.outside: they read their tensors and write none.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Bufferization/ContiguousBuffer.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

FailureOr<Value> contiguousBuffer(ImplicitLocOpBuilder &b, RewriterBase &rewriter, Value tensor,
                                  const BufferizationOptions &options, BufferizationState &state) {
  FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
  if (failed(buffer)) return failure();
  auto type = cast<MemRefType>(buffer->getType());
  if (type.getLayout().isIdentity()) return buffer;
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, *buffer, axis));
  auto copyType = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, copyType, sizes);
  memref::CopyOp::create(b, *buffer, copy)
      ->setAttr("weft.reason", b.getStringAttr("the runtime takes elements without gaps"));
  return copy;
}

namespace {

/// What both have in common.
template <class Model, class Op>
struct ReadsOperands : BufferizableOpInterface::ExternalModel<Model, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const {
    return {};
  }
  bool mustBufferizeInPlace(Operation *, OpOperand &, const AnalysisState &) const { return true; }

private:
  friend Model;
  ReadsOperands() = default;
};

/// Its buffers stay operands until weft-checks-to-runtime, when outlined regions are back in the
/// function whose arguments are the variables.
struct LeaveModel : ReadsOperands<LeaveModel, LeaveOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) continue;
      FailureOr<Value> buffer = contiguousBuffer(b, rewriter, operand.get(), options, state);
      if (failed(buffer)) return failure();
      rewriter.modifyOpInPlace(op, [&] { operand.set(*buffer); });
    }
    return success();
  }
};

struct OutsideModel : ReadsOperands<OutsideModel, OutsideOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto check = cast<OutsideOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    FailureOr<Value> indices = contiguousBuffer(b, rewriter, check.getIndices(), options, state);
    if (failed(indices)) return failure();
    SmallVector<Value> operands;
    appendIndices(b, *indices, check.getSize(), operands);
    auto found = callRuntime(b, "weft_rt_outside", operands, /*withContext=*/false, b.getI1Type());
    replaceOpWithBufferizedValues(rewriter, op, found.getResults());
    return success();
  }
};

} // namespace

void registerBufferizableEffects(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    LeaveOp::attachInterface<LeaveModel>(*context);
    OutsideOp::attachInterface<OutsideModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                         memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
