// Elements that launches read for themselves, in place of the host.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::weft {

/// Whether a buffer is in the host's memory, as only lists of numbers for its own calls are.
bool isOfHost(Value buffer);

/// Lets `launches` read what the host read in buffers of the device for them alone, and erases
/// what nobody uses then. Fails, with a diagnostic, where the host reads elements still.
LogicalResult readOnDevice(func::FuncOp function, ArrayRef<gpu::LaunchOp> launches);

} // namespace mlir::weft
