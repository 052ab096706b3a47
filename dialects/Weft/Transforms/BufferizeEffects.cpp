// Bufferizes print, assert and check_indices: to calls of the runtime on their operands' buffers.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

using namespace bufferization;

/// The buffer of `tensor` with row-major elements: a copy if its own has gaps.
static FailureOr<Value> contiguousBuffer(ImplicitLocOpBuilder &b, RewriterBase &rewriter,
                                         Value tensor, const BufferizationOptions &options,
                                         BufferizationState &state) {
  FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
  if (failed(buffer)) return failure();
  auto type = cast<MemRefType>(buffer->getType());
  if (type.getLayout().isIdentity()) return buffer;
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, *buffer, axis));
  auto copyType = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, copyType, sizes);
  memref::CopyOp::create(b, *buffer, copy);
  return copy;
}

static Value address(ImplicitLocOpBuilder &b, Value buffer) {
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

/// An array on the stack that outlives the branch it is filled in: allocated at the function's
/// entry, so that loops do not let the stack grow.
static Value stackArray(ImplicitLocOpBuilder &b, int64_t size) {
  OpBuilder::InsertionGuard guard(b);
  auto function = b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function) function = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(b, MemRefType::get(size, b.getI64Type()));
}

/// An array of weft::RuntimeValue {i32 dtype, i32 rank, dims, data} that describes `buffers`.
static Value runtimeValues(ImplicitLocOpBuilder &b, ValueRange buffers) {
  auto put = [&](Value array, int64_t at, Value value) {
    memref::StoreOp::create(b, value, array, ValueRange{arith::ConstantIndexOp::create(b, at)});
  };
  Value values = stackArray(b, std::max<int64_t>(3 * buffers.size(), 1));
  int64_t at = 0;
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    Value dims = stackArray(b, std::max<int64_t>(type.getRank(), 1));
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      Value size = memref::DimOp::create(b, buffer, axis);
      put(dims, axis, arith::IndexCastOp::create(b, b.getI64Type(), size));
    }
    const auto dtype = static_cast<int64_t>(*dtypeOf(type.getElementType()));
    put(values, at++, constant(b, dtype | type.getRank() << 32));
    put(values, at++, address(b, dims));
    put(values, at++, address(b, buffer));
  }
  return values;
}

namespace {

/// What the three have in common: they read their tensors and write none.
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

struct PrintModel : ReadsOperands<PrintModel, PrintOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto print = cast<PrintOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    SmallVector<Value> buffers;
    for (Value value : print.getValues()) {
      FailureOr<Value> buffer = contiguousBuffer(b, rewriter, value, options, state);
      if (failed(buffer)) return failure();
      buffers.push_back(*buffer);
    }
    StringRef format = print.getFormat();
    Value text = textPointer(b, format), length = constant(b, format.size());
    Value values = runtimeValues(b, buffers);
    callRuntime(b, "weft_rt_print", {text, length, values, constant(b, buffers.size())}, true);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AssertModel : ReadsOperands<AssertModel, AssertOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto assertion = cast<AssertOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    FailureOr<Value> condition = getBuffer(rewriter, assertion.getCondition(), options, state);
    if (failed(condition)) return failure();
    if (cast<MemRefType>(condition->getType()).getRank() != 0)
      return op->emitOpError("wants a scalar condition by now; weft-to-linalg makes it one");
    Value holds = memref::LoadOp::create(b, *condition, ValueRange{});
    Value broken = arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, 1, 1));
    auto branch = scf::IfOp::create(b, broken, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> buffers;
    for (Value value : assertion.getValues()) {
      FailureOr<Value> buffer = contiguousBuffer(b, rewriter, value, options, state);
      if (failed(buffer)) return failure();
      buffers.push_back(*buffer);
    }
    std::string place = placeOf(op->getLoc());
    StringRef message = assertion.getMessage();
    Value values = runtimeValues(b, buffers);
    callRuntime(b, "weft_rt_assert_fail",
                {textPointer(b, place), constant(b, place.size()), textPointer(b, message),
                 constant(b, message.size()), values, constant(b, buffers.size())},
                true);
    rewriter.eraseOp(op);
    return success();
  }
};

struct CheckIndicesModel : ReadsOperands<CheckIndicesModel, CheckIndicesOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto check = cast<CheckIndicesOp>(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    b.setInsertionPoint(op);
    FailureOr<Value> indices = contiguousBuffer(b, rewriter, check.getIndices(), options, state);
    if (failed(indices)) return failure();
    auto type = cast<MemRefType>(indices->getType());
    Value count = arith::ConstantIndexOp::create(b, 1);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      count = arith::MulIOp::create(b, count, memref::DimOp::create(b, *indices, axis));
    const auto dtype = static_cast<int64_t>(*dtypeOf(type.getElementType()));
    // One function for both dtypes of indices: it takes a plain pointer.
    Value pointer = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                             address(b, *indices));
    callRuntime(b, "weft_rt_check_indices",
                {textPointer(b, check.getOp()), arith::ConstantIntOp::create(b, dtype, 32), pointer,
                 arith::IndexCastOp::create(b, b.getI64Type(), count),
                 arith::IndexCastOp::create(b, b.getI64Type(), check.getSize())},
                true);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void registerBufferizableEffects(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    PrintOp::attachInterface<PrintModel>(*context);
    AssertOp::attachInterface<AssertModel>(*context);
    CheckIndicesOp::attachInterface<CheckIndicesModel>(*context);
    context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                         memref::MemRefDialect, scf::SCFDialect>();
  });
}

} // namespace mlir::weft
