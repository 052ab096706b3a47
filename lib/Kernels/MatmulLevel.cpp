// The matrix kernels of one x86-64 level, and the packing of operands into panels in the order that
// the register tile reads them. The build compiles this file once per level, with that level's
// -march and WEFT_LEVEL set to 2, 3 or 4.
#include "Kernels/MatmulTile.h"
#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {

/// Copies rows of unit column stride into the panel of columns [0, columns).
template <typename T>
void pack_b_rows(int64_t k, int64_t columns, const T *b, int64_t b_row, T *out) {
  constexpr int kWidth = kPanelColumns<T>;
  if (columns == kWidth) {
    for (int64_t p = 0; p < k; ++p) {
      const T *from = b + p * b_row;
#pragma clang loop unroll(full)
      for (int j = 0; j < kTileVectors; ++j)
        store(out + p * kWidth + j * kLanes<T>, load(from + j * kLanes<T>));
      // The next panel's part of this row, which is wanted k rows from now.
      __builtin_prefetch(from + kWidth);
      __builtin_prefetch(from + kWidth + kWidth / 2);
    }
    return;
  }
  for (int64_t p = 0; p < k; ++p)
    for (int j = 0; j < kTileVectors; ++j) {
      const int64_t left = columns - j * kLanes<T>;
      const int lanes = left <= 0 ? 0 : left < kLanes<T> ? int(left) : kLanes<T>;
      store(out + p * kWidth + j * kLanes<T>,
            lanes ? load_first(b + p * b_row + j * kLanes<T>, lanes) : Vec<T>(T(0)));
    }
}

/// Transposes columns of unit row stride into the panel of columns [0, columns).
template <typename T>
void pack_b_columns(int64_t k, int64_t columns, const T *b, int64_t b_col, T *out) {
  constexpr int kWidth = kPanelColumns<T>, kCount = kLanes<T>;
  for (int64_t p = 0; p < k; p += kCount) {
    const int lanes = k - p < kCount ? int(k - p) : kCount;
    for (int j = 0; j < kTileVectors; ++j) {
      Vec<T> square[kCount];
      const int64_t left = columns - j * kCount;
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        square[i] = i < left ? load_first(b + (j * kCount + i) * b_col + p, lanes) : Vec<T>(T(0));
      transpose<T>(square);
      T *to = out + p * kWidth + j * kCount;
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        if (i < lanes) store(to + i * kWidth, square[i]);
    }
  }
}

template <typename T>
void pack_b(int64_t k, int64_t n, const T *b, int64_t b_row, int64_t b_col, T *out, int64_t panel) {
  constexpr int kWidth = kPanelColumns<T>;
  for (int64_t j = 0; j < n; j += kWidth, b += kWidth * b_col, out += panel) {
    const int64_t columns = n - j < kWidth ? n - j : kWidth;
    if (b_col == 1) {
      pack_b_rows(k, columns, b, b_row, out);
    } else if (b_row == 1) {
      pack_b_columns(k, columns, b, b_col, out);
    } else {
      for (int64_t p = 0; p < k; ++p)
        for (int64_t i = 0; i < kWidth; ++i)
          out[p * kWidth + i] = i < columns ? b[p * b_row + i * b_col] : T(0);
    }
  }
}

/// Interleaves `rows` rows of unit column stride. Each store of a whole vector runs over into the
/// position of the next column, which is written afterwards, or into the gap after the panel.
template <typename T>
void pack_a_rows(int64_t rows, int64_t k, const T *a, int64_t a_row, T *out) {
  constexpr int kRows = kTileRows<T>, kCount = kLanes<T>, kSquares = (kRows + kCount - 1) / kCount;
  for (int64_t p = 0; p < k; p += kCount) {
    const int lanes = k - p < kCount ? int(k - p) : kCount;
    Vec<T> square[kSquares][kCount];
#pragma clang loop unroll(full)
    for (int s = 0; s < kSquares; ++s) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i) {
        const int row = s * kCount + i;
        square[s][i] =
            row < kRows && row < rows ? load_first(a + row * a_row + p, lanes) : Vec<T>(T(0));
      }
      transpose<T>(square[s]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kCount; ++i)
      if (i < lanes)
#pragma clang loop unroll(full)
        for (int s = 0; s < kSquares; ++s) store(out + (p + i) * kRows + s * kCount, square[s][i]);
  }
}

template <typename T>
void pack_a(int64_t m, int64_t k, const T *a, int64_t a_row, int64_t a_col, T *out, int64_t panel) {
  constexpr int kRows = kTileRows<T>, kCount = kLanes<T>;
  constexpr int kReach = (kRows + kCount - 1) / kCount * kCount;
  for (int64_t i = 0; i < m; i += kRows, a += kRows * a_row, out += panel) {
    const int64_t rows = m - i < kRows ? m - i : kRows;
    if (a_col == 1) {
      pack_a_rows(rows, k, a, a_row, out);
    } else if (a_row == 1 && m - i >= kReach) {
      for (int64_t p = 0; p < k; ++p) {
#pragma clang loop unroll(full)
        for (int s = 0; s < kReach; s += kCount)
          store(out + p * kRows + s, load(a + p * a_col + s));
        __builtin_prefetch(a + p * a_col + kReach);
      }
    } else {
      for (int64_t p = 0; p < k; ++p)
        for (int64_t r = 0; r < rows; ++r) out[p * kRows + r] = a[r * a_row + p * a_col];
    }
  }
}

namespace {

template <typename T>
void compute_block(const MatmulBlock<T> &block) {
  if constexpr (kIsFloat<T>)
    if (block.a_packed) return run_block<T, true>(block);
  run_block<T, false>(block);
}

template <typename T>
T sum_lanes(Vec<T> value) {
  T lane[kLanes<T>];
  store(lane, value);
#pragma clang loop unroll(full)
  for (int width = kLanes<T> / 2; width > 0; width /= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  return lane[0];
}

/// `Rows` dot products at once: they share the loads of x and hide each other's latency.
template <typename T, int Rows>
void compute_dots(int64_t k, const T *a, int64_t a_row, const T *x, T *y, int64_t y_step) {
  constexpr int kCount = kLanes<T>;
  Vec<T> even[Rows], odd[Rows];
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i) even[i] = odd[i] = Vec<T>(T(0));
  int64_t p = 0;
  for (; p + 2 * kCount <= k; p += 2 * kCount) {
    const Vec<T> first = load(x + p), second = load(x + p + kCount);
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) {
      even[i] = multiply_add<T>(load(a + i * a_row + p), first, even[i]);
      odd[i] = multiply_add<T>(load(a + i * a_row + p + kCount), second, odd[i]);
    }
  }
  for (; p < k; p += kCount) {
    const int lanes = k - p < kCount ? int(k - p) : kCount;
    const Vec<T> first = load_first(x + p, lanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
      even[i] = multiply_add<T>(load_first(a + i * a_row + p, lanes), first, even[i]);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i) y[i * y_step] = sum_lanes<T>(even[i] + odd[i]);
}

template <typename T>
void dots(int64_t m, int64_t k, const T *a, int64_t a_row, const T *x, T *y, int64_t y_step) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) compute_dots<T, 4>(k, a + i * a_row, a_row, x, y + i * y_step, y_step);
  for (; i < m; ++i) compute_dots<T, 1>(k, a + i * a_row, a_row, x, y + i * y_step, y_step);
}

/// Adds `Rows` rows of B, each times its element of A, to c; the first ones to zeros.
template <typename T, int Rows>
void add_rows(int64_t n, const T *a, int64_t a_step, const T *b, int64_t b_row, T *c, bool first) {
  constexpr int kCount = kLanes<T>;
  Vec<T> element[Rows];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r) element[r] = Vec<T>(a[r * a_step]);
  int64_t j = 0;
  for (; j + kCount <= n; j += kCount) {
    Vec<T> sum = first ? Vec<T>(T(0)) : load(c + j);
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) sum = multiply_add<T>(element[r], load(b + r * b_row + j), sum);
    store(c + j, sum);
  }
  if (j == n) return;
  const int lanes = int(n - j);
  Vec<T> sum = first ? Vec<T>(T(0)) : load_first(c + j, lanes);
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
    sum = multiply_add<T>(element[r], load_first(b + r * b_row + j, lanes), sum);
  store_first(c + j, sum, lanes);
}

template <typename T>
void multiply_row(int64_t n, int64_t k, const T *a, int64_t a_step, const T *b, int64_t b_row,
                  T *c) {
  // So many columns at a time that their part of c stays in the first-level cache.
  constexpr int64_t kColumns = 8192 / sizeof(T);
  for (int64_t j = 0; j < n; j += kColumns) {
    const int64_t columns = n - j < kColumns ? n - j : kColumns;
    int64_t p = 0;
    for (; p + 8 <= k; p += 8)
      add_rows<T, 8>(columns, a + p * a_step, a_step, b + p * b_row + j, b_row, c + j, p == 0);
    for (; p < k; ++p)
      add_rows<T, 1>(columns, a + p * a_step, a_step, b + p * b_row + j, b_row, c + j, p == 0);
  }
}

template <typename T>
constexpr MatmulKernels<T> kernels() {
  return {kTileRows<T>,     kPanelColumns<T>, kLanes<T>, !kMaskedAccess,  kIsFloat<T>,
          compute_block<T>, pack_a<T>,        pack_b<T>, multiply_row<T>, dots<T>};
}

} // namespace

// Constant-initialised, so that products work during static initialisation too.
constexpr MatmulLevel kTable = {kernels<float>(), kernels<double>(), kernels<uint32_t>(),
                                kernels<uint64_t>()};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const MatmulLevel matmul_level_v4 = v4::kTable;
#elif WEFT_LEVEL == 3
const MatmulLevel matmul_level_v3 = v3::kTable;
#else
const MatmulLevel matmul_level_v2 = v2::kTable;
#endif

} // namespace weft::kernels
