// Bufferizes attention: the same op on dense row-major buffers.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Bufferization/ContiguousBuffer.h"
#include "Weft/Transforms/Bufferization/IntoModel.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

struct AttentionModel : IntoModel<AttentionModel, AttentionOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto attention = cast<AttentionOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    SmallVector<Value> inputs, written, places;
    for (Value tensor :
         {attention.getQuery(), attention.getKey(), attention.getValue(), attention.getMask()}) {
      if (!tensor) continue;
      FailureOr<Value> buffer = contiguousBuffer(b, rewriter, tensor, options, state);
      if (failed(buffer)) return failure();
      inputs.push_back(*buffer);
      b.setInsertionPoint(op);
    }
    for (Value tensor : attention.getInto()) {
      FailureOr<Value> place = getBuffer(rewriter, tensor, options, state);
      if (failed(place)) return failure();
      b.setInsertionPoint(op);
      auto type = cast<MemRefType>(place->getType());
      places.push_back(*place);
      written.push_back(
          type.getLayout().isIdentity()
              ? *place
              : memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()))
                    .getResult());
    }
    AttentionOp::create(b, TypeRange(), inputs[0], inputs[1], inputs[2],
                        inputs.size() == 4 ? inputs[3] : Value(), written,
                        attention.getCausalAttr(), attention.getScaleAttr(),
                        attention.getQueriesAttr(), attention.getFormatAttr());
    for (auto [buffer, place] : llvm::zip_equal(written, places))
      if (buffer != place) memref::CopyOp::create(b, buffer, place);
    replaceOpWithBufferizedValues(rewriter, op, places);
    return success();
  }
};

} // namespace

void registerBufferizableAttention(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    AttentionOp::attachInterface<AttentionModel>(*context);
    context->loadDialect<memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
