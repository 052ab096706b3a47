// The sizes at which the matrix product changes its way of working, all in one file.
//
// They were found by timing each way on either side; docs/matmul.md has the figures and says how to
// take them again. None of them depends on the number of threads, so the result does not either.
#pragma once

#include <cstdint>

namespace weft::kernels {

// When another thread pays. A parallel loop costs about 1 us when its threads are still spinning.

/// Multiply-adds that make a thread's share, about 3 us of them on one core.
constexpr int64_t kThreadWork = 400'000;
/// The same for products with a vector, which wait for memory.
constexpr int64_t kVectorWork = 100'000;
/// Elements to pack that make a thread's share.
constexpr int64_t kPackWork = 1 << 14;

// The direct way: A and B are read where they are.

/// A single row is multiplied with B row by row when B has more bytes than this, the first-level
/// cache, and else in registers.
constexpr int64_t kRowBytes = 32 << 10;
/// So many tiles or panels have to read an operand before it can pay to copy it to where its rows
/// do not push each other out of the caches. Below that, packing took up to a fifth of the time.
constexpr int64_t kReusingTiles = 8;
/// Bytes of B that are packed at a time, by each thread for itself: they stay in its second-level
/// cache until they are used.
constexpr int64_t kDirectPackBytes = 128 << 10;
/// Up to so many steps of k a product is bound by writing C, which then is written by rows of
/// tiles: by panels of B, which are a few cache lines wide, it takes up to three times as long.
constexpr int64_t kThinDepth = 16;
/// The largest A in bytes: A is read once per panel of B, so it should stay in the last-level
/// cache.
constexpr int64_t kDirectBytes = 8 << 20;
/// The largest k: a panel of B should stay in the second-level cache.
constexpr int64_t kDirectDepth = 4096;

// The blocked way, for what is larger: k is cut in slices, and A and B are packed slice by slice.

/// Steps of k in a slice. C is read and written once per slice: a 2048 cube takes 5 % longer with
/// 256, 1 % longer with 512, and 2 % longer with 2048, when a panel of B is a quarter of the cache.
constexpr int64_t kSliceDepth = 1024;
/// Bytes of packed A that a panel of B is used for before the next panel: they share the
/// second-level cache with it. Half of it and twice as much are 1 % slower.
constexpr int64_t kRowBlockBytes = 384 << 10;
/// Rows of A and columns of B that are packed at a time, which bounds the packing memory to 32 MiB
/// for f32.
constexpr int64_t kMostPacked = 4096;

} // namespace weft::kernels
