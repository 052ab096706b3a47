// The passes from structured ops on buffers to GPU code and its host's, and PTX text.
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

/// Whether kernels for it may multiply fragments of bf16 and f16.
bool hasTensorCores(const std::string &chip);

/// Adds the first passes of phase `llvm` for a GPU: afterwards there is one gpu.module with all
/// kernels in the LLVM and NVVM dialects, with `chip` ("sm_90a") as its target, which call no
/// library; the functions that launch them are what the passes for a processor take.
void buildGpuPipeline(mlir::OpPassManager &passes, const std::string &chip);

/// The PTX text of a module after that: all its kernels, in their order.
Result<std::string> emitPtx(mlir::ModuleOp module);

/// Puts the PTX of a module into it as a constant of the host's part: an array that ends in a NUL,
/// under that name, whose first line is a digest of it.
Check embedPtx(mlir::ModuleOp module, const std::string &ptx, llvm::StringRef name);

/// While it lives, a module without its kernels: the host's part of a program.
class HostPart {
public:
  explicit HostPart(mlir::ModuleOp module);
  ~HostPart();
  HostPart(const HostPart &) = delete;
  HostPart &operator=(const HostPart &) = delete;

private:
  mlir::ModuleOp module;
  llvm::SmallVector<mlir::Operation *, 1> kernels;
};

} // namespace weft::jit
