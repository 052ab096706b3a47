// The passes from structured ops on memrefs to the LLVM dialect, as one pipeline.
#pragma once

#include "JIT/TargetOptions.h"
#include "mlir/Pass/PassManager.h"

namespace weft::jit {

/// How public functions are entered: as compiled functions (lib/Runtime/CallContext.h) or as
/// kernels of the table (lib/Kernels/KernelTable.h).
enum class EntryKind { function, kernel };

/// Adds the passes of phase `llvm` to a pass manager of modules.
void buildLLVMPipeline(mlir::OpPassManager &passes, const TargetOptions &target,
                       EntryKind entries = EntryKind::function);

} // namespace weft::jit
