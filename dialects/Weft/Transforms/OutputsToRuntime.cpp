// The pass weft-outputs-to-runtime: memory for results of unknown size.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

#define GEN_PASS_DEF_OUTPUTSTORUNTIMEPASS
#include "Weft/Transforms/Passes.h.inc"

/// The allocation that `buffer` is, but for casts, if it is one of `function`'s outermost block.
static memref::AllocOp allocationOf(Value buffer, func::FuncOp function) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>()) buffer = cast.getSource();
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != &function.getBody().front() || alloc->hasAttr("weft.output"))
    return {};
  return alloc;
}

/// A copy of `buffer` in new row-major memory, made where `b` stands.
static memref::AllocOp copied(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, buffer, axis));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  auto alloc = memref::AllocOp::create(b, plain, sizes);
  memref::CopyOp::create(b, buffer, alloc);
  return alloc;
}

/// Whether a result has its place among the arguments already.
static bool isStored(func::FuncOp function, unsigned result) {
  if (function.getResultAttr(result, "weft.variable")) return true;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto output = function.getArgAttrOfType<IntegerAttr>(i, "weft.output"))
      if (output.getInt() == result) return true;
  return false;
}

namespace {
struct OutputsToRuntime : impl::OutputsToRuntimePassBase<OutputsToRuntime> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    Operation *ret = function.getBody().front().getTerminator();
    ImplicitLocOpBuilder b(ret->getLoc(), ret);
    int64_t index = 0;
    for (auto [number, result] : llvm::enumerate(ret->getOperands())) {
      auto type = dyn_cast<MemRefType>(result.getType());
      if (!type) {
        function.emitError("result ") << number << " is no tensor: only tensors can be returned";
        return signalPassFailure();
      }
      if (isStored(function, number)) continue;
      if (type.hasStaticShape()) {
        function.emitError("result ")
            << number << " is stored nowhere: run weft-bind-results first";
        return signalPassFailure();
      }
      memref::AllocOp alloc = allocationOf(result, function);
      if (!alloc) alloc = copied(b, result);
      alloc->setAttr("weft.output", b.getI64IntegerAttr(index++));
    }
    ret->setOperands({});
    BitVector all(function.getNumResults(), true);
    (void)function.eraseResults(all);
  }
};
} // namespace

} // namespace mlir::weft
