// Which buffers are the host's, and what it reads in the device's for launches alone.
#pragma once

#include "Weft/IR/Buffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::weft {

/// Whether a buffer is the host's: memory on the stack, where lists for the runtime are, and
/// constants where they are read at once. All other buffers are the device's.
bool isOfHost(Value buffer);

/// What the host reads in a buffer of the device for launches alone is read by the launches, with
/// the arithmetic on it, unless something has been written there since.
void readOnDevice(func::FuncOp function, ArrayRef<gpu::LaunchOp> launches);

} // namespace mlir::weft
