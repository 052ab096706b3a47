// LU of one matrix after another, for the routines that factor on their way.
#pragma once

#include <span>

#include "Linalg/Triangular.h"

namespace weft::kernels {

/// Factors matrices by panels of columns; its memory serves one after the other.
template <class T>
class Lu {
public:
  /// Factors `a`, whose rows are adjacent elements, in place: the triangles, and the row that each
  /// row is exchanged with.
  void factor(const Matrix<T> &a, std::span<std::int64_t> pivots);

private:
  /// The same of columns that are adjacent elements, with pivots counted from the panel's first
  /// row.
  void factor_panel(const Matrix<T> &a, std::span<std::int64_t> pivots);

  Workspace<T> panel_, work_;
};

} // namespace weft::kernels
