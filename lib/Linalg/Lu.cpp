// LU with the largest element of a column as its pivot: panels of columns, and products for the
// rest.
#include "Linalg/Lu.h"

#include "Support/Threads.h"

namespace weft::kernels {

namespace {

/// Columns of a panel that lies in memory of its own, and is worked on by halves: what a panel
/// costs, which one thread does, against how often the rest goes through the caches.
constexpr std::int64_t panel_columns(std::int64_t size) { return size < 1536 ? 64 : 128; }
/// Columns of the rest that a thread takes a panel away from at a time.
constexpr std::int64_t kStrip = 96;

} // namespace

template <class T>
void Lu<T>::factor(const Matrix<T> &a, std::span<std::int64_t> pivots) {
  const std::int64_t size = std::min(a.rows, a.columns), most = panel_columns(size);
  const auto wide_at = [&](std::int64_t first) { return std::min(most, size - first); };
  const auto own = [&](std::int64_t first) {
    return pivots.subspan(static_cast<std::size_t>(first),
                          static_cast<std::size_t>(wide_at(first)));
  };
  if (size > 0) factor_columns(a.block(0, 0, a.rows, wide_at(0)), own(0), panels_[0]);
  for (std::int64_t first = 0; first < size; first += most) {
    // One thread has the next panel's columns, and factors them while others have the rest.
    const std::int64_t wide = wide_at(first), below = a.rows - first, begin = first + wide,
                       next = wide_at(begin), ahead = next > 0 ? 1 : 0,
                       strips = (a.columns - begin - next + kStrip - 1) / kStrip + ahead;
    const std::size_t number = static_cast<std::size_t>(first / most % 2);
    const Matrix<T> panel = panels_[number].take(wide, below).transposed();
    constexpr std::int64_t kWork = 1 << 20; // products
    threads::parallel_for(
        0, strips, kWork / (below * wide * kStrip) + 1, [&](std::int64_t from, std::int64_t to) {
          Workspace<T> work;
          for (std::int64_t strip = from; strip < to; ++strip) {
            const bool is_next = strip < ahead;
            const std::int64_t left = is_next ? begin : begin + next + (strip - ahead) * kStrip,
                               width = is_next ? next : std::min(kStrip, a.columns - left);
            take_away(panel, own(first), a.block(first, left, below, width), work);
            if (is_next)
              factor_columns(a.block(begin, begin, a.rows - begin, next), own(begin),
                             panels_[1 - number]);
          }
        });
  }
  // What is left of a panel follows the rows.
  threads::parallel_for(
      0, (size + most - 1) / most, rows_each(size * most), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t first = from * most + most; first < size; first += most) {
          const std::int64_t columns = std::min(to * most, first) - from * most;
          exchange_rows<T>(a.block(first, from * most, a.rows - first, columns), own(first));
        }
      });
  for (std::int64_t first = 0; first < size; first += most)
    for (std::int64_t &pivot : own(first)) pivot += first;
}

template <class T>
void Lu<T>::factor_columns(const Matrix<T> &columns, std::span<std::int64_t> pivots,
                           Workspace<T> &memory) {
  const std::int64_t wide = columns.columns;
  // Columns are adjacent elements there.
  const Matrix<T> panel = memory.take(wide, columns.rows).transposed();
  copy<T>(columns, panel);
  factor_panel(panel, pivots);
  copy<T>(panel, columns);
  const Matrix<T> lower = panel.block(wide, 0, panel.rows - wide, wide);
  for (std::int64_t j = 0; j < wide; ++j)
    for (std::int64_t i = 0; i < lower.rows; ++i) lower(i, j) = -lower(i, j);
}

template <class T>
void Lu<T>::take_away(const Matrix<T> &panel, std::span<const std::int64_t> pivots,
                      const Matrix<T> &columns, Workspace<T> &work) {
  const std::int64_t wide = panel.columns, lower = panel.rows - wide;
  exchange_rows<T>(columns, pivots);
  const Matrix<T> rows = columns.block(0, 0, wide, columns.columns);
  solve_triangle<T>(panel.block(0, 0, wide, wide), {.lower = true, .unit = true}, rows, work);
  add_product<T>(columns.block(wide, 0, lower, columns.columns), panel.block(wide, 0, lower, wide),
                 rows);
}

template <class T>
void Lu<T>::factor_panel(const Matrix<T> &a, std::span<std::int64_t> pivots) {
  const std::int64_t columns = a.columns;
  if (columns <= kPanel)
    return linalg_kernels<T>().lu_panel(a.rows, columns, a.data, a.column, pivots.data());
  const std::int64_t half = (columns / 2 + kPanel - 1) / kPanel * kPanel, rest = columns - half;
  const std::span<std::int64_t> first = pivots.first(static_cast<std::size_t>(half)),
                                second = pivots.subspan(static_cast<std::size_t>(half));
  const Matrix<T> left = a.block(0, 0, a.rows, half), right = a.block(0, half, a.rows, rest);
  factor_panel(left, first);
  exchange_rows<T>(right, first);
  const Matrix<T> top = right.block(0, 0, half, rest),
                  bottom = right.block(half, 0, a.rows - half, rest);
  for (std::int64_t j = 0; j < rest; ++j)
    for (std::int64_t p = 0; p + 1 < half; ++p)
      linalg_kernels<T>().subtract(half - 1 - p, top(p, j), &left(p + 1, p), &top(p + 1, j));
  subtract_product<T>(bottom, left.block(half, 0, a.rows - half, half), top, work_);
  factor_panel(bottom, second);
  exchange_rows<T>(left.block(half, 0, a.rows - half, half), second);
  for (std::int64_t &pivot : second) pivot += half;
}

template class Lu<float>;
template class Lu<double>;
template class Lu<std::complex<float>>;
template class Lu<std::complex<double>>;

namespace {

/// The order of rows in the end, from the exchanges of rows.
void write_order(const Matrix<const std::int64_t> &pivots, const Matrix<std::int64_t> &order) {
  for (std::int64_t row = 0; row < order.rows; ++row) order(row, 0) = row;
  for (std::int64_t row = 0; row < pivots.rows; ++row)
    std::swap(order(row, 0), order(pivots(row, 0), 0));
}

} // namespace

namespace routines {

template <class T>
void lu(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t rows = batches.operand<T>(0, 0).rows,
                     columns = batches.operand<T>(0, 0).columns, size = std::min(rows, columns);
  if (size <= kSmall && rows == columns)
    return factor_lanes<T>(
        batches, size,
        [&](std::int64_t first, std::int64_t count, const T *lu, const std::int64_t *pivots) {
          batches.from_lanes<T>(0, first, count, lu);
          batches.from_lanes<std::int64_t>(1, first, count, pivots);
          std::int64_t orders[kSmall * kLanes];
          for (std::int64_t lane = 0; lane < count; ++lane)
            write_order(lane_of(pivots, size, 1, lane), lane_of(orders, size, 1, lane));
          batches.from_lanes<std::int64_t>(2, first, count, orders);
        });
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Lu<T> lu;
    Workspace<T> whole;
    Workspace<std::int64_t> numbers;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<T> factors = batches.result<T>(0, i);
      const Matrix<T> work =
          factors.column == 1 ? factors : whole.take(factors.rows, factors.columns);
      copy<T>(batches.operand<T>(0, i), work);
      std::int64_t *const pivots = numbers.take(size);
      lu.factor(work, {pivots, static_cast<std::size_t>(size)});
      if (work.data != factors.data) copy<T>(work, factors);
      const Matrix<const std::int64_t> exchanged{size, 1, pivots, 1, 1};
      copy_small<std::int64_t>(exchanged, batches.result<std::int64_t>(1, i));
      write_order(exchanged, batches.result<std::int64_t>(2, i));
    }
  });
}
template void lu<float>(const RoutineCall &);
template void lu<double>(const RoutineCall &);
template void lu<std::complex<float>>(const RoutineCall &);
template void lu<std::complex<double>>(const RoutineCall &);

} // namespace routines

} // namespace weft::kernels
