// The pass weft-calls-to-kernels: calls of what the target has one kernel for become an op.
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CALLSTOKERNELSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Puts attention, or its gradients, in the place of a call, if there is a kernel for its types: of
/// query, key and value, of what gradients take beside these, and maybe of a mask.
template <class Op>
void toAttention(func::CallOp call, DictionaryAttr kernel) {
  constexpr bool kIsForward = std::is_same_v<Op, AttentionOp>;
  constexpr size_t kOperands = kIsForward ? 3 : 6, kResults = kIsForward ? 2 : 3;
  const auto scale = kernel.getAs<FloatAttr>("scale");
  const auto causal = kernel.getAs<StringAttr>("causal");
  const auto queries = kernel.getAs<IntegerAttr>("queries");
  const size_t count = call.getNumOperands();
  if (!scale || !causal || !queries || count < kOperands || count > kOperands + 1 ||
      call.getNumResults() != kResults)
    return;
  if (!AttentionOp::hasKernel(call.getOperandTypes(), scale.getValueAsDouble())) return;
  OpBuilder b(call);
  SmallVector<Value> into;
  for (Type type : call.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape()) return;
    into.push_back(
        tensor::EmptyOp::create(b, call.getLoc(), tensor.getShape(), tensor.getElementType()));
  }
  const OperandRange x = call.getOperands();
  Value mask = count > kOperands ? x[kOperands] : Value();
  const auto format = TypeAttr::get(cast<RankedTensorType>(x[0].getType()).getElementType());
  Operation *op;
  if constexpr (kIsForward)
    op = Op::create(b, call.getLoc(), call.getResultTypes(), x[0], x[1], x[2], mask, into, causal,
                    scale, queries, format);
  else
    op = Op::create(b, call.getLoc(), call.getResultTypes(), x[0], x[1], x[2], mask, x[3], x[4],
                    x[5], into, causal, scale, queries, format);
  call.replaceAllUsesWith(op->getResults());
  call.erase();
}

struct CallsToKernels : impl::CallsToKernelsPassBase<CallsToKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      auto kernel = callee ? callee->getAttrOfType<DictionaryAttr>(kKernel) : DictionaryAttr();
      if (!kernel) return;
      const StringRef op = kernel.getAs<StringAttr>("op").getValue();
      if (op == "attention") toAttention<AttentionOp>(call, kernel);
      else if (op == "attention_gradients") toAttention<AttentionGradientsOp>(call, kernel);
    });
  }
};

} // namespace

} // namespace mlir::weft
