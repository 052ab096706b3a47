// Matrix products and convolutions by tiles in shared memory, with the order of sums that
// processors have.
#pragma once

#include "Weft/Conversion/LoopsToGpu/RowKernels.h"

namespace mlir::weft {

/// A sum of `partial` and a product, rounded once, as the library's products do: a fused op in
/// place of what `sum` is, which is another value otherwise.
Value fuseProduct(ImplicitLocOpBuilder &b, Value sum, Value partial);

/// Whether an op sums products of two values of its body, each decided by some of the loops alone,
/// with rows and columns enough for tiles: a matrix product, a convolution, whose rows are
/// positions, or one of its gradients.
bool isWorthTiles(linalg::GenericOp op);

/// Whether one side of a product is known to be a single row or column.
bool isWithVector(linalg::GenericOp op);

/// Whether an op computes each of its elements from one result of a product right before it, and
/// can do so where that result is in registers.
bool isEpilogue(const Nest &product, const Nest &next);

/// What kernels of a chip can do.
struct ChipTraits {
  /// `capability` is the number of its name: 80 of sm_80.
  static ChipTraits of(unsigned capability, bool hasWarpgroups);

  bool hasAsyncCopies = false;     ///< copies to shared memory beside the program
  bool hasNarrowFragments = false; ///< multiplies fragments of bf16 and f16
  bool hasWarpgroups = false;      ///< four warps multiply matrices in shared memory
  bool roundsToTf32 = false;       ///< products of f32 may be of tf32
  /// Rows of the fragments of f64 that it multiplies faster than single numbers; 0 of others.
  int64_t rowsOfDoubles = 0;
};

/// Builds the launches of such a product where `b` is, after which it is unused, and its epilogue,
/// if there is one. A block has a tile of 64 x 64, 128 x 64 or 128 x 128 results, up to 8 x 8 of a
/// thread in registers, and goes along the reduced loops by parts of both factors, which it copies
/// to shared memory, 16 bytes at a time where these lie side by side.
///
/// Every result of a product of matrices is one chain of sums in the order of the reduced loop, as
/// of any other kernel. What else has long sums and few tiles sums up parts of them in blocks of
/// their own, which a second launch adds in their order. Where the chip has tensor cores, these do
/// products of bf16 and f16, with tiles of up to 256 x 128 results, and sum 16 products at a time
/// in an order and with roundings of their own; large ones by warpgroups, where the chip has these,
/// which read matrices in shared memory by themselves. Those of f64 are chains there too. Parts for
/// tensor cores, and of f32, are copied beside the program, several ahead, if 16 bytes of both
/// factors are as in memory.
SmallVector<gpu::LaunchOp> buildProduct(ImplicitLocOpBuilder &b, const Nest &product,
                                        const Nest *epilogue, const ChipTraits &chip,
                                        StringRef module, StringRef kernel);

} // namespace mlir::weft
