// Packing of matrix operands into panels in the order the register tile reads them.
#pragma once

#include "Kernels/MatmulTile.h"

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

} // namespace WEFT_LEVEL_NAMESPACE
