// The passes from structured ops on buffers to GPU code, and PTX text.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace weft::jit {

/// Makes known what the GPU pipeline converts, attaches and translates.
void registerGpuTarget(mlir::DialectRegistry &registry);

/// Whether LLVM knows this GPU ("sm_90a").
bool isGpuChip(const std::string &chip);

/// Adds the passes of phase `llvm` for a GPU: afterwards each launch is a gpu.module in the LLVM
/// and NVVM dialects, with `chip` ("sm_90a") as its target. Nothing in it calls a library.
void buildGpuPipeline(mlir::OpPassManager &passes, const std::string &chip);

/// The PTX text of a module after that: all its kernels, one after the other.
Result<std::string> emitPtx(mlir::ModuleOp module);

} // namespace weft::jit
