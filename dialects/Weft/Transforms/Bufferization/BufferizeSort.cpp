// Bufferizes sort_into: a call of the library's sort on views of any strides.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Bufferization/IntoModel.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using namespace bufferization;

namespace {

using ::weft::DType;

struct SortIntoModel : IntoModel<SortIntoModel, SortIntoOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto sort = cast<SortIntoOp>(op);
    FailureOr<Value> into = getBuffer(rewriter, sort.getInto(), options, state);
    FailureOr<Value> x = getBuffer(rewriter, sort.getX(), options, state);
    if (failed(into) || failed(x)) return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    const int64_t rank = sort.getX().getType().getRank();
    Value shape = stackArray(b, 3 * rank);
    auto from = memref::ExtractStridedMetadataOp::create(b, *x);
    auto to = memref::ExtractStridedMetadataOp::create(b, *into);
    const int64_t axis = sort.getAxis();
    putAll(b, shape, 0, from.getConstifiedMixedSizes());
    putAll(b, shape, rank, from.getConstifiedMixedStrides());
    putAll(b, shape, 2 * rank, to.getConstifiedMixedStrides());
    const DType dtype = *dtypeOf(sort.getX().getType().getElementType());
    const std::string name = std::string(sort.getValues() ? "weft_rt_sort_" : "weft_rt_argsort_") +
                             std::string(name_of(dtype));
    callRuntime(b, name,
                {arith::ConstantIntOp::create(b, rank, 64), shape,
                 arith::ConstantIntOp::create(b, axis, 64),
                 arith::ConstantIntOp::create(b, sort.getDescending(), /*width=*/1),
                 number(b, to.getConstifiedMixedSizes()[axis]), *x, *into},
                /*withContext=*/false);
    replaceOpWithBufferizedValues(rewriter, op, *into);
    return success();
  }
};

} // namespace

void registerBufferizableSort(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    SortIntoOp::attachInterface<SortIntoModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect>();
  });
}

} // namespace mlir::weft
