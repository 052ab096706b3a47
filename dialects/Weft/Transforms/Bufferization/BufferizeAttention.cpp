// Bufferizes attention and its gradients: the same op on dense row-major buffers.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Bufferization/ContiguousBuffer.h"
#include "Weft/Transforms/Bufferization/IntoModel.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

template <class Op>
struct AttentionModel : IntoModel<AttentionModel<Op>, Op> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    const unsigned inputs = op->getNumOperands() - op->getNumResults();
    SmallVector<Value> operands, places;
    for (Value tensor : op->getOperands().take_front(inputs)) {
      FailureOr<Value> buffer = contiguousBuffer(b, rewriter, tensor, options, state);
      if (failed(buffer)) return failure();
      operands.push_back(*buffer);
      b.setInsertionPoint(op);
    }
    for (Value tensor : op->getOperands().drop_front(inputs)) {
      FailureOr<Value> place = getBuffer(rewriter, tensor, options, state);
      if (failed(place)) return failure();
      b.setInsertionPoint(op);
      auto type = cast<MemRefType>(place->getType());
      places.push_back(*place);
      operands.push_back(
          type.getLayout().isIdentity()
              ? *place
              : memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()))
                    .getResult());
    }
    Op::create(b, TypeRange(), operands, op->getAttrs());
    for (auto [buffer, place] : llvm::zip_equal(ArrayRef(operands).drop_front(inputs), places))
      if (buffer != place) memref::CopyOp::create(b, buffer, place);
    replaceOpWithBufferizedValues(rewriter, op, places);
    return success();
  }
};

} // namespace

void registerBufferizableAttention(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    AttentionOp::attachInterface<AttentionModel<AttentionOp>>(*context);
    AttentionGradientsOp::attachInterface<AttentionModel<AttentionGradientsOp>>(*context);
    context->loadDialect<memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
