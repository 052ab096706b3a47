// From the LLVM dialect to object code.
#pragma once

#include "JIT/TargetOptions.h"
#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace weft::jit {

/// Milliseconds that each phase below MLIR took.
struct PhaseTimes {
  double translate = 0;
  double optimize = 0;
  double codegen = 0;
  double link = 0;
};

/// Makes the translations from MLIR to LLVM IR known; for the registry of the context that modules
/// are built in.
void registerTranslations(mlir::DialectRegistry &registry);

/// What is wrong with an x86-64 processor's name ("znver5", "x86-64-v3"): LLVM ends the process
/// when it is to make code for one that it does not know or that has 32 bits.
Check checkProcessor(const std::string &name);

/// An object file for a module in the LLVM dialect, the same for running at once and for linking
/// ahead of time. May be called from several threads on different contexts.
Result<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(mlir::ModuleOp module, const TargetOptions &target, PhaseTimes *times = nullptr);

/// The same as assembly text, for people.
Result<std::string> compileToAssembly(mlir::ModuleOp module, const TargetOptions &target);

/// The optimised LLVM IR as text, for people.
Result<std::string> compileToLLVMIR(mlir::ModuleOp module, const TargetOptions &target);

} // namespace weft::jit
