// Builds the functions of the kernel table, each a few structured ops on memrefs.
#pragma once

#include "Kernels/KernelTable.h"
#include "OpDefs/OpInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace weft::kernelgen {

/// A kernel in the module, and where its address goes: an index of KernelTable as one flat array of
/// pointers.
struct KernelPlace {
  std::string function;
  std::size_t index;
};

/// Adds every kernel that the op records admit to `module`.
std::vector<KernelPlace> buildKernels(mlir::ModuleOp module);

/// Adds the table, a constant named `name`, to a module whose functions are in the LLVM dialect.
void buildTable(mlir::ModuleOp module, const std::string &name,
                const std::vector<KernelPlace> &kernels);

} // namespace weft::kernelgen
