// Builds the functions of the kernel table: ops on tensors for the ordinary phases, and the few
// loops that no op says.
#pragma once

#include "Kernels/KernelTable.h"
#include "OpDefs/OpInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace weft::kernelgen {

/// A word of a table: the address of a kernel in the module, or a number if no function is named.
/// The index is that of the table as one flat array of words. A function may have several.
struct TableEntry {
  std::size_t index;
  std::string function = {};
  std::int64_t number = 0;
};

/// The code of one element as text, by which dtypes are told apart: where it only chooses among
/// elements nothing but their size matters, and integers differ by their sign only in some. Empty
/// if there is none.
std::string scalarCode(OpCode op, llvm::ArrayRef<mlir::Type> types, mlir::Type resultType);

/// Adds the kernels that are ops: elementwise, casts, reductions, argmax, each a function of one
/// `weft` op on tensors of unknown sizes, as a traced one would be.
std::vector<TableEntry> buildOps(mlir::ModuleOp module);

/// On a function of several ops, such as an op between casts, that is to be one loop.
inline constexpr llvm::StringLiteral kOneLoop = "weft.one_loop";

/// Before the ops are bufferized: those of such a function become one loop.
mlir::LogicalResult joinLoops(mlir::ModuleOp module);

/// Once the ops are bufferized: powers get loops of their own for the exponents that are common.
void specializePowers(mlir::ModuleOp module);

/// Adds the kernels that are loops on memrefs: cumulative ops, transposed planes.
std::vector<TableEntry> buildLoops(mlir::ModuleOp module);

/// The functions made of ops in a file of weft-kerneltrace's, and their entries of FusedTable. Null
/// if it is not valid.
mlir::OwningOpRef<mlir::ModuleOp> readFused(const std::string &file, mlir::MLIRContext *context,
                                            std::vector<TableEntry> &entries);

/// Once they are bufferized: single numbers of such functions lie on the stack. Fails, with a
/// diagnostic, unless each is one loop over elements.
mlir::LogicalResult finishKernels(mlir::ModuleOp module);

/// Adds a table of so many words, a constant named `name`, to a module whose functions are in the
/// LLVM dialect.
void buildTable(mlir::ModuleOp module, const std::string &name, std::size_t words,
                const std::vector<TableEntry> &entries);

} // namespace weft::kernelgen
