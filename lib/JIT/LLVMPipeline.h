// The passes from structured ops on memrefs to the LLVM dialect, as one pipeline.
#pragma once

#include "JIT/TargetOptions.h"
#include "mlir/Pass/PassManager.h"

namespace weft::jit {

/// Adds the passes of phase `llvm` to a pass manager of modules.
void buildLLVMPipeline(mlir::OpPassManager &passes, const TargetOptions &target);

} // namespace weft::jit
