// Bufferizes widen and barrier: the same buffer, of whose sizes less is known, or which nobody
// takes for the same any more.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

/// Of an op whose result is the buffer of its operand.
template <class Model, class Op>
struct SameBufferModel : BufferizableOpInterface::ExternalModel<Model, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (operand.getOperandNumber() != 0) return {};
    return {{op->getResult(0), BufferRelation::Equivalent}};
  }
};

struct WidenModel : SameBufferModel<WidenModel, WidenOp> {
  FailureOr<BufferLikeType> getBufferType(Operation *op, Value, const BufferizationOptions &options,
                                          const BufferizationState &state,
                                          SmallVector<Value> &invocationStack) const {
    auto widen = cast<WidenOp>(op);
    auto from = bufferization::getBufferType(widen.getX(), options, state, invocationStack);
    if (failed(from)) return failure();
    auto type = cast<MemRefType>(*from);
    RankedTensorType result = widen.getType();
    if (type.getLayout().isIdentity())
      return cast<BufferLikeType>(MemRefType::get(result.getShape(), result.getElementType(),
                                                  MemRefLayoutAttrInterface(),
                                                  type.getMemorySpace()));
    return cast<BufferLikeType>(getMemRefTypeWithFullyDynamicLayout(result, type.getMemorySpace()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto widen = cast<WidenOp>(op);
    FailureOr<Value> buffer = getBuffer(rewriter, widen.getX(), options, state);
    if (failed(buffer)) return failure();
    SmallVector<Value> stack;
    auto type = bufferization::getBufferType(widen.getY(), options, state, stack);
    if (failed(type)) return failure();
    replaceOpWithNewBufferizedOp<memref::CastOp>(rewriter, op, cast<MemRefType>(*type), *buffer);
    return success();
  }
};

struct BarrierModel : SameBufferModel<BarrierModel, BarrierOp> {
  FailureOr<BufferLikeType> getBufferType(Operation *op, Value, const BufferizationOptions &options,
                                          const BufferizationState &state,
                                          SmallVector<Value> &invocationStack) const {
    return bufferization::getBufferType(cast<BarrierOp>(op).getX(), options, state,
                                        invocationStack);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    FailureOr<Value> buffer = getBuffer(rewriter, cast<BarrierOp>(op).getX(), options, state);
    if (failed(buffer)) return failure();
    replaceOpWithBufferizedValues(rewriter, op, *buffer);
    return success();
  }
};

} // namespace

void registerBufferizableWiden(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    WidenOp::attachInterface<WidenModel>(*context);
    BarrierOp::attachInterface<BarrierModel>(*context);
    context->loadDialect<memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
