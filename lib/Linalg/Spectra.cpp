// Eigenvalues of symmetric matrices and singular values: Jacobi's rotations for small ones, LAPACK
// for others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "Linalg/Lapack.h"
#include "Linalg/Matrix.h"

namespace weft::kernels {

namespace {

/// Rotations of all pairs that are tried: some ten are enough.
constexpr int kSweeps = 60;

/// A rotation of two lines of numbers.
template <class T>
struct Rotation {
  T cosine, sine;

  /// That makes a symmetric [[a, b], [b, c]] diagonal.
  static Rotation of(T a, T b, T c) {
    const T slope = (c - a) / (2 * b);
    const T tangent = std::copysign(T(1), slope) / (std::abs(slope) + std::hypot(T(1), slope));
    const T cosine = 1 / std::sqrt(1 + tangent * tangent);
    return {cosine, tangent * cosine};
  }
  void apply(std::int64_t count, T *x, T *y) const {
    for (std::int64_t i = 0; i < count; ++i) {
      const T first = x[i], second = y[i];
      x[i] = cosine * first - sine * second;
      y[i] = sine * first + cosine * second;
    }
  }
};

/// Makes a symmetric matrix diagonal, and `vectors`, which begin as the identity, its eigenvectors;
/// columns are adjacent elements. Whether that came to an end.
template <class T>
bool rotate_symmetric(const Matrix<T> &a, const Matrix<T> &vectors) {
  const std::int64_t size = a.rows;
  T largest = 0;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) largest = std::max(largest, std::abs(a(i, j)));
  const T small = std::numeric_limits<T>::epsilon() / 16 * largest;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (std::int64_t p = 0; p < size; ++p)
      for (std::int64_t q = p + 1; q < size; ++q) {
        const T off = a(p, q);
        if (std::abs(off) <= small) continue;
        done = false;
        const Rotation<T> rotation = Rotation<T>::of(a(p, p), off, a(q, q));
        rotation.apply(size, &a(0, p), &a(0, q));
        for (std::int64_t i = 0; i < size; ++i) {
          const T first = a(p, i), second = a(q, i);
          a(p, i) = rotation.cosine * first - rotation.sine * second;
          a(q, i) = rotation.sine * first + rotation.cosine * second;
        }
        a(p, q) = a(q, p) = 0;
        rotation.apply(size, &vectors(0, p), &vectors(0, q));
      }
    if (done) return true;
  }
  return false;
}

/// Makes the columns of `a` orthogonal, and turns those of `vectors` with them.
template <class T>
bool rotate_columns(const Matrix<T> &a, const Matrix<T> &vectors) {
  const LinalgKernels<T> &kernels = linalg_kernels<T>();
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (std::int64_t p = 0; p < a.columns; ++p)
      for (std::int64_t q = p + 1; q < a.columns; ++q) {
        T *const x = &a(0, p), *const y = &a(0, q);
        const T first = kernels.dot(a.rows, x, x), second = kernels.dot(a.rows, y, y),
                both = kernels.dot(a.rows, x, y);
        if (std::abs(both) <= 4 * kEpsilon * std::sqrt(first) * std::sqrt(second)) continue;
        // What is left of a column that depends on the other shrinks until its square is 0.
        if (std::abs(both) <= kEpsilon * kEpsilon * std::max(first, second)) continue;
        done = false;
        const Rotation<T> rotation = Rotation<T>::of(first, both, second);
        rotation.apply(a.rows, x, y);
        rotation.apply(vectors.rows, &vectors(0, p), &vectors(0, q));
      }
    if (done) return true;
  }
  return false;
}

/// Numbers of a list in the order of its elements.
template <class T>
std::vector<std::int64_t> order_of(const T *values, std::int64_t count, bool descending) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
    return descending ? values[i] > values[j] : values[i] < values[j];
  });
  return order;
}

/// 1 or -1, so that the largest element of a vector is positive.
template <class T>
T sign_of(std::int64_t count, const T *x) {
  T largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
  return largest < 0 ? T(-1) : T(1);
}

template <class T>
void set_identity(const Matrix<T> &x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) = i == j ? T(1) : T(0);
}

/// Makes column `j` a unit vector that is orthogonal to those before it.
template <class T>
void complete(const Matrix<T> &u, std::int64_t j) {
  const LinalgKernels<T> &kernels = linalg_kernels<T>();
  T *const column = &u(0, j);
  for (std::int64_t axis = 0; axis < u.rows; ++axis) {
    std::fill_n(column, u.rows, T(0));
    column[axis] = 1;
    for (int twice = 0; twice < 2; ++twice)
      for (std::int64_t before = 0; before < j; ++before)
        kernels.subtract(u.rows, kernels.dot(u.rows, &u(0, before), column), &u(0, before), column);
    const T length = std::sqrt(kernels.dot(u.rows, column, column));
    if (length * length * T(4 * u.rows) < 1) continue; // too much of it is in the others
    for (std::int64_t i = 0; i < u.rows; ++i) column[i] /= length;
    return;
  }
}

} // namespace

namespace routines {

template <class T>
void eigh(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  const Lapack *const lapack = size > kSmall ? &Lapack::get() : nullptr;
  First refused;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> whole, turned, diagonal;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<T> values = batches.result<T>(0, i), vectors = batches.result<T>(1, i);
      if (!all_finite<T>(x)) {
        fill_nan(values);
        fill_nan(vectors);
        continue;
      }
      const Matrix<T> a = whole.take(size, size).transposed();
      for (std::int64_t row = 0; row < size; ++row)
        for (std::int64_t column = 0; column < size; ++column)
          a(row, column) = T(0.5) * x(row, column) + T(0.5) * x(column, row);
      T *const found = diagonal.take(size);
      Matrix<T> own = a; // whose columns are the vectors
      if (lapack != nullptr) {
        if (lapack->syevd(size, a.data, found) != 0) {
          refused.note(i);
          continue;
        }
      } else {
        own = turned.take(size, size).transposed();
        set_identity(own);
        if (!rotate_symmetric(a, own)) {
          refused.note(i);
          continue;
        }
        for (std::int64_t j = 0; j < size; ++j) found[j] = a(j, j);
      }
      const std::vector<std::int64_t> order = order_of(found, size, /*descending=*/false);
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        const T sign = sign_of(size, &own(0, from));
        values(j, 0) = found[from];
        for (std::int64_t row = 0; row < size; ++row) vectors(row, j) = sign * own(row, from);
      }
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("eigh", *i, "has eigenvalues that did not converge");
}

template <class T>
void svd(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t rows = batches.operand<T>(0, 0).rows,
                     columns = batches.operand<T>(0, 0).columns;
  const Lapack *const lapack = columns > kSmall ? &Lapack::get() : nullptr;
  First refused;
  batches.for_each(columns, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> whole, turned, lengths, lefts;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<T> values = batches.result<T>(0, i), left = batches.result<T>(1, i),
                      right = batches.result<T>(2, i);
      if (!all_finite<T>(x)) {
        fill_nan(values);
        fill_nan(left);
        fill_nan(right);
        continue;
      }
      // The largest number becomes 1, so that no square overflows or vanishes.
      T scale = 0;
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          scale = std::max(scale, std::abs(x(row, column)));
      if (scale == 0) scale = 1;
      const Matrix<T> a = whole.take(columns, rows).transposed();
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          a(row, column) = x(row, column) / scale;
      T *const found = lengths.take(columns);
      const Matrix<T> own = turned.take(columns, columns).transposed(); // right vectors by column
      const Matrix<T> u = lefts.take(columns, rows).transposed();
      if (lapack != nullptr) {
        if (lapack->gesdd(rows, columns, a.data, found, u.data, own.data) != 0) {
          refused.note(i);
          continue;
        }
        // They are transposed there.
        for (std::int64_t p = 0; p < columns; ++p)
          for (std::int64_t q = p + 1; q < columns; ++q) std::swap(own(p, q), own(q, p));
      } else {
        set_identity(own);
        if (!rotate_columns(a, own)) {
          refused.note(i);
          continue;
        }
        for (std::int64_t j = 0; j < columns; ++j)
          found[j] = std::sqrt(linalg_kernels<T>().dot(rows, &a(0, j), &a(0, j)));
      }
      const std::vector<std::int64_t> order = order_of(found, columns, /*descending=*/true);
      for (std::int64_t j = 0; lapack == nullptr && j < columns; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        if (found[from] == 0) complete(u, j);
        else
          for (std::int64_t row = 0; row < rows; ++row) u(row, j) = a(row, from) / found[from];
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        const T sign = sign_of(rows, &u(0, j));
        values(j, 0) = found[from] * scale;
        for (std::int64_t row = 0; row < rows; ++row) left(row, j) = sign * u(row, j);
        for (std::int64_t column = 0; column < columns; ++column)
          right(j, column) = sign * own(column, from);
      }
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("svd", *i, "has singular values that did not converge");
}

#define WEFT_SPECTRA_OF(T)                                                                         \
  template void eigh<T>(const RoutineCall &);                                                      \
  template void svd<T>(const RoutineCall &);
WEFT_SPECTRA_OF(float)
WEFT_SPECTRA_OF(double)
#undef WEFT_SPECTRA_OF

} // namespace routines

} // namespace weft::kernels
