// Reductions spread over the threads of blocks, in an order that depends on sizes alone.
#pragma once

#include "Weft/Conversion/LoopsToGpu/Combining.h"
#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

namespace mlir::weft {

/// Whether it has combiners, and more threads than one for each result are worth it.
bool isWorthThreads(linalg::GenericOp op);

/// Builds the launches of such a reduction in its place, after which it is unused.
/// `starts` are what results begin with: as stored, where one is null.
///
/// Where the fastest axis of the inputs is reduced, 8, 32 or 256 threads run along it together and
/// combine what they have by shuffles and shared memory; otherwise 32 neighbouring results belong
/// to a block, and its 8 warps share the reduced axes. Few results of many elements are made in
/// parts, by a second launch which combines them.
SmallVector<gpu::LaunchOp> buildReduction(ImplicitLocOpBuilder &b, linalg::GenericOp op,
                                          ArrayRef<Value> starts, StringRef module,
                                          StringRef kernel);

} // namespace mlir::weft
