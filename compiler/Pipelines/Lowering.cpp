// The phases that make buffers of `weft` ops; apart, because weft-kernelgen runs them too.
#include "Pipelines/Pipelines.h"

#include "Weft/Conversion/Passes.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::weft {

void buildLinalgPhase(OpPassManager &pm, const Target &target) {
  WeftToLinalgPassOptions options;
  const bool gpu = target.kind != Target::Kind::cpu;
  options.withoutLibrary = gpu || target.kernels;
  options.stagesRoutines = gpu;
  options.convertsFloats = gpu;
  pm.addNestedPass<func::FuncOp>(createExpandComplexPass());
  pm.addNestedPass<func::FuncOp>(createWeftToLinalgPass(options));
  // What a check says of a size holds behind it alone. Upstream would give it to the op that comes
  // before the check too, which then writes all elements that there are where one was promised.
  pm.addNestedPass<func::FuncOp>(
      createCanonicalizerPass({}, {"(anonymous namespace)::FoldTensorCastConsumerOp"}));
}

void buildBufferizePhase(OpPassManager &pm, const Target &target) {
  pm.addNestedPass<func::FuncOp>(createSwitchToBranchesPass());
  if (target.kind == Target::Kind::cpu && !target.kernels)
    pm.addNestedPass<func::FuncOp>(createCallsIntoPairsPass());
  pm.addPass(createDestinationPassingPass());
  pm.addNestedPass<func::FuncOp>(createSinkInsertsPass());
  pm.addPass(createOutlineRegionsPass());
  pm.addNestedPass<func::FuncOp>(createSplitReadersPass());
  pm.addNestedPass<func::FuncOp>(createSplitWritersPass());
  // No CSE before this: two products that start from one zeroed tensor need a copy of it.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  // Loops whose state changes its size hand on new memory.
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  options.unknownTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createInlinerPass()); // what was outlined
  pm.addPass(createSymbolDCEPass());
  // Equal views must be one value before copies onto themselves are seen as such.
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  // The library's products run on the processor; a GPU's are loops like all else.
  if (target.kind == Target::Kind::cpu) pm.addPass(createMatmulToRuntimePass());
  pm.addPass(createChecksToRuntimePass());
  pm.addNestedPass<func::FuncOp>(createLowerAffinePass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  // After the canonicalizer, which would erase an output that is only stored to.
  pm.addNestedPass<func::FuncOp>(createMaterializeDestinationsPass());
  if (target.kind == Target::Kind::cpu) {
    pm.addNestedPass<func::FuncOp>(createDensifyReductionsPass());
    // Who calls a kernel gives it a block of rows.
    if (!target.kernels) pm.addNestedPass<func::FuncOp>(createFuseRowsPass());
  }
  pm.addNestedPass<func::FuncOp>(createPlanArenaPass());
}

} // namespace mlir::weft
