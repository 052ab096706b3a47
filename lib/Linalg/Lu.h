// LU of one matrix after another, for the routines that factor on their way.
#pragma once

#include <algorithm>
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
  /// Factors a panel's columns, and leaves in `memory` the same with what is below the triangles
  /// negated, as columns that are adjacent elements.
  void factor_columns(const Matrix<T> &columns, std::span<std::int64_t> pivots,
                      Workspace<T> &memory);
  /// Takes away from columns right of a panel what its own have of them.
  static void take_away(const Matrix<T> &panel, std::span<const std::int64_t> pivots,
                        const Matrix<T> &columns, Workspace<T> &work);
  /// `factor` of columns that are adjacent elements, with pivots counted from the panel's first
  /// row.
  void factor_panel(const Matrix<T> &a, std::span<std::int64_t> pivots);

  Workspace<T> panels_[2], work_; ///< one panel is factored while another is taken away
};

/// Factors small square matrices of a batch, a lane each, and calls `use(first, count, lu, pivots)`
/// for the lanes of `count` matrices from `first` on, on several threads.
template <class T, class Use>
void factor_lanes(const Batches &batches, std::int64_t size, const Use &use) {
  const std::int64_t groups = (batches.count() + kLanes - 1) / kLanes;
  batches.for_each_group(size, groups, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> work;
    Workspace<std::int64_t> numbers;
    T *const lanes = work.take(size * size * kLanes);
    std::int64_t *const pivots = numbers.take(size * kLanes);
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kLanes, count = std::min(kLanes, batches.count() - first);
      if (count < kLanes) std::fill_n(lanes, size * size * kLanes, T(0));
      batches.to_lanes<T>(0, first, count, lanes);
      linalg_kernels<T>().lu_lanes(size, lanes, pivots);
      use(first, count, lanes, pivots);
    }
  });
}

} // namespace weft::kernels
