// Matrices of tests, in every way in which an operand may lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace weft::kernels {

enum class Layout { rows, columns, padded_rows, padded_columns, both_strided, reversed };
constexpr Layout kLayouts[] = {Layout::rows,           Layout::columns,      Layout::padded_rows,
                               Layout::padded_columns, Layout::both_strided, Layout::reversed};

/// A matrix with its strides; the elements between its own are poison that no kernel may use.
template <typename T>
struct StridedMatrix {
  int64_t rows, columns, row_step = 0, column_step = 0, start = 0;
  std::vector<T> storage;

  template <typename Draw>
  StridedMatrix(int64_t rows_, int64_t columns_, Layout layout, T poison, const Draw &draw)
      : rows(rows_), columns(columns_) {
    switch (layout) {
    case Layout::rows: row_step = columns, column_step = 1; break;
    case Layout::columns: row_step = 1, column_step = rows; break;
    case Layout::padded_rows: row_step = columns + 3, column_step = 1; break;
    case Layout::padded_columns: row_step = 1, column_step = rows + 5; break;
    case Layout::both_strided: row_step = 2 * columns + 1, column_step = 2; break;
    case Layout::reversed:
      row_step = -columns, column_step = -1, start = std::max<int64_t>(rows * columns - 1, 0);
      break;
    }
    const int64_t last =
        rows && columns ? std::abs(row_step) * (rows - 1) + std::abs(column_step) * (columns - 1)
                        : -1;
    storage.assign(static_cast<std::size_t>(last + 1), poison);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) at(i, j) = draw();
  }

  T *data() { return storage.data() + start; }
  const T *data() const { return storage.data() + start; }
  T &at(int64_t i, int64_t j) { return data()[i * row_step + j * column_step]; }
  const T &at(int64_t i, int64_t j) const { return data()[i * row_step + j * column_step]; }
};

} // namespace weft::kernels
