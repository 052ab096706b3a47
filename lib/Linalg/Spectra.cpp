// Eigenvalues of symmetric or Hermitian matrices and singular values: Jacobi's rotations for small
// ones, LAPACK for others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "Linalg/Lapack.h"
#include "Linalg/Length.h"
#include "Linalg/Phases.h"

namespace weft::kernels {

namespace {

/// Rotations of all pairs that are tried: some ten are enough.
constexpr int kSweeps = 60;

/// A rotation of two lines of numbers, of which the second is turned by a number of length 1
/// before.
template <class T>
struct Rotation {
  Real<T> cosine, sine;
  T turn = T(1);

  /// That makes [[a, b], [conj(b), c]] diagonal.
  static Rotation of(Real<T> a, T b, Real<T> c) {
    if constexpr (kComplex<T>) {
      const Real<T> size = std::abs(b);
      const Rotation<Real<T>> real = Rotation<Real<T>>::of(a, size, c);
      return {real.cosine, real.sine, std::conj(b) / size};
    } else {
      const T slope = (c - a) / (2 * b);
      const T tangent = std::copysign(T(1), slope) / (std::abs(slope) + std::hypot(T(1), slope));
      const T cosine = 1 / std::sqrt(1 + tangent * tangent);
      return {cosine, tangent * cosine};
    }
  }
  void apply(T &x, T &y) const {
    T second = y;
    if constexpr (kComplex<T>) second *= turn;
    const T first = x;
    x = cosine * first - sine * second;
    y = sine * first + cosine * second;
  }
  void apply(std::int64_t count, T *x, T *y) const {
    for (std::int64_t i = 0; i < count; ++i) apply(x[i], y[i]);
  }
  Rotation conjugate() const { return {cosine, sine, conjugated(turn)}; }
};

/// Scales a Hermitian matrix by a power of 2 if its elements are so small or large that products of
/// them and eps vanish or overflow. Gives the power, or 0.
template <class T>
int scale_extremes(const Matrix<T> &a) {
  using R = Real<T>;
  R largest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      largest = std::max({largest, std::abs(std::real(a(i, j))), std::abs(std::imag(a(i, j)))});
  constexpr int kOrdinary = std::numeric_limits<R>::max_exponent / 2;
  const int exponent = largest == 0 ? 0 : std::ilogb(largest);
  if (std::abs(exponent) <= kOrdinary) return 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j)
      if constexpr (kComplex<T>)
        a(i, j) = {std::ldexp(a(i, j).real(), -exponent), std::ldexp(a(i, j).imag(), -exponent)};
      else a(i, j) = std::ldexp(a(i, j), -exponent);
  return exponent;
}

/// Makes a symmetric or Hermitian matrix diagonal, and `vectors`, which begin as the identity, its
/// eigenvectors; columns are adjacent elements. Whether that came to an end.
template <class T>
bool rotate_symmetric(const Matrix<T> &a, const Matrix<T> &vectors) {
  const std::int64_t size = a.rows;
  Real<T> largest = 0;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) largest = std::max<Real<T>>(largest, std::abs(a(i, j)));
  const Real<T> small = std::numeric_limits<Real<T>>::epsilon() / 16 * largest;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (std::int64_t p = 0; p < size; ++p)
      for (std::int64_t q = p + 1; q < size; ++q) {
        const T off = a(p, q);
        if (std::abs(off) <= small) continue;
        done = false;
        const Rotation<T> rotation = Rotation<T>::of(std::real(a(p, p)), off, std::real(a(q, q)));
        rotation.apply(size, &a(0, p), &a(0, q));
        const Rotation<T> of_rows = rotation.conjugate();
        for (std::int64_t i = 0; i < size; ++i) of_rows.apply(a(p, i), a(q, i));
        a(p, q) = a(q, p) = 0;
        rotation.apply(size, &vectors(0, p), &vectors(0, q));
      }
    if (done) return true;
  }
  return false;
}

/// The length up to which a column is rounding of the longest one.
template <class T>
Real<T> rounding_of(const Matrix<T> &a) {
  Real<T> largest = 0;
  for (std::int64_t j = 0; j < a.columns; ++j)
    largest = std::max(largest, std::real(linalg_kernels<T>().inner(a.rows, &a(0, j), &a(0, j))));
  return std::numeric_limits<Real<T>>::epsilon() * std::sqrt(largest);
}

/// Makes the columns of `a` that are longer than `small` orthogonal, and turns those of `vectors`
/// with them.
template <class T>
bool rotate_columns(const Matrix<T> &a, const Matrix<T> &vectors, Real<T> small) {
  const auto &kernels = linalg_kernels<T>();
  constexpr Real<T> kEpsilon = std::numeric_limits<Real<T>>::epsilon();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (std::int64_t p = 0; p < a.columns; ++p)
      for (std::int64_t q = p + 1; q < a.columns; ++q) {
        T *const x = &a(0, p), *const y = &a(0, q);
        const Real<T> first = std::real(kernels.inner(a.rows, x, x)),
                      second = std::real(kernels.inner(a.rows, y, y));
        // What is left of a column that depends on others has the direction of rounding, and would
        // shrink from sweep to sweep until its square is no number of all digits.
        if (std::min(first, second) <= small * small) continue;
        const T both = kernels.inner(a.rows, x, y);
        const Real<T> size = std::abs(both);
        if (size <= 4 * kEpsilon * std::sqrt(first) * std::sqrt(second)) continue;
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

template <class T>
void set_identity(const Matrix<T> &x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) = T(i == j ? 1 : 0);
}

/// Makes column `j` a unit vector that is orthogonal to those before it: what they leave of itself,
/// which is 0 or about as long as 1, or else of an axis.
template <class T>
void complete(const Matrix<T> &u, std::int64_t j) {
  const auto &kernels = linalg_kernels<T>();
  T *const column = &u(0, j);
  for (std::int64_t axis = -1; axis < u.rows; ++axis) {
    if (axis >= 0) {
      std::fill_n(column, u.rows, T(0));
      column[axis] = 1;
    }
    for (int twice = 0; twice < 2; ++twice)
      for (std::int64_t before = 0; before < j; ++before)
        kernels.subtract(u.rows, kernels.inner(u.rows, &u(0, before), column), &u(0, before),
                         column);
    const Real<T> left = length(u.rows, column);
    if (left * left * Real<T>(4 * u.rows) < 1) continue; // too much of it is in the others
    for (std::int64_t i = 0; i < u.rows; ++i) column[i] /= left;
    return;
  }
}

} // namespace

namespace routines {

template <class T>
void eigh(const RoutineCall &call) {
  using R = Real<T>;
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  const Lapack *const lapack = size > kSmall ? &Lapack::get() : nullptr;
  First refused;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> whole, turned;
    Workspace<R> diagonal;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<R> values = batches.result<R>(0, i);
      const Matrix<T> vectors = batches.result<T>(1, i);
      if (!all_finite<T>(x)) {
        fill_nan(values);
        fill_nan(vectors);
        continue;
      }
      const Matrix<T> a = whole.take(size, size).transposed();
      copy_hermitian<T>(x, a);
      R *const found = diagonal.take(size);
      Matrix<T> own = a; // whose columns are the vectors
      if (lapack != nullptr) {
        if (lapack->heevd(size, a.data, found) != 0) {
          refused.note(i);
          continue;
        }
      } else {
        own = turned.take(size, size).transposed();
        set_identity(own);
        const int exponent = scale_extremes(a);
        if (!rotate_symmetric(a, own)) {
          refused.note(i);
          continue;
        }
        for (std::int64_t j = 0; j < size; ++j)
          found[j] = exponent == 0 ? std::real(a(j, j)) : std::ldexp(std::real(a(j, j)), exponent);
      }
      const std::vector<std::int64_t> order = order_of(found, size, /*descending=*/false);
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        values(j, 0) = found[from];
        const T *const column = &own(0, from);
        const Phase<T> phase = Phase<T>::of(size, column);
        for (std::int64_t row = 0; row < size; ++row) vectors(row, j) = phase.turned(column, row);
      }
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("eigh", *i, "has eigenvalues that did not converge");
}

template <class T>
void svd(const RoutineCall &call) {
  using R = Real<T>;
  const Batches batches(call);
  const std::int64_t rows = batches.operand<T>(0, 0).rows,
                     columns = batches.operand<T>(0, 0).columns;
  const Lapack *const lapack = columns > kSmall ? &Lapack::get() : nullptr;
  First refused;
  batches.for_each(columns, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> whole, turned, lefts;
    Workspace<R> lengths;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<R> values = batches.result<R>(0, i);
      const Matrix<T> left = batches.result<T>(1, i), right = batches.result<T>(2, i);
      if (!all_finite<T>(x)) {
        fill_nan(values);
        fill_nan(left);
        fill_nan(right);
        continue;
      }
      // The largest part becomes 1, so that no square overflows or vanishes.
      R scale = 0;
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          scale = std::max(
              {scale, std::abs(std::real(x(row, column))), std::abs(std::imag(x(row, column)))});
      if (scale == 0) scale = 1;
      const Matrix<T> a = whole.take(columns, rows).transposed();
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          a(row, column) = x(row, column) / scale;
      R *const found = lengths.take(columns);
      const R small = lapack == nullptr ? rounding_of(a) : R(0);
      const Matrix<T> own = turned.take(columns, columns).transposed(); // right vectors by column
      const Matrix<T> u = lefts.take(columns, rows).transposed();
      if (lapack != nullptr) {
        if (lapack->gesdd(rows, columns, a.data, found, u.data, own.data) != 0) {
          refused.note(i);
          continue;
        }
        // They are rows there, and conjugated.
        for (std::int64_t p = 0; p < columns; ++p)
          for (std::int64_t q = p; q < columns; ++q) {
            const T kept = own(p, q);
            own(p, q) = conjugated(own(q, p));
            own(q, p) = conjugated(kept);
          }
      } else {
        set_identity(own);
        if (!rotate_columns(a, own, small)) {
          refused.note(i);
          continue;
        }
        for (std::int64_t j = 0; j < columns; ++j) found[j] = length(rows, &a(0, j));
      }
      const std::vector<std::int64_t> order = order_of(found, columns, /*descending=*/true);
      for (std::int64_t j = 0; lapack == nullptr && j < columns; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        for (std::int64_t row = 0; row < rows; ++row)
          u(row, j) = a(row, from) / (found[from] == 0 ? R(1) : found[from]);
        if (found[from] <= 2 * small) complete(u, j);
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t from = order[static_cast<std::size_t>(j)];
        const Phase<T> phase = Phase<T>::of(rows, &u(0, j));
        values(j, 0) = found[from] * scale;
        for (std::int64_t row = 0; row < rows; ++row) left(row, j) = phase.turned(&u(0, j), row);
        for (std::int64_t column = 0; column < columns; ++column)
          right(j, column) = conjugated(phase.factor * own(column, from));
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
WEFT_SPECTRA_OF(std::complex<float>)
WEFT_SPECTRA_OF(std::complex<double>)
#undef WEFT_SPECTRA_OF

} // namespace routines

} // namespace weft::kernels
