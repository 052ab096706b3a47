// Builds the pipelines of the phases, but those of Lowering.cpp; the order of passes is explained
// where it matters.
#include "Pipelines/Pipelines.h"

#include "JIT/GpuPipeline.h"
#include "JIT/LLVMPipeline.h"
#include "Weft/AD/Passes.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/Effects/Passes.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::weft {

using ::weft::Phase;

void buildDifferentiatePhase(OpPassManager &pm, const Target &) {
  DifferentiatePassOptions options;
  options.report = true; // the driver takes it off the module
  pm.addPass(createCheckLimitsPass());
  pm.addPass(createCountIterationsPass()); // so that derivatives count from 0 as well
  pm.addPass(createDifferentiatePass(std::move(options)));
  pm.addPass(createSplitDerivativePass());
  pm.addPass(createPartitionPass());
  pm.addPass(createGatherVariablesPass());
}

void buildControlDepsPhase(OpPassManager &pm, const Target &) {
  pm.addPass(createInsertControlDepsPass());
}

void buildSimplifyPhase(OpPassManager &pm, const Target &target) {
  // Before what they stand for is inlined.
  if (target.kind == Target::Kind::nvptx && ::weft::jit::hasTensorCores(target.chip))
    pm.addPass(createCallsToKernelsPass());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createSimplifyPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

void buildLiftStatePhase(OpPassManager &pm, const Target &) {
  pm.addPass(createPollLoopsPass());
  pm.addPass(createLiftStatePass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

void buildSchedulePhase(OpPassManager &pm, const Target &target) {
  pm.addNestedPass<func::FuncOp>(createScalarizePass());
  pm.addNestedPass<func::FuncOp>(createBranchOnChecksPass());
  if (target.kind == Target::Kind::cpu)
    pm.addNestedPass<func::FuncOp>(createAccumulateProductsPass());
  pm.addNestedPass<func::FuncOp>(createFuseElementwisePass());
}

void buildLLVMPhase(OpPassManager &pm, const Target &target) {
  if (target.kind == Target::Kind::nvptx) ::weft::jit::buildGpuPipeline(pm, target.chip);
  else pm.addPass(createShareLoopsPass());
  pm.addPass(createCutFunctionsPass());
  ::weft::jit::buildLLVMPipeline(pm, target.cpu);
}

void buildPhase(Phase phase, OpPassManager &pm, const Target &target) {
  switch (phase) {
  case Phase::trace: return;
  case Phase::differentiate: return buildDifferentiatePhase(pm, target);
  case Phase::control_deps: return buildControlDepsPhase(pm, target);
  case Phase::simplify: return buildSimplifyPhase(pm, target);
  case Phase::lift_state: return buildLiftStatePhase(pm, target);
  case Phase::linalg:
    pm.addNestedPass<func::FuncOp>(createCollectivesToHostCallsPass());
    return buildLinalgPhase(pm, target);
  case Phase::schedule: return buildSchedulePhase(pm, target);
  case Phase::bufferize: return buildBufferizePhase(pm, target);
  case Phase::llvm: return buildLLVMPhase(pm, target);
  case Phase::object:
  case Phase::ptx: return;
  }
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void registerWeftPasses() {
  registerWeftADPasses();
  registerWeftConversionPasses();
  registerWeftEffectsPasses();
  registerWeftTransformsPasses();
}

namespace {
/// Takes the names of GPUs: code generation ends the process at others.
struct ChipParser : llvm::cl::parser<std::string> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, StringRef, StringRef name, std::string &chip) {
    if (!::weft::jit::isGpuChip(name.str()))
      return option.error("LLVM knows no such GPU: '" + name + "'");
    chip = name.str();
    return false;
  }
};

/// The target, as options of a textual pipeline.
struct PhaseOptions : PassPipelineOptions<PhaseOptions> {
  Option<Target::Kind> target{
      *this, "target", llvm::cl::desc("What the code is for"), llvm::cl::init(Target::Kind::cpu),
      llvm::cl::values(clEnumValN(Target::Kind::cpu, "cpu", "this machine's processor"),
                       clEnumValN(Target::Kind::nvptx, "nvptx", "an NVIDIA GPU"))};
  Option<std::string, ChipParser> chip{*this, "chip", llvm::cl::desc("the GPU, by LLVM's name"),
                                       llvm::cl::init("sm_90a")};

  Target get() const {
    Target result = Target::host();
    result.kind = target;
    result.chip = chip;
    return result;
  }
};
} // namespace

std::string pipelineOf(Phase phase, const Target &target) {
  const std::string name = "weft-phase-" + std::string(::weft::name_of(phase));
  const std::string options =
      target.kind == Target::Kind::nvptx ? "target=nvptx chip=" + target.chip : "target=cpu";
  return "builtin.module(" + name + "{" + options + "})";
}

void registerWeftPipelines() {
  for (Phase phase : {Phase::differentiate, Phase::control_deps, Phase::simplify, Phase::lift_state,
                      Phase::linalg, Phase::schedule, Phase::bufferize, Phase::llvm}) {
    const std::string name = "weft-phase-" + std::string(::weft::name_of(phase));
    PassPipelineRegistration<PhaseOptions>(
        name, "The phase " + std::string(::weft::name_of(phase)) + " as one pipeline",
        [phase](OpPassManager &pm, const PhaseOptions &options) {
          buildPhase(phase, pm, options.get());
        });
  }
}

} // namespace mlir::weft
