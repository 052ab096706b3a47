// Folds ops on constants by eager execution.
#include "Weft/Transforms/FoldConstants.h"

#include "Device/Device.h"
#include "Ops/Eager.h"
#include "Ops/Interpreter.h"
#include "Weft/IR/Bridge.h"

namespace mlir::weft {

/// The results of a call on constants; none if it fails. No exception leaves this function: the
/// frames above it are MLIR's.
static SmallVector<ElementsAttr> execute(const ::weft::OpInfo &info,
                                         ArrayRef<DenseElementsAttr> operands,
                                         const ::weft::Attrs &attrs,
                                         MLIRContext *context) noexcept {
  try {
    // Whatever this thread is tracing has no part in this, nor its devices.
    ::weft::Interpreter::Scope eager(nullptr);
    const ::weft::device::ScopesCount onHost(false);
    std::vector<::weft::Tensor> tensors;
    for (DenseElementsAttr operand : operands)
      tensors.push_back(::weft::execute_eager(::weft::OpCode::constant, {}, {constantOf(operand)}));
    SmallVector<ElementsAttr> values;
    for (const ::weft::Tensor &given : ::weft::dispatch_all(info.op, tensors, attrs)) {
      const ::weft::Tensor result = given.contiguous();
      ::weft::ConstantData data;
      data.type = result.type();
      data.bytes = result.impl()->data;
      values.push_back(elementsAttrOf(data, context));
    }
    return values;
  } catch (const std::exception &) {
    return {};
  }
}

namespace {
struct FoldConstants : RewritePattern {
  FoldConstants(MLIRContext *context, int64_t maxBytes)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context), maxBytes(maxBytes) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->has_effect() || isa<ConstantOp>(op)) return failure();
    if (knowsMoreThanInferred(op)) return failure();
    int64_t bytes = 0;
    for (Type result : op->getResultTypes()) {
      auto type = dyn_cast<RankedTensorType>(result);
      if (!type || !type.hasStaticShape()) return failure();
      bytes += bytesOf(type);
    }
    SmallVector<DenseElementsAttr> operands;
    int64_t operandBytes = 0;
    for (Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValueAttr()) : nullptr;
      if (!elements) return failure();
      operands.push_back(elements);
      operandBytes += bytesOf(elements.getType());
    }
    // A small recipe for a large tensor, as a broadcast of a scalar, is better than the tensor.
    if (bytes > maxBytes || operandBytes > maxBytes || (bytes > 1024 && bytes > operandBytes))
      return failure();
    const SmallVector<ElementsAttr> values =
        execute(*info, operands, attrsOf(op), op->getContext());
    if (values.size() != op->getNumResults()) return failure();
    SmallVector<Value> constants;
    for (auto [value, type] : llvm::zip_equal(values, op->getResultTypes())) {
      if (value.getType() != type) return failure();
      constants.push_back(ConstantOp::create(rewriter, op->getLoc(), type, value));
    }
    rewriter.replaceOp(op, constants);
    return success();
  }

  static int64_t bytesOf(ShapedType type) {
    return type.getNumElements() *
           static_cast<int64_t>(::weft::item_size(*dtypeOf(type.getElementType())));
  }

  int64_t maxBytes;
};
} // namespace

void populateFoldConstantsPatterns(RewritePatternSet &patterns, int64_t maxBytes) {
  patterns.add<FoldConstants>(patterns.getContext(), maxBytes);
}

} // namespace mlir::weft
