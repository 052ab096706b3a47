// Solves with triangles, by halves: products do all but the solves of small triangles on the
// diagonal.
#include "Linalg/Lu.h"

#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::kernels {

/// One column of right sides.
template <class T>
static void solve_vector(const Matrix<const T> &t, Triangle which, const Matrix<T> &b) {
  const auto &kernels = linalg_kernels<T>();
  T *const x = b.data;
  const std::int64_t size = t.rows;
  if (t.column == 1) { // rows times what is known: before a block of unknowns by several threads
    constexpr std::int64_t kBlock = 64;
    for (std::int64_t known = 0; known < size; known += kBlock) {
      const std::int64_t count = std::min(kBlock, size - known),
                         first = which.lower ? known : size - known - count,
                         from = which.lower ? 0 : first + count;
      if (known > 0)
        threads::parallel_for_noexcept(first, first + count, rows_each(known),
                                       [&](std::int64_t begin, std::int64_t end) {
                                         for (std::int64_t i = begin; i < end; ++i)
                                           x[i] -= kernels.dot(known, &t(i, from), x + from);
                                       });
      for (std::int64_t step = 0; step < count; ++step) {
        const std::int64_t i = which.lower ? first + step : first + count - 1 - step,
                           begin = which.lower ? first : i + 1;
        x[i] -= kernels.dot(step, &t(i, begin), x + begin);
        if (!which.unit) x[i] /= t(i, i);
      }
    }
    return;
  }
  for (std::int64_t step = 0; step < size; ++step) {
    // A column times what is known is taken from the rest.
    const std::int64_t i = which.lower ? step : size - 1 - step;
    if (!which.unit) x[i] /= t(i, i);
    const std::int64_t first = which.lower ? i + 1 : 0, last = which.lower ? size : i;
    if (first < last) kernels.subtract(last - first, x[i], &t(first, i), x + first);
  }
}

template <class T>
static void solve_halves(const Matrix<const T> &t, Triangle which, const Matrix<T> &b,
                         Workspace<T> &work) {
  const std::int64_t size = t.rows, columns = b.columns;
  if (size <= kPanel) {
    const auto &kernels = linalg_kernels<T>();
    if (which.lower)
      return kernels.solve_rows(size, columns, t.data, t.row, t.column, which.unit, b.data, b.row);
    // From the last row to the first it is a lower one.
    return kernels.solve_rows(size, columns, &t(size - 1, size - 1), -t.row, -t.column, which.unit,
                              &b(size - 1, 0), -b.row);
  }
  const std::int64_t half = (size / 2 + kPanel - 1) / kPanel * kPanel, rest = size - half;
  const Matrix<T> top = b.block(0, 0, half, columns), bottom = b.block(half, 0, rest, columns);
  const Matrix<const T> first = t.block(0, 0, half, half), last = t.block(half, half, rest, rest);
  if (which.lower) {
    solve_halves(first, which, top, work);
    subtract_product<T>(bottom, t.block(half, 0, rest, half), top, work);
    solve_halves(last, which, bottom, work);
  } else {
    solve_halves(last, which, bottom, work);
    subtract_product<T>(top, t.block(0, half, half, rest), bottom, work);
    solve_halves(first, which, top, work);
  }
}

template <class T>
void solve_triangle(const Matrix<const std::type_identity_t<T>> &t, Triangle which,
                    const Matrix<T> &b, Workspace<T> &work) {
  if (t.rows == 0 || b.columns == 0) return;
  if (b.columns == 1 && b.row == 1) solve_vector<T>(t, which, b);
  else solve_halves<T>(t, which, b, work);
}

template <class T>
std::optional<std::int64_t> zero_on_diagonal(const Matrix<const T> &t) {
  for (std::int64_t i = 0; i < t.rows; ++i)
    if (t(i, i) == T(0)) return i;
  return std::nullopt;
}

#define WEFT_TRIANGULAR_OF(T)                                                                      \
  template void solve_triangle<T>(const Matrix<const T> &, Triangle, const Matrix<T> &,            \
                                  Workspace<T> &);                                                 \
  template std::optional<std::int64_t> zero_on_diagonal<T>(const Matrix<const T> &);
WEFT_TRIANGULAR_OF(float)
WEFT_TRIANGULAR_OF(double)
WEFT_TRIANGULAR_OF(std::complex<float>)
WEFT_TRIANGULAR_OF(std::complex<double>)
#undef WEFT_TRIANGULAR_OF

namespace routines {

namespace {

/// The matrix, rows of which are adjacent elements: itself, or a copy.
template <class T>
Matrix<const T> with_rows(const Matrix<const T> &matrix, Workspace<T> &work) {
  if (matrix.column == 1) return matrix;
  const Matrix<T> rows = work.take(matrix.rows, matrix.columns);
  copy<T>(matrix, rows);
  return rows;
}

/// A row that a permutation names.
std::int64_t checked_row(std::int64_t row, std::int64_t rows) {
  if (row < 0 || row >= rows)
    raise(ErrorKind::index, "lu_solve: row " + std::to_string(row) + " is out of range for " +
                                std::to_string(rows) + " rows");
  return row;
}

/// Row i of `to` is row order[i] of `from`.
template <class T>
void take_rows(const Matrix<const std::int64_t> &order, const Matrix<const T> &from,
               const Matrix<T> &to) {
  for (std::int64_t i = 0; i < to.rows; ++i) {
    const std::int64_t row = checked_row(order(i, 0), to.rows);
    for (std::int64_t j = 0; j < to.columns; ++j) to(i, j) = from(row, j);
  }
}
/// Row order[i] of `to` is row i of `from`.
template <class T>
void put_rows(const Matrix<const std::int64_t> &order, const Matrix<const T> &from,
              const Matrix<T> &to) {
  for (std::int64_t i = 0; i < to.rows; ++i) {
    const std::int64_t row = checked_row(order(i, 0), to.rows);
    for (std::int64_t j = 0; j < to.columns; ++j) to(row, j) = from(i, j);
  }
}

/// Notes the matrices in lanes, from number `first` on, that have a zero on their diagonal.
template <class T>
void note_zeros(std::int64_t size, std::int64_t first, std::int64_t lanes, const T *matrices,
                First &singular) {
  bool zero[kLanes] = {};
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      zero[lane] |= matrices[i * (size + 1) * kLanes + lane] == T(0);
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    if (zero[lane]) singular.note(first + lane);
}

/// Solves in a result, whatever its strides are.
template <class T, class Solve>
void solve_in(const Matrix<T> &y, Workspace<T> &work, Solve solve) {
  const bool one = y.columns == 1 && y.row == 1;
  if (one || (y.column == 1 && y.columns != 1)) return solve(y);
  Matrix<T> rows = work.take(y.rows, y.columns);
  if (y.columns == 1) rows.column = rows.row = 1;
  copy<T>(y, rows);
  solve(rows);
  copy<T>(rows, y);
}

/// Solves by both triangles of an LU, in a result whose rows are in its order.
template <class T>
void substitute(const Matrix<const T> &factors, const Matrix<T> &y, Workspace<T> &right,
                Workspace<T> &products) {
  solve_in<T>(y, right, [&](const Matrix<T> &rows) {
    solve_triangle<T>(factors, {.lower = true, .unit = true}, rows, products);
    solve_triangle<T>(factors, {.lower = false, .unit = false}, rows, products);
  });
}

} // namespace

template <class T>
void triangular_solve(const RoutineCall &call) {
  const TriangularSolveRoutineAttrs given(call);
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  First singular;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> products, whole, right;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = with_rows<T>(batches.operand<T>(0, i), whole);
      if (!given.unit_diagonal && zero_on_diagonal<T>(x)) {
        singular.note(i);
        continue;
      }
      const Matrix<T> y = batches.result<T>(0, i);
      copy<T>(batches.operand<T>(1, i), y);
      solve_in<T>(y, right, [&](const Matrix<T> &b) {
        solve_triangle<T>(given.transposed ? x.transposed() : x,
                          {given.lower != given.transposed, given.unit_diagonal}, b, products);
      });
    }
  });
  if (const std::optional<std::int64_t> i = singular.number())
    batches.refuse("triangular_solve", *i,
                   "has no inverse: number " +
                       std::to_string(*zero_on_diagonal<T>(batches.operand<T>(0, *i))) +
                       " on its diagonal is 0");
}

template <class T>
static void gesv_in_lanes(const Batches &batches, First &singular) {
  const std::int64_t size = batches.operand<T>(0, 0).rows,
                     columns = batches.operand<T>(1, 0).columns;
  factor_lanes<T>(
      batches, size,
      [&](std::int64_t first, std::int64_t count, const T *lu, const std::int64_t *pivots) {
        Workspace<T> right;
        T *const b = right.take(size * columns * kLanes);
        std::fill_n(b, count < kLanes ? size * columns * kLanes : 0, T(0));
        batches.to_lanes<T>(1, first, count, b);
        note_zeros<T>(size, first, count, lu, singular);
        for (std::int64_t lane = 0; lane < count; ++lane) {
          const Matrix<T> rows = lane_of(b, size, columns, lane);
          for (std::int64_t i = 0; i < size; ++i)
            if (const std::int64_t other = pivots[i * kLanes + lane]; other != i)
              for (std::int64_t j = 0; j < columns; ++j) std::swap(rows(i, j), rows(other, j));
        }
        linalg_kernels<T>().solve_lanes(size, columns, lu, b, /*transposed=*/false);
        batches.from_lanes<T>(0, first, count, b);
      });
}

template <class T>
void gesv(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  First singular;
  const auto large = [&](std::int64_t begin, std::int64_t end) {
    Lu<T> lu;
    Workspace<T> matrix, products, right;
    Workspace<std::int64_t> numbers;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<T> factors = matrix.take(size, size);
      copy<T>(batches.operand<T>(0, i), factors);
      const std::span<std::int64_t> pivots(numbers.take(size), static_cast<std::size_t>(size));
      lu.factor(factors, pivots);
      if (zero_on_diagonal<T>(Matrix<const T>(factors))) {
        singular.note(i);
        continue;
      }
      const Matrix<T> y = batches.result<T>(0, i);
      copy<T>(batches.operand<T>(1, i), y);
      exchange_rows<T>(y, pivots);
      substitute<T>(factors, y, right, products);
    }
  };
  if (size <= kSmall) gesv_in_lanes<T>(batches, singular);
  else batches.for_each(size, large);
  if (const std::optional<std::int64_t> i = singular.number())
    batches.refuse("gesv", *i, "has no inverse");
}

template <class T>
void lu_solve(const RoutineCall &call) {
  const bool transposed = LuSolveRoutineAttrs(call).transposed;
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  First singular;
  const std::int64_t columns = batches.operand<T>(3, 0).columns;
  const auto small = [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> triangles, right, moved;
    Workspace<std::int64_t> orders;
    T *const a = triangles.take(size * size * kLanes),
             *const b = right.take(size * columns * kLanes),
             *const other = moved.take(size * columns * kLanes);
    std::int64_t *const order = orders.take(size * kLanes);
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kLanes, count = std::min(kLanes, batches.count() - first);
      if (count < kLanes) {
        std::fill_n(a, size * size * kLanes, T(1));
        std::fill_n(b, size * columns * kLanes, T(0));
        std::fill_n(other, size * columns * kLanes, T(0));
      }
      batches.to_lanes<T>(1, first, count, a);
      batches.to_lanes<std::int64_t>(2, first, count, order);
      batches.to_lanes<T>(3, first, count, transposed ? b : other);
      note_zeros<T>(size, first, count, a, singular);
      const auto move = [&](const auto &rows_of, const T *from, T *to) {
        for (std::int64_t lane = 0; lane < count; ++lane)
          rows_of(lane_of<const std::int64_t>(order, size, 1, lane),
                  lane_of<const T>(from, size, columns, lane), lane_of(to, size, columns, lane));
      };
      if (!transposed) move(take_rows<T>, other, b);
      linalg_kernels<T>().solve_lanes(size, columns, a, b, transposed);
      if (transposed) move(put_rows<T>, b, other);
      batches.from_lanes<T>(0, first, count, transposed ? other : b);
    }
  };
  const auto large = [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> products, whole, right, sorted;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> f = with_rows<T>(batches.operand<T>(1, i), whole);
      if (zero_on_diagonal<T>(f)) {
        singular.note(i);
        continue;
      }
      const Matrix<const T> b = batches.operand<T>(3, i);
      const Matrix<const std::int64_t> order = batches.operand<std::int64_t>(2, i);
      const Matrix<T> y = batches.result<T>(0, i);
      if (!transposed) {
        take_rows<T>(order, b, y);
        substitute<T>(f, y, right, products);
        continue;
      }
      copy<T>(b, y);
      solve_in<T>(y, right, [&](const Matrix<T> &rows) {
        solve_triangle<T>(f.transposed(), {.lower = true, .unit = false}, rows, products);
        solve_triangle<T>(f.transposed(), {.lower = false, .unit = true}, rows, products);
      });
      const Matrix<T> moved = sorted.take(size, y.columns);
      copy<T>(y, moved);
      put_rows<T>(order, moved, y);
    }
  };
  if (size <= kSmall) batches.for_each_group(size, (batches.count() + kLanes - 1) / kLanes, small);
  else batches.for_each(size, large);
  if (const std::optional<std::int64_t> i = singular.number())
    batches.refuse("lu_solve", *i, "has no inverse");
}

#define WEFT_SOLVES_OF(T)                                                                          \
  template void triangular_solve<T>(const RoutineCall &);                                          \
  template void gesv<T>(const RoutineCall &);                                                      \
  template void lu_solve<T>(const RoutineCall &);
WEFT_SOLVES_OF(float)
WEFT_SOLVES_OF(double)
WEFT_SOLVES_OF(std::complex<float>)
WEFT_SOLVES_OF(std::complex<double>)
#undef WEFT_SOLVES_OF

} // namespace routines

} // namespace weft::kernels
