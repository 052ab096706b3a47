// Looks for ops that should be gone by the phase that a text is said to have gone through, and puts
// checks into what the text does.
#include "Pipelines/Inputs.h"

#include "Weft/AD/Passes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::weft {

using ::weft::Phase;

/// The phase behind which no program has that op; the last if all may.
static Phase goneAfter(Operation *op, SymbolTableCollection &symbols) {
  if (op->hasTrait<IsDerivative>()) return Phase::differentiate;
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
    return callee && callee.isExternal() ? Phase::object : Phase::simplify;
  }
  auto isHandle = [](Type type) { return isa<VarType, TokenType, RecordType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isHandle) || llvm::any_of(op->getResultTypes(), isHandle))
    return Phase::lift_state;
  if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isExternal())
    if (llvm::any_of(function.getArgumentTypes(), isHandle) ||
        llvm::any_of(function.getResultTypes(), isHandle))
      return Phase::lift_state;
  const ::weft::OpInfo *info = opInfoOf(op);
  if ((info && info->kind != ::weft::OpKind::effect) || op->hasTrait<GoneAfterLinalg>())
    return Phase::linalg;
  if (op->hasTrait<GoneAfterSchedule>() || isa<cf::AssertOp>(op)) return Phase::schedule;
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor))
    return Phase::bufferize;
  return Phase::object;
}

LogicalResult verifyHasGoneThrough(ModuleOp module, Phase from, const Target &target) {
  if (from == Phase::trace) return success();
  SymbolTableCollection symbols;
  WalkResult walked = module.walk([&](Operation *op) -> WalkResult {
    Phase gone = goneAfter(op, symbols);
    // A GPU's kernels are of other dialects.
    const bool isKernels = target.kind == Target::Kind::nvptx &&
                           (isa<gpu::GPUModuleOp>(op) || op->getParentOfType<gpu::GPUModuleOp>());
    if (!isKernels && !isa<ModuleOp>(op) && !isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      gone = std::min(gone, Phase::llvm);
    if (gone > from) return WalkResult::advance();
    return op->emitOpError() << "is no op of a program that has gone through the phase '"
                             << ::weft::name_of(from) << "': '" << ::weft::name_of(gone)
                             << "' leaves none like it";
  });
  return failure(walked.wasInterrupted());
}

LogicalResult verifyAtRuntime(ModuleOp module, Phase from) {
  PassManager checks(module.getContext());
  checks.addPass(createRuntimeVerificationPass());
  // What loops count is taken to lie between their bounds.
  checks.addPass(createCountIterationsPass());
  // The phase schedule leaves branches of checks.
  if (from == Phase::schedule) checks.addNestedPass<func::FuncOp>(createBranchOnChecksPass());
  return checks.run(module);
}

} // namespace mlir::weft
