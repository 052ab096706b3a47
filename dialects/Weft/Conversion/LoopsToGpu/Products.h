// Matrix products by tiles in shared memory, with the order of sums that processors have.
#pragma once

#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

namespace mlir::weft {

/// A sum of `partial` and a product, rounded once, as the library's products do: a fused op in
/// place of what `sum` is, which is another value otherwise.
Value fuseProduct(ImplicitLocOpBuilder &b, Value sum, Value partial);

/// Whether a product has rows and columns enough for tiles.
bool isWorthTiles(linalg::GenericOp op);

/// Builds the launch of such a product in its place, after which it is unused. Every result is one
/// chain of sums in the order of the reduced loop, as of any other kernel. `starts` are what
/// results begin with: as stored, where one is null.
///
/// A block has a tile of 64 x 64 or 128 x 128 results, 4 x 4 or 8 x 8 of a thread in registers, and
/// goes along the reduced loop by parts of both operands, which it copies to shared memory.
gpu::LaunchOp buildProduct(ImplicitLocOpBuilder &b, linalg::GenericOp op, ArrayRef<Value> starts,
                           StringRef module, StringRef kernel);

} // namespace mlir::weft
