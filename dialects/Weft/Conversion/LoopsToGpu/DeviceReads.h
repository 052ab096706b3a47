// Which buffers are the host's, and what it reads in the device's for launches alone.
#pragma once

#include "Weft/IR/Buffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::weft {

/// Whether a buffer is the host's: memory on the stack, where lists for the runtime are, and
/// constants where they are read at once. All other buffers are the device's.
bool isOfHost(Value buffer);

/// Where a temporary begins and ends in the arena, if it is there: temporaries are given the memory
/// of those that nobody reads any more.
std::optional<std::pair<int64_t, int64_t>> placeInArena(Value root);

/// Whether two buffers may share memory, one of which is written.
bool mayShare(Value written, Value other);

/// What the host reads in a buffer of the device for launches alone is read by the launches, with
/// the arithmetic on it, unless something has been written there since.
void readOnDevice(func::FuncOp function, ArrayRef<gpu::LaunchOp> launches);

} // namespace mlir::weft
