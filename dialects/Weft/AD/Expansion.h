// One derivative of a function, expanded where it stands.
#pragma once

#include <vector>

#include "Support/Checkpoint.h"
#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <weft/phase.h>

namespace mlir::weft {

/// The function that a weft.gradient, weft.vjp or weft.jvp differentiates; null for other ops.
FlatSymbolRefAttr differentiatedFunction(Operation *op);

/// Replaces such an op by the body of its function and the ops of the derivative. The function and
/// what it calls contain no such op any more. Loops keep what the op's `checkpoint` allows, or
/// `checkpoint` where it has none. Adds notes on what is stored. Gives a diagnostic and fails where
/// the code has no derivative.
LogicalResult expandDerivative(Operation *op, SymbolTable &symbols,
                               ::weft::CheckpointBudget checkpoint,
                               std::vector<::weft::SavedNote> &notes);

} // namespace mlir::weft
