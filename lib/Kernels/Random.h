// Random numbers: the one entry behind eager and compiled draw_uniform and draw_permutation.
#pragma once

#include "Kernels/RandomKernels.h"
#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// Writes `size` adjacent elements of the stream, from number `first` on, which a block begins
/// with: floats of [0, 1), integers and bools of all values. The stream is described with the op
/// `draw_uniform`.
void draw_uniform(DType dtype, const RandomStream &stream, std::int64_t first, std::int64_t size,
                  void *to) noexcept;

/// Writes the numbers below `count`, adjacent, in an order drawn from the stream: that of the op
/// `draw_permutation`. The dtype, i32 or i64, holds them.
void draw_permutation(DType dtype, const RandomStream &stream, std::int64_t count,
                      void *to) noexcept;

/// Two numbers of each of these blocks, as FillPairs has it.
void draw_pairs(const RandomStream &stream, std::uint64_t block, int count, const int *places,
                double *first, double *second) noexcept;

/// The kernels of that level (at most the host's). For tests.
const RandomLevel &random_level(CpuLevel level);

/// `draw_uniform` on kernels of a given level (at most the host's). For tests.
void draw_uniform_forced(DType dtype, const RandomStream &stream, std::int64_t first,
                         std::int64_t size, void *to, CpuLevel level) noexcept;

} // namespace weft::kernels

// The same for compiled code. `shape` holds `rank` sizes, and as many strides in elements.
#define WEFT_UNIFORM_ENTRY(Type, Name)                                                             \
  extern "C" void weft_rt_draw_uniform_##Name(std::int64_t seed, std::int64_t stream,              \
                                              std::int64_t rank, const std::int64_t *shape,        \
                                              Type *to) noexcept;
WEFT_UNIFORM_ENTRY(float, f32)
WEFT_UNIFORM_ENTRY(double, f64)
WEFT_UNIFORM_ENTRY(std::int32_t, i32)
WEFT_UNIFORM_ENTRY(std::int64_t, i64)
WEFT_UNIFORM_ENTRY(bool, bool)
#undef WEFT_UNIFORM_ENTRY
#define WEFT_PERMUTATION_ENTRY(Type, Name)                                                         \
  extern "C" void weft_rt_draw_permutation_##Name(std::int64_t seed, std::int64_t stream,          \
                                                  std::int64_t rank, const std::int64_t *shape,    \
                                                  Type *to) noexcept;
WEFT_PERMUTATION_ENTRY(std::int32_t, i32)
WEFT_PERMUTATION_ENTRY(std::int64_t, i64)
#undef WEFT_PERMUTATION_ENTRY
