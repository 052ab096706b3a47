// Builds the functions of the kernel table: ops on tensors for the ordinary phases, and the few
// loops that no op says.
#pragma once

#include "Kernels/KernelTable.h"
#include "OpDefs/OpInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace weft::kernelgen {

/// A kernel in the module, and where its address goes: an index of KernelTable as one flat array of
/// pointers. A function may have several places.
struct KernelPlace {
  std::string function;
  std::size_t index;
};

/// Adds the kernels that are ops: elementwise, casts, reductions, argmax, each a function of one
/// `weft` op on tensors of unknown sizes, as a traced one would be.
std::vector<KernelPlace> buildOps(mlir::ModuleOp module);

/// Once the ops are bufferized: powers get loops of their own for the exponents that are common.
void specializePowers(mlir::ModuleOp module);

/// Adds the kernels that are loops on memrefs: cumulative ops, transposed planes.
std::vector<KernelPlace> buildLoops(mlir::ModuleOp module);

/// Adds the table, a constant named `name`, to a module whose functions are in the LLVM dialect.
void buildTable(mlir::ModuleOp module, const std::string &name,
                const std::vector<KernelPlace> &kernels);

} // namespace weft::kernelgen
