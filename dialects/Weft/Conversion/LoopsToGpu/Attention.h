// Attention and its gradients as one kernel each, on tensor cores.
#pragma once

#include "Weft/Conversion/LoopsToGpu/KernelBody.h"
#include "Weft/IR/Weft.h"

namespace mlir::weft {

/// Builds the launch of an attention, or of its gradients, on dense buffers, for which there is a
/// kernel, where `b` is (FlashAttention-2, Dao 2023). A block has 128 rows, whose queries are in
/// shared memory, and a warp 32 of them: their means and sums are in registers, in f32, while keys
/// and values go by, 64 at a time, copied beside the program. Scores are exponentiated relative to
/// the largest one so far, and what was summed is scaled where that changes; weights are rounded to
/// the format. Tiles that a causal row cannot see are left out. The order of sums depends on sizes
/// alone.
gpu::LaunchOp buildAttention(ImplicitLocOpBuilder &b, Operation *op, StringRef module,
                             StringRef kernel);

/// That of its gradients. Some blocks have keys, and sum up what rows, which go by, make of the
/// gradients of these and of their values; the others have rows, and sum up what keys make of
/// theirs. So both compute the weights, and nothing is summed up in memory: the order of sums
/// depends on sizes alone.
gpu::LaunchOp buildAttentionGradients(ImplicitLocOpBuilder &b, AttentionGradientsOp op,
                                      StringRef module, StringRef kernel);

} // namespace mlir::weft
