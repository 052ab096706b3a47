// Elementwise ops that read along one axis and write along another, by tiles in shared memory.
#pragma once

#include "Weft/Conversion/LoopsToGpu/RowKernels.h"

namespace mlir::weft {

/// Whether an op without reductions reads inputs whose fastest axis is another than that of its
/// results, with enough of both for tiles.
bool isTranspose(linalg::GenericOp op);

/// Builds the launch of such an op where `b` is, after which it is unused. A block has a tile of
/// 32 x 32 elements: it reads such inputs along their fastest axis and keeps them in shared memory,
/// in lines that are longer by one element, so that neither way meets a bank twice.
gpu::LaunchOp buildTranspose(ImplicitLocOpBuilder &b, const Nest &nest, StringRef module,
                             StringRef kernel);

} // namespace mlir::weft
