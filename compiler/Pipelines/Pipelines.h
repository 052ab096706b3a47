// The phases of compilation by name: what each runs, wants and leaves.
#pragma once

#include "JIT/TargetOptions.h"
#include "mlir/Pass/PassManager.h"
#include <weft/phase.h>

namespace mlir::weft {

/// What code is generated for; a parameter of every phase.
struct Target {
  enum class Kind { cpu, nvptx };
  Kind kind = Kind::cpu;
  /// The processor: of the code, or of the part of a GPU's program that launches its kernels.
  ::weft::jit::TargetOptions cpu;
  /// The GPU by LLVM's name.
  std::string chip = "sm_90a";
  /// Whether the code is the library's own kernels, which call none of its routines.
  bool kernels = false;

  /// This machine's processor.
  static Target host() { return {.cpu = ::weft::jit::TargetOptions::host()}; }
};

/// Makes everything known that Weft's phases read, build or bufferize: all that a context needs for
/// them. A tool that registers all dialects and extensions of MLIR needs it as well.
void registerWeftDialects(DialectRegistry &registry);

/// Registers every pass of Weft's for textual pipelines.
void registerWeftPasses();

/// Registers a pipeline for each phase, `weft-phase-NAME`.
void registerWeftPipelines();

/// Appends the passes of one phase to a pass manager on modules. Each phase's result is textual,
/// verifiable IR, and the next phase takes it from there.
void buildPhase(::weft::Phase phase, OpPassManager &pm, const Target &target);

/// The textual pipeline of one phase: "builtin.module(weft-phase-linalg{target=cpu})".
std::string pipelineOf(::weft::Phase phase, const Target &target);

/// weft.gradient, weft.vjp and weft.jvp -> the `weft.*` ops that compute them.
void buildDifferentiatePhase(OpPassManager &pm, const Target &target);

/// `weft.*` ops -> fewer `weft.*` ops: calls inlined, constants folded, ops merged and simplified.
void buildSimplifyPhase(OpPassManager &pm, const Target &target);

/// Variables read and assigned -> pure functions: values of variables are arguments and results
/// with the attribute weft.variable.
void buildLiftStatePhase(OpPassManager &pm, const Target &target);

/// `weft.*` ops -> linalg on tensors; of weft only print, assert, host_call and
/// check_indices are left.
void buildLinalgPhase(OpPassManager &pm, const Target &target);

/// Linalg on tensors -> the same, fused into the loops that will run.
void buildSchedulePhase(OpPassManager &pm, const Target &target);

/// Tensors -> buffers: functions without results that write to their arguments, temporaries with
/// offsets in an arena, calls of the runtime. The phase `llvm` starts from it.
void buildBufferizePhase(OpPassManager &pm, const Target &target);

/// Buffers -> the LLVM dialect; for nvptx of what launches kernels, which are NVVM in a gpu.module.
void buildLLVMPhase(OpPassManager &pm, const Target &target);

} // namespace mlir::weft
