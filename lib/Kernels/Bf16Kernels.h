// The table of kernels for products of bf16 that one x86-64 level offers; Bf16Level.cpp fills it
// once per level, and once more for processors that multiply pairs.
//
// As MatmulKernels.h it holds plain data only.
#pragma once

#include "Kernels/MatmulKernels.h"

#include <cstdint>

namespace weft::kernels {

/// A product of few rows, whose A is packed row by row, [row][step], and whose B is in place: its
/// columns or its rows have neighbours in memory. Strides count elements.
struct Bf16ThinProduct {
  int64_t m, n, k; ///< m at most kMostThinRows
  const float *a;
  int64_t a_row;
  const uint16_t *b;
  int64_t b_row, b_col; ///< one of them 1
  uint16_t *c;
  int64_t c_row, c_col;
};
inline constexpr int64_t kMostThinRows = 4;

/// Packed operands have 32 bits per step of k, in the bits of floats: a bf16 widened to a float, or
/// where the processor multiplies pairs two of them, the one that comes first in the high half. Of
/// an odd k a zero is the last.
struct Bf16Kernels {
  int64_t tile_rows, panel_columns, lanes; ///< as in MatmulKernels
  int64_t step;                            ///< elements of k in 32 bits: 1 or 2

  /// Packs A[m, k] and B[k, n] as MatmulKernels has it, with ceil(k / 2) * 2 / step steps.
  void (*pack_a)(int64_t m, int64_t k, const uint16_t *a, int64_t a_row, int64_t a_col, float *out,
                 int64_t panel);
  void (*pack_b)(int64_t k, int64_t n, const uint16_t *b, int64_t b_row, int64_t b_col, float *out,
                 int64_t panel);
  /// Packs A[m, k] row by row, `out_row` apart.
  void (*pack_rows)(int64_t m, int64_t k, const uint16_t *a, int64_t a_row, int64_t a_col,
                    float *out, int64_t out_row);
  /// Rounds too. Wants denormals flushed where `block` is null.
  void (*thin)(const Bf16ThinProduct &product);
  /// Sums of products of packed operands, `k` steps of them; null where it is the level's own for
  /// floats, which wants denormals flushed by the thread's control register.
  void (*block)(const MatmulBlock<float> &block);
  /// Rounds sums to bf16: to the nearest, of two to the even one, and NaN stays NaN.
  void (*round)(int64_t rows, int64_t columns, const float *sums, int64_t sums_row, uint16_t *c,
                int64_t c_row);
};

extern const Bf16Kernels bf16_kernels_v2;
extern const Bf16Kernels bf16_kernels_v3;
extern const Bf16Kernels bf16_kernels_v4;
extern const Bf16Kernels bf16_kernels_pairs; ///< v4 with AVX512_BF16

} // namespace weft::kernels
