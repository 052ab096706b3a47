// Handles that are chosen at run time, made numbers.
#pragma once

#include "Weft/Effects/ResourceAnalysis.h"

namespace mlir::weft {

/// For each read and assign of a function the numbers of the variables that it may mean.
using Meanings = DenseMap<Operation *, SmallVector<unsigned, 1>>;

/// Finds what the handles of a function mean. If some are chosen at run time, by scf ops or
/// arith.select, all of the function's handles become indices, the numbers of their variables.
LogicalResult resolveHandles(func::FuncOp function, const ResourceAnalysis &analysis,
                             Meanings &meanings);

} // namespace mlir::weft
