// The inner loops of linear algebra that one x86-64 level offers; LinalgLevel.cpp fills the table
// once per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// A complex number as it lies in memory.
template <typename T>
struct ComplexNumber {
  T re, im;
};

/// Loops on elements of one type, real or complex numbers. All round as they are written, with no
/// fused product, so that every level gives the same bits.
template <typename T>
struct LinalgKernels {
  /// Factors a panel of `columns` columns, at most kPanel, each of `rows` adjacent elements, `step`
  /// apart: L and U in place, and the row that each row was exchanged with.
  void (*lu_panel)(int64_t rows, int64_t columns, T *a, int64_t step, int64_t *pivots);

  /// B becomes L^-1 B, where L is `rows` x `rows`, at most kPanel, of which the lower triangle is
  /// read by any strides, and rows of B are adjacent elements, `b_row` apart. The diagonal is not
  /// read if it is `unit`.
  void (*solve_rows)(int64_t rows, int64_t columns, const T *l, int64_t l_row, int64_t l_col,
                     bool unit, T *b, int64_t b_row);

  /// The sum of x[i] y[i], in an order that its length alone decides; and that of conj(x[i]) y[i].
  T (*dot)(int64_t count, const T *x, const T *y);
  T (*inner)(int64_t count, const T *x, const T *y);

  /// y[i] -= factor x[i].
  void (*subtract)(int64_t count, T factor, const T *x, T *y);

  /// LU of kLanes square matrices of at most kSmall rows at once: element (i, j) of each is one of
  /// kLanes adjacent elements, `[i][j][lane]`, as is the row that row i was exchanged with.
  void (*lu_lanes)(int64_t size, T *a, int64_t *pivots);

  /// What such triangles, or themselves transposed, take to `columns` right sides,
  /// `[i][column][lane]`, whose rows are in the order of the triangles.
  void (*solve_lanes)(int64_t size, int64_t columns, const T *a, T *b, bool transposed);
};

/// The most rows or columns that a panel has.
constexpr int64_t kPanel = 8;
/// The most rows of matrices that are done a lane each, or by rotations, and how many lanes there
/// are.
constexpr int64_t kSmall = 16, kLanes = 16;

/// Moves `count` adjacent elements of each of kLanes matrices, `step` apart, to `[element][lane]`,
/// or back.
template <typename T>
struct LaneMoves {
  void (*to_lanes)(int64_t count, const T *matrices, int64_t step, T *lanes);
  void (*from_lanes)(int64_t count, const T *lanes, T *matrices, int64_t step);
};

struct LinalgLevel {
  LinalgKernels<float> f32;
  LinalgKernels<double> f64;
  LinalgKernels<ComplexNumber<float>> c64;
  LinalgKernels<ComplexNumber<double>> c128;
  LaneMoves<uint32_t> moves_4; ///< of elements of 4 bytes
  LaneMoves<uint64_t> moves_8;
};

extern const LinalgLevel linalg_level_v2;
extern const LinalgLevel linalg_level_v3;
extern const LinalgLevel linalg_level_v4;

} // namespace weft::kernels
