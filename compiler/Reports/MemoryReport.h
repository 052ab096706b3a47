// What a bufferized function still copies and allocates, and which variables it updates in place.
#pragma once

#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <weft/phase.h>

namespace mlir::weft {

/// The notes on a function that has gone through phase bufferize, in program order: outputs,
/// variables, then allocations and copies. Temporaries in the function's one block of memory are
/// not among them.
std::vector<::weft::MemoryNote> memoryNotesOf(func::FuncOp function);

/// The same as a report, which also says how large the block of temporaries is.
::weft::CompileReport memoryReportOf(func::FuncOp function);

} // namespace mlir::weft
