// Determinants by LU, and their first and second slopes, which matrices without inverse have too.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "Linalg/Lu.h"

namespace weft::kernels {

namespace {

/// The larger part of a number without its sign.
template <class T>
Real<T> largeness(T x) {
  return std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
}

/// A number by that power of two.
template <class T>
T scaled(T x, int exponent) {
  if constexpr (kComplex<T>)
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  else return std::ldexp(x, exponent);
}

/// The product of the diagonal, with the sign of the exchanges.
template <class T>
T determinant(const Matrix<const T> &lu, const Matrix<const std::int64_t> &pivots) {
  const auto element = [&](std::int64_t i) { return pivots(i, 0) != i ? -lu(i, i) : lu(i, i); };
  T product = 1;
  bool lost = false; // on the way it overflows or vanishes
  for (std::int64_t i = 0; i < lu.rows; ++i) {
    product *= element(i);
    lost |= !std::isnormal(largeness(product));
  }
  if (!lost) return product;
  T mantissa = 1;
  int exponent = 0;
  for (std::int64_t i = 0; i < lu.rows; ++i) {
    const T factor = element(i);
    if (!std::isfinite(std::real(factor)) || !std::isfinite(std::imag(factor))) return product;
    int before = 0, behind = 0;
    std::frexp(largeness(factor), &before);
    mantissa *= scaled(factor, -before);
    std::frexp(largeness(mantissa), &behind);
    mantissa = scaled(mantissa, -behind);
    exponent += before + behind;
  }
  return scaled(mantissa, exponent);
}

/// P x Q = L D U of a square matrix, with unit triangles, by the largest element of all that is
/// left: D ends in zeros where there is no inverse, and what the triangles take away loses no
/// digits. For with it the cofactors of x are those of D, which are products, between triangles.
template <class T>
class Diagonalized {
public:
  explicit Diagonalized(std::int64_t size) : size_(size), rows_(count()), columns_(count()) {}

  void factor(const Matrix<const T> &x) {
    a_ = whole_.take(size_, size_);
    copy<T>(x, a_);
    diagonal_.assign(count(), T(0));
    sign_ = 1;
    for (std::int64_t i = 0; i < size_; ++i) rows_[at(i)] = columns_[at(i)] = i;
    const auto &kernels = linalg_kernels<T>();
    std::int64_t rank = 0;
    for (; rank < size_; ++rank) {
      if (!bring_largest(rank)) break;
      const T pivot = diagonal_[at(rank)] = a_(rank, rank);
      for (std::int64_t i = rank + 1; i < size_; ++i) {
        a_(i, rank) /= pivot;
        kernels.subtract(size_ - rank - 1, a_(i, rank), &a_(rank, rank) + 1, &a_(i, rank) + 1);
      }
      for (std::int64_t j = rank + 1; j < size_; ++j) a_(rank, j) /= pivot;
    }
    // Behind the rank nothing is left.
    for (std::int64_t i = rank; i < size_; ++i)
      for (std::int64_t j = rank; j < size_; ++j) a_(i, j) = 0;
  }

  /// The cofactors of x.
  void cofactors(const Matrix<T> &to) {
    const Matrix<T> inner = inner_.take(size_, size_);
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) inner(i, j) = 0;
    const std::vector<T> &products = all_but_one(-1);
    for (std::int64_t i = 0; i < size_; ++i) inner(i, i) = products[at(i)];
    give(inner, to);
  }

  /// How they change along `direction`.
  void cofactors_along(const Matrix<const T> &direction, const Matrix<T> &to) {
    const Matrix<T> inner = inner_.take(size_, size_), turned = turned_.take(size_, size_);
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j)
        inner(i, j) = direction(rows_[at(i)], columns_[at(j)]);
    // F = L^-1 P direction Q U^-1, transposed.
    solve_triangle<T>(a_, {.lower = true, .unit = true}, inner, work_);
    copy<T>(inner.transposed(), turned);
    solve_triangle<T>(a_.transposed(), {.lower = true, .unit = true}, turned, work_);
    // Those of D change by -F^T times the products of all elements but two, and on the diagonal by
    // the sum of these products times F's diagonal.
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::vector<T> &products = all_but_one(i);
      T sum = 0;
      for (std::int64_t j = 0; j < size_; ++j) {
        if (j == i) continue;
        sum += products[at(j)] * turned(j, j);
        inner(i, j) = -products[at(j)] * turned(i, j);
      }
      inner(i, i) = sum;
    }
    give(inner, to);
  }

private:
  std::size_t count() const { return static_cast<std::size_t>(size_); }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// Brings the largest element from row and column `k` on there; whether there is one but 0.
  bool bring_largest(std::int64_t k) {
    std::int64_t row = k, column = k;
    Real<T> largest = 0;
    for (std::int64_t i = k; i < size_; ++i)
      for (std::int64_t j = k; j < size_; ++j)
        if (const Real<T> size = std::abs(a_(i, j)); size > largest) {
          largest = size;
          row = i;
          column = j;
        }
    if (row != k) {
      std::swap_ranges(&a_(k, 0), &a_(k, 0) + size_, &a_(row, 0));
      std::swap(rows_[at(k)], rows_[at(row)]);
      sign_ = -sign_;
    }
    if (column != k) {
      for (std::int64_t i = 0; i < size_; ++i) std::swap(a_(i, k), a_(i, column));
      std::swap(columns_[at(k)], columns_[at(column)]);
      sign_ = -sign_;
    }
    return largest > 0;
  }

  /// The products of D's elements but for each in turn, and for `without`: none is divided by.
  const std::vector<T> &all_but_one(std::int64_t without) {
    products_.assign(count(), T(1));
    T before = 1, behind = 1;
    for (std::int64_t i = 0; i < size_; ++i) {
      products_[at(i)] *= before;
      if (i != without) before *= diagonal_[at(i)];
    }
    for (std::int64_t i = size_ - 1; i >= 0; --i) {
      products_[at(i)] *= behind;
      if (i != without) behind *= diagonal_[at(i)];
    }
    return products_;
  }

  /// P^T L^-T inner U^-T Q^T with the sign of the exchanges.
  void give(const Matrix<T> &inner, const Matrix<T> &to) {
    const Matrix<T> turned = turned_.take(size_, size_);
    solve_triangle<T>(a_.transposed(), {.lower = false, .unit = true}, inner, work_);
    copy<T>(inner.transposed(), turned);
    solve_triangle<T>(a_, {.lower = false, .unit = true}, turned, work_);
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j)
        to(rows_[at(i)], columns_[at(j)]) = sign_ * turned(j, i);
  }

  std::int64_t size_;
  Matrix<T> a_{}; ///< both triangles, without their diagonals
  std::vector<T> diagonal_, products_;
  std::vector<std::int64_t> rows_, columns_;
  Real<T> sign_ = 1;
  Workspace<T> whole_, inner_, turned_, work_;
};

} // namespace

namespace routines {

template <class T>
void det(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  if (size <= kSmall)
    return factor_lanes<T>(
        batches, size,
        [&](std::int64_t first, std::int64_t count, const T *lu, const std::int64_t *pivots) {
          for (std::int64_t lane = 0; lane < count; ++lane)
            batches.number<T>(0, first + lane) =
                determinant<T>(lane_of(lu, size, size, lane), lane_of(pivots, size, 1, lane));
        });
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Lu<T> lu;
    Workspace<T> whole;
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(size));
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<T> work = whole.take(size, size);
      copy<T>(batches.operand<T>(0, i), work);
      lu.factor(work, pivots);
      batches.number<T>(0, i) = determinant<T>(work, {size, 1, pivots.data(), 1, 1});
    }
  });
}

template <class T>
void cofactors(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Lu<T> lu;
    Diagonalized<T> diagonalized(size);
    Workspace<T> whole, right, products;
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(size));
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<T> y = batches.result<T>(0, i);
      if (!all_finite<T>(x)) {
        fill_nan(y);
        continue;
      }
      const Matrix<T> work = whole.take(size, size);
      T product = 0;
      if (size > kPanel) { // of small ones the other way costs no more
        copy<T>(x, work);
        lu.factor(work, pivots);
        product = determinant<T>(work, {size, 1, pivots.data(), 1, 1});
      }
      if (!std::isnormal(largeness(product))) { // 0, or too large or small to divide by
        diagonalized.factor(x);
        diagonalized.cofactors(y);
        continue;
      }
      // det(x) x^-T; where the determinant is small only because a pivot is, that pivot, which all
      // columns share, cancels.
      const Matrix<T> inverse = right.take(size, size);
      for (std::int64_t row = 0; row < size; ++row)
        for (std::int64_t column = 0; column < size; ++column)
          inverse(row, column) = row == column ? T(1) : T(0);
      exchange_rows<T>(inverse, pivots);
      solve_triangle<T>(work, {.lower = true, .unit = true}, inverse, products);
      solve_triangle<T>(work, {.lower = false, .unit = false}, inverse, products);
      for (std::int64_t row = 0; row < size; ++row)
        for (std::int64_t column = 0; column < size; ++column)
          y(row, column) = product * inverse(column, row);
    }
  });
}

template <class T>
void cofactors_along(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Diagonalized<T> diagonalized(size);
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i), direction = batches.operand<T>(1, i);
      const Matrix<T> y = batches.result<T>(0, i);
      if (!all_finite<T>(x)) {
        fill_nan(y);
        continue;
      }
      diagonalized.factor(x);
      diagonalized.cofactors_along(direction, y);
    }
  });
}

#define WEFT_DETERMINANTS_OF(T)                                                                    \
  template void det<T>(const RoutineCall &);                                                       \
  template void cofactors<T>(const RoutineCall &);                                                 \
  template void cofactors_along<T>(const RoutineCall &);
WEFT_DETERMINANTS_OF(float)
WEFT_DETERMINANTS_OF(double)
WEFT_DETERMINANTS_OF(std::complex<float>)
WEFT_DETERMINANTS_OF(std::complex<double>)
#undef WEFT_DETERMINANTS_OF

} // namespace routines

} // namespace weft::kernels
