// Bufferizes draw_into: a call of the library's random numbers on views of any strides.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Bufferization/IntoModel.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

struct DrawIntoModel : IntoModel<DrawIntoModel, DrawIntoOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto draw = cast<DrawIntoOp>(op);
    FailureOr<Value> into = getBuffer(rewriter, draw.getInto(), options, state);
    if (failed(into)) return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    const int64_t rank = draw.getInto().getType().getRank();
    Value shape = stackArray(b, std::max<int64_t>(2 * rank, 1));
    auto to = memref::ExtractStridedMetadataOp::create(b, *into);
    putAll(b, shape, 0, to.getConstifiedMixedSizes());
    putAll(b, shape, rank, to.getConstifiedMixedStrides());
    const ::weft::DType dtype = *dtypeOf(draw.getInto().getType().getElementType());
    const std::string name =
        std::string(draw.getPermutation() ? "weft_rt_draw_permutation_" : "weft_rt_draw_uniform_") +
        std::string(name_of(dtype));
    noteWrites(callRuntime(b, name,
                           {draw.getSeed(), draw.getStream(),
                            arith::ConstantIntOp::create(b, rank, 64), shape, *into},
                           /*withContext=*/false),
               1);
    replaceOpWithBufferizedValues(rewriter, op, *into);
    return success();
  }
};

} // namespace

void registerBufferizableDraws(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    DrawIntoOp::attachInterface<DrawIntoModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
