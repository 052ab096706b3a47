// The pass weft-calls-to-kernels: calls of what the target has one kernel for become an op.
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CALLSTOKERNELSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Puts the op attention in the place of a call, if there is a kernel for its types.
void toAttention(func::CallOp call, DictionaryAttr kernel) {
  const auto scale = kernel.getAs<FloatAttr>("scale");
  const auto causal = kernel.getAs<StringAttr>("causal");
  const auto queries = kernel.getAs<IntegerAttr>("queries");
  const size_t count = call.getNumOperands();
  if (!scale || !causal || !queries || count < 3 || count > 4 || call.getNumResults() != 2) return;
  if (!AttentionOp::hasKernel(call.getOperandTypes(), scale.getValueAsDouble())) return;
  OpBuilder b(call);
  SmallVector<Value> into;
  for (Type type : call.getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape()) return;
    into.push_back(
        tensor::EmptyOp::create(b, call.getLoc(), tensor.getShape(), tensor.getElementType()));
  }
  const Type format = cast<RankedTensorType>(call.getOperand(0).getType()).getElementType();
  auto op = AttentionOp::create(b, call.getLoc(), call.getResultTypes(), call.getOperand(0),
                                call.getOperand(1), call.getOperand(2),
                                count == 4 ? call.getOperand(3) : Value(), into, causal, scale,
                                queries, TypeAttr::get(format));
  call.replaceAllUsesWith(op.getResults());
  call.erase();
}

struct CallsToKernels : impl::CallsToKernelsPassBase<CallsToKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      auto kernel = callee ? callee->getAttrOfType<DictionaryAttr>(kKernel) : DictionaryAttr();
      if (kernel && kernel.getAs<StringAttr>("op") == "attention") toAttention(call, kernel);
    });
  }
};

} // namespace

} // namespace mlir::weft
