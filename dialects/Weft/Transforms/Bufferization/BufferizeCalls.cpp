// Bufferizes call_into: a call of a routine of the library, on dense buffers or on views. One that
// may throw needs the buffers of variables until weft-checks-to-runtime, and is a weft.leave.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Bufferization/ContiguousBuffer.h"
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

/// One part of the pairs of a buffer.
Value partOf(ImplicitLocOpBuilder &b, Value pairs, int64_t number) {
  auto type = cast<MemRefType>(pairs.getType());
  const int64_t last = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(last, b.getIndexAttr(0)), sizes,
      steps(last + 1, b.getIndexAttr(1));
  offsets.push_back(b.getIndexAttr(number));
  for (int64_t axis = 0; axis < last; ++axis)
    sizes.push_back(type.isDynamicDim(axis)
                        ? OpFoldResult(Value(memref::DimOp::create(b, pairs, axis)))
                        : b.getIndexAttr(type.getDimSize(axis)));
  sizes.push_back(b.getIndexAttr(1));
  MemRefType part = memref::SubViewOp::inferRankReducedResultType(type.getShape().drop_back(), type,
                                                                  offsets, sizes, steps);
  return memref::SubViewOp::create(b, part, pairs, offsets, sizes, steps);
}

/// The array that a routine is told by: rank, sizes and strides of each buffer, then `integers`.
Value describeViews(ImplicitLocOpBuilder &b, ArrayRef<Value> buffers, ArrayRef<int64_t> integers) {
  SmallVector<OpFoldResult> numbers;
  for (Value buffer : buffers) {
    auto view = memref::ExtractStridedMetadataOp::create(b, buffer);
    numbers.push_back(b.getIndexAttr(cast<MemRefType>(buffer.getType()).getRank()));
    llvm::append_range(numbers, view.getConstifiedMixedSizes());
    llvm::append_range(numbers, view.getConstifiedMixedStrides());
  }
  for (int64_t integer : integers) numbers.push_back(b.getIndexAttr(integer));
  Value array = stackArray(b, static_cast<int64_t>(numbers.size()));
  putAll(b, array, 0, numbers);
  return array;
}

struct CallIntoModel : IntoModel<CallIntoModel, CallIntoOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto call = cast<CallIntoOp>(op);
    SmallVector<Value> results;
    for (Value tensor : call.getInto()) {
      FailureOr<Value> into = getBuffer(rewriter, tensor, options, state);
      if (failed(into)) return failure();
      results.push_back(*into);
    }
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    Type element = cast<RankedTensorType>(call.getInputs().front().getType()).getElementType();
    if (call.getIsUnsigned())
      element = b.getIntegerType(element.getIntOrFloatBitWidth(), /*isSigned=*/false);
    if (call.getIsComplex()) element = ComplexType::get(element);
    const std::string name = (call.getRoutine() + "_" + name_of(*dtypeOf(element))).str();
    if (call.getAttrs()) {
      SmallVector<Value> buffers, held;
      for (Value input : call.getInputs()) {
        FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
        if (failed(buffer)) return failure();
        buffers.push_back(*buffer);
      }
      b.setInsertionPoint(op);
      if (call.getIntoPairs())
        for (int64_t number : {0, 1}) buffers.push_back(partOf(b, results.front(), number));
      else llvm::append_range(buffers, results);
      for (Value tensor : call.getState()) {
        FailureOr<Value> buffer = contiguousBuffer(b, rewriter, tensor, options, state);
        if (failed(buffer)) return failure();
        held.push_back(*buffer);
      }
      b.setInsertionPoint(op);
      SmallVector<Value> operands{describeViews(b, buffers, *call.getAttrs())};
      llvm::append_range(operands, buffers);
      LeaveOp::create(b, LeaveKind::routine, b.getStringAttr(name), operands,
                      call.getVariablesAttr(), held, /*given=*/ArrayAttr());
      replaceOpWithBufferizedValues(rewriter, op, results);
      return success();
    }
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
    Value into = results.front(), result = denseOf(b, into);
    operands.push_back(result);
    noteWrites(callRuntime(b, "weft_rt_" + name, operands, /*withContext=*/false), 1);
    if (result != into) memref::CopyOp::create(b, result, into);
    replaceOpWithBufferizedValues(rewriter, op, results);
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
