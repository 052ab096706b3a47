// Takes checks of sizes and indices in front of what computes the tensors that they are about.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::weft {

/// Moves each check of sizes or indices of the function up past ops without effects, to where what
/// it looks at is known; those of sizes come before those of indices, otherwise their order stays.
/// Bufferization lets ops compute where their results are inserted, and past the end of that place,
/// if a check behind them had not ended the call yet.
void hoistChecks(func::FuncOp function);

} // namespace mlir::weft
