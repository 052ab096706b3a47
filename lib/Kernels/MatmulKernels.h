// The table of matrix kernels that one x86-64 level offers; MatmulLevel.cpp fills it once per
// level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// One block C[m, n] = A[m, k] B[k, n], or += when `accumulate` or `add`. Strides count elements.
///
/// A is either in place (any `a_row`, `a_col`) or packed by `pack_a`; B has unit column stride
/// (`b_row` any, `b_panel` = panel_columns) or is packed by `pack_b`. Every element of C is one
/// chain of multiply-adds over k in ascending order, which starts from 0 or, when `accumulate`,
/// from the old element, so its value depends neither on how C is cut into blocks nor on how k is.
/// When `add`, the chain starts from 0 and the old element is added in the end.
template <typename T>
struct MatmulBlock {
  int64_t m, n, k;
  const T *a;
  int64_t a_row, a_col;
  const T *b;
  int64_t b_row;
  int64_t b_panel; ///< Elements from one panel of `panel_columns` columns to the next.
  T *c;
  int64_t c_row;
  bool a_packed;
  bool b_packed;
  bool accumulate;
  bool add;
  /// Room for `k * panel_columns` elements, wanted where `needs_tail` and n is not a multiple of
  /// `lanes` and B is in place; may be null otherwise.
  T *tail;
  /// With `taps` above 0 the chain goes over (tap, k): A of tap t begins `a_taps[t]` elements after
  /// `a`, and B has taps * k rows. A is in place then.
  int64_t taps;
  const int64_t *a_taps;
};

/// Kernels for one element type. Integers are unsigned here: the bits are the same and they wrap.
template <typename T>
struct MatmulKernels {
  int64_t tile_rows;     ///< Rows of A per packed panel.
  int64_t panel_columns; ///< Columns of B per panel.
  int64_t lanes;         ///< Elements per vector.
  bool needs_tail;       ///< No masked loads at this level: a ragged last vector of B is staged.
  bool packs_a;          ///< Kernels for packed A exist.

  void (*block)(const MatmulBlock<T> &block);

  /// Packs A[m, k] into panels of `tile_rows` rows, [panel][k][row], `panel` elements apart (at
  /// least tile_rows * k + lanes).
  void (*pack_a)(int64_t m, int64_t k, const T *a, int64_t a_row, int64_t a_col, T *out,
                 int64_t panel);

  /// Packs B[k, n] into panels of `panel_columns` columns, [panel][k][column], padded with zeros,
  /// `panel` elements apart (at least panel_columns * k).
  void (*pack_b)(int64_t k, int64_t n, const T *b, int64_t b_row, int64_t b_col, T *out,
                 int64_t panel);

  /// c[j] = sum over p of a[p * a_step] * b[p * b_row + j], each one chain over p as in `block`:
  /// reads whole rows of B, which a large B in memory wants.
  void (*row)(int64_t n, int64_t k, const T *a, int64_t a_step, const T *b, int64_t b_row, T *c);

  /// y[i * y_step] = sum over j of a[i * a_row + j] * x[j]: rows of A and x have unit stride. Each
  /// sum runs in 2 * lanes interleaved chains that are added pairwise at the end.
  void (*dots)(int64_t m, int64_t k, const T *a, int64_t a_row, const T *x, T *y, int64_t y_step);
};

/// All element types of one level.
struct MatmulLevel {
  MatmulKernels<float> f32;
  MatmulKernels<double> f64;
  MatmulKernels<uint32_t> i32;
  MatmulKernels<uint64_t> i64;
};

extern const MatmulLevel matmul_level_v2;
extern const MatmulLevel matmul_level_v3;
extern const MatmulLevel matmul_level_v4;

} // namespace weft::kernels
