// Folds ops on constants by eager execution.
#include "Weft/Transforms/FoldConstants.h"

#include "Ops/Eager.h"
#include "Ops/Interpreter.h"
#include "Weft/IR/Bridge.h"

namespace mlir::weft {

/// The result of a call on constants; nothing if it fails. No exception leaves this function: the
/// frames above it are MLIR's.
static Attribute execute(const ::weft::OpInfo &info, ArrayRef<DenseElementsAttr> operands,
                         const ::weft::Attrs &attrs, MLIRContext *context) noexcept {
  try {
    // Whatever this thread is tracing has no part in this.
    ::weft::Interpreter::Scope eager(nullptr);
    std::vector<::weft::Tensor> tensors;
    for (DenseElementsAttr operand : operands)
      tensors.push_back(::weft::execute_eager(::weft::OpCode::constant, {}, {constantOf(operand)}));
    ::weft::Tensor result = ::weft::execute_eager(info.op, tensors, attrs).contiguous();
    ::weft::ConstantData data;
    data.type = result.type();
    data.bytes = result.impl()->data;
    return elementsAttrOf(data, context);
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
    if (!info || info->kind == ::weft::OpKind::effect || isa<ConstantOp>(op)) return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || knowsMoreThanInferred(op)) return failure();
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
    const int64_t bytes = bytesOf(type);
    if (bytes > maxBytes || operandBytes > maxBytes || (bytes > 1024 && bytes > operandBytes))
      return failure();
    Attribute value = execute(*info, operands, attrsOf(op), op->getContext());
    auto elements = dyn_cast_or_null<ElementsAttr>(value);
    if (!elements || elements.getType() != type) return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(op, type, elements);
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
