// Pseudo-inverses of what svd gave, and exponentials of matrices.
#include <array>
#include <vector>

#include "Linalg/Lu.h"

namespace weft::kernels {

namespace {

/// Coefficients of Pade's approximant of exp of degree M: its numerator is of x what its
/// denominator is of -x. The first is between 1 and 2, so that none makes a large x overflow.
template <int M>
constexpr std::array<double, M + 1> kPade = [] {
  std::array<double, M + 1> c{};
  c[M] = 1;
  for (int j = M; j > 0; --j) c[j - 1] = c[j] * j * (2 * M - j + 1) / (M - j + 1);
  double unit = 1;
  while (c[0] >= 2 * unit) unit *= 2;
  for (double &one : c) one /= unit;
  return c;
}();

/// Up to which size of x, as `Exponential` measures it, the approximant of a degree is as exact as
/// the type, by Higham 2005.
struct Degree {
  double size;
  std::span<const double> coefficients;

  int degree() const { return static_cast<int>(coefficients.size()) - 1; }
  /// The coefficient of the first power of x, 2 degree + 1, that the approximant is wrong about.
  double first_error() const {
    double found = 1;
    for (int k = 1; k <= degree(); ++k) found *= k / ((degree() + k) * 2.0 * k * (2.0 * k + 1));
    return found;
  }
};
template <class T>
constexpr auto kDegrees = [] {
  if constexpr (std::same_as<Real<T>, float>)
    return std::array{Degree{4.258730016922831e-1, kPade<3>}, Degree{1.880152677804762, kPade<5>},
                      Degree{3.925724783138660, kPade<7>}};
  else
    return std::array{Degree{1.495585217958292e-2, kPade<3>},
                      Degree{2.539398330063230e-1, kPade<5>},
                      Degree{9.504178996162932e-1, kPade<7>}, Degree{2.097847961257068, kPade<9>},
                      Degree{5.371920351148152, kPade<13>}};
}();

/// Exponentials by scaling and squaring, after Al-Mohy and Higham (SIAM J. Matrix Anal. Appl.
/// 31(3), 2009): it is the norms of powers, which are far below the powers of the norm where a
/// matrix is far from normal, that choose the degree and the number of squarings, as each squaring
/// more than needed costs digits of such a matrix. Sizes and norms are logarithms to the base 2.
template <class T>
class Exponential {
public:
  explicit Exponential(std::int64_t size) : size_(size), pivots_(static_cast<std::size_t>(size)) {}

  void of(const Matrix<const T> &x, const Matrix<T> &to) {
    if (size_ == 0) return;
    // The pivots of an upper triangle are its diagonal, so it is one that the work is on.
    const bool upper = is_upper(x);
    if (!upper && is_upper(x.transposed())) return of(x.transposed(), to.transposed());
    const Degree *degree = choose(x, 0);
    if (degree == nullptr) {
      // Powers overflow: squarings do no harm then, but for those that are not needed for this.
      int fails = 0, works = std::numeric_limits<Real<T>>::max_exponent + 64;
      while (works - fails > 1) {
        const int middle = (fails + works) / 2;
        (choose(x, middle) != nullptr ? works : fails) = middle;
      }
      degree = choose(x, works);
    }
    approximate(degree->coefficients);
    Matrix<T> power = matrix(sum_), next = matrix(other_);
    for (int left = squarings_;; --left) {
      // Of a triangle what is on and next to the diagonal is known: their fragment 2.1.
      if (upper && squarings_ > 0) set_diagonals(x, power, left);
      if (left == 0) break;
      set_product<T>(next, power, power);
      std::swap(power, next);
    }
    copy<T>(power, to);
  }

private:
  static constexpr std::size_t kPowers = 5; ///< x^2, x^4, .. x^10
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// The degree for x, whose scaled self and the powers of it that the degree takes are in `a_` and
  /// `powers_` then, and `squarings_`, which are `least` at least. Null if these overflow.
  const Degree *choose(const Matrix<const T> &x, int least) {
    const Matrix<T> a = matrix(a_);
    copy<T>(x, a);
    scale(a, -least);
    if (norm_of(a) == kInfinity) return nullptr;
    squarings_ = least;
    // The sizes of powers, ||x^2k||^(1 / 2k); of those that are not there a bound by the others.
    std::array<double, kPowers> sizes;
    std::size_t known = 0;
    const auto power = [&](std::size_t k) { return matrix(powers_[k - 1]); };
    const auto know = [&](std::size_t k) {
      for (; known < k; ++known) {
        // x^8 is the square of x^4, and x^10 is x^6 x^4.
        const std::size_t of = known + 1, by = of > 2 ? 2 : 1;
        if (of == 1) set_product<T>(power(1), a, a);
        else set_product<T>(power(of), power(of - by), power(by));
        sizes[known] = norm_of(power(of)) / static_cast<double>(2 * of);
      }
      return sizes[k - 1] < kInfinity;
    };
    const auto size = [&](std::size_t k) {
      if (k <= known && sizes[k - 1] < kInfinity) return sizes[k - 1];
      double best = kInfinity;
      for (std::size_t of = std::min(known, k); of > 0; --of) {
        double bound = 0;
        std::size_t left = k;
        for (std::size_t factor = of; factor > 0; --factor)
          for (; left >= factor; left -= factor)
            bound += static_cast<double>(factor) * sizes[factor - 1];
        best = std::min(best, bound / static_cast<double>(k));
      }
      return best;
    };
    const auto largest = [&](std::size_t k) { return std::max(size(k), size(k + 1)); };
    for (const Degree &degree : kDegrees<T>) {
      const auto half = static_cast<std::size_t>(degree.degree() / 2);
      const double limit = std::log2(degree.size);
      if (!know(std::min(half, std::size_t(3)))) return nullptr;
      if (&degree != &kDegrees<T>.back()) {
        if (largest(half < 3 ? 2 : 3) > limit || squarings_for_rounding(a, degree, 0) > 0) continue;
        return know(half) ? &degree : nullptr;
      }
      // Another power is worth its product where it may save a squaring.
      const auto needed = [&](double of) {
        return of > limit ? static_cast<int>(std::ceil(of - limit)) : 0;
      };
      if (needed(largest(3)) > needed(size(3))) know(4);
      double of = largest(3);
      if (half == 6) {
        if (needed(of) > needed(size(4)) && needed(largest(4)) > needed(size(4))) know(5);
        of = std::min(of, largest(4));
      }
      const int more = squarings_for_rounding(a, degree, needed(of));
      scale(a, -more);
      for (std::size_t k = 1; k <= 3; ++k) scale(power(k), -2 * static_cast<int>(k) * more);
      squarings_ += more;
      return &degree;
    }
    return nullptr; // the last degree is that of any matrix
  }

  /// How many squarings, `least` or more, keep the first error of an approximant below the rounding
  /// of x, by the norm of |x|^(2 degree + 1): the largest element of a row of ones times it.
  int squarings_for_rounding(const Matrix<T> &x, const Degree &degree, int least) {
    const int power = 2 * degree.degree();
    const double norm = norm_of(x);
    double exponent = std::log2(degree.first_error()) + std::numeric_limits<Real<T>>::digits;
    const auto needed = [&](double of) {
      return of > least * power ? static_cast<int>(std::ceil(of / power)) : least;
    };
    // It is no more than that power of the norm.
    if (needed(exponent + norm * power) == least) return least;
    exponent += norm * power;
    const double unit = std::exp2(-std::ceil(norm));
    exponent += (std::ceil(norm) - norm) * (power + 1);
    sizes_.resize(static_cast<std::size_t>(size_ * size_));
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      sizes_[i] = static_cast<double>(std::abs(x.data[i])) * unit;
    row_.assign(static_cast<std::size_t>(size_), 1.0);
    for (int k = 0; k <= power; ++k) {
      sums_.assign(row_.size(), 0.0);
      for (std::size_t i = 0; i < row_.size(); ++i)
        for (std::size_t j = 0; j < row_.size(); ++j)
          sums_[j] += row_[i] * sizes_[i * row_.size() + j];
      row_.swap(sums_);
      const double most = std::ranges::max(row_);
      if (most == 0) return least;
      if (most > 0x1p-200 && k < power) continue;
      exponent += std::log2(most);
      for (double &one : row_) one /= most;
    }
    return needed(exponent);
  }

  /// Into `sum_`: (V - U)^-1 (V + U), where U has the odd powers and V the even ones.
  void approximate(std::span<const double> c) {
    const Matrix<T> a = matrix(a_), odd = matrix(odd_), even = matrix(even_), u = matrix(u_),
                    sum = matrix(sum_);
    const std::size_t powers = c.size() == 14 ? 3 : c.size() / 2 - 1;
    for (std::size_t parity : {std::size_t(0), std::size_t(1)}) {
      const Matrix<T> into = parity == 0 ? even : odd;
      if (c.size() == 14) { // x^6 times half of the sum
        combine(sum, 0, c.subspan(parity + 6), powers);
        combine(into, c[parity], c.subspan(parity), powers);
        add_product<T>(into, matrix(powers_[2]), sum);
      } else {
        combine(into, c[parity], c.subspan(parity), powers);
      }
    }
    set_product<T>(u, a, odd);
    for (std::int64_t i = 0; i < size_ * size_; ++i) {
      sum.data[i] = even.data[i] + u.data[i];
      even.data[i] -= u.data[i];
    }
    lu_.factor(even, pivots_);
    exchange_rows<T>(sum, pivots_);
    solve_triangle<T>(even, {.lower = true, .unit = true}, sum, work_);
    solve_triangle<T>(even, {.lower = false, .unit = false}, sum, work_);
  }

  /// `one` on the diagonal, and `count` even powers, times every second of `c` from its third on.
  void combine(const Matrix<T> &to, double one, std::span<const double> c, std::size_t count) {
    std::array<const T *, kPowers> of{};
    for (std::size_t p = 0; p < count; ++p) of[p] = matrix(powers_[p]).data;
    for (std::int64_t i = 0; i < size_ * size_; ++i) {
      T sum = 0;
      for (std::size_t p = 0; p < count; ++p) sum += static_cast<Real<T>>(c[2 * p + 2]) * of[p][i];
      to.data[i] = sum;
    }
    for (std::int64_t i = 0; i < size_; ++i) to(i, i) += static_cast<Real<T>>(one);
  }

  /// Of the exponential of 2^-left times an upper triangle its diagonal and that above it.
  void set_diagonals(const Matrix<const T> &x, const Matrix<T> &to, int left) const {
    using std::exp, std::sinh;
    const Real<T> unit = std::ldexp(Real<T>(1), -left);
    for (std::int64_t i = 0; i < size_; ++i) {
      const T here = x(i, i) * unit;
      to(i, i) = exp(here);
      if (i + 1 == size_) break;
      const T there = x(i + 1, i + 1) * unit, half = (there - here) * Real<T>(0.5);
      // The divided difference of exp, without cancellation where the two are near.
      T slope;
      if (std::abs(half) > Real<T>(0.35)) slope = (exp(there) - exp(here)) / (there - here);
      else slope = exp(here + half) * (half == T(0) ? T(1) : sinh(half) / half);
      to(i, i + 1) = x(i, i + 1) * unit * slope;
    }
  }
  static bool is_upper(const Matrix<const T> &x) {
    for (std::int64_t i = 1; i < x.rows; ++i)
      for (std::int64_t j = 0; j < i; ++j)
        if (x(i, j) != T(0)) return false;
    return true;
  }

  /// Times 2^exponent.
  void scale(const Matrix<T> &x, int exponent) const {
    if (exponent == 0) return;
    for (std::int64_t i = 0; i < size_ * size_; ++i)
      if constexpr (kComplex<T>)
        x.data[i] = {std::ldexp(x.data[i].real(), exponent),
                     std::ldexp(x.data[i].imag(), exponent)};
      else x.data[i] = std::ldexp(x.data[i], exponent);
  }

  /// The logarithm of the largest sum of the absolute values of a column; of none that is finite
  /// infinity.
  double norm_of(const Matrix<T> &x) {
    sums_.assign(static_cast<std::size_t>(size_), 0.0);
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j)
        sums_[static_cast<std::size_t>(j)] += static_cast<double>(std::abs(x(i, j)));
    double largest = 0;
    for (const double sum : sums_) {
      if (!std::isfinite(sum)) return kInfinity;
      largest = std::max(largest, sum);
    }
    return std::log2(largest);
  }

  Matrix<T> matrix(Workspace<T> &memory) const { return memory.take(size_, size_); }

  std::int64_t size_;
  int squarings_ = 0;
  Lu<T> lu_;
  std::vector<std::int64_t> pivots_;
  std::vector<double> sums_, row_, sizes_;
  std::array<Workspace<T>, kPowers> powers_;
  Workspace<T> a_, odd_, even_, u_, sum_, other_, work_;
};

} // namespace

namespace routines {

template <class T>
void expm(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Exponential<T> exponential(size);
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      if (all_finite<T>(x)) exponential.of(x, batches.result<T>(0, i));
      else fill_nan(batches.result<T>(0, i));
    }
  });
}

template <class T>
void pinv(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t rows = batches.operand<T>(0, 0).rows,
                     columns = batches.operand<T>(0, 0).columns;
  batches.for_each(columns, [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> scaled, whole;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> inverses = batches.operand<T>(1, i), left = batches.operand<T>(2, i),
                            right = batches.operand<T>(3, i);
      const Matrix<T> vectors = scaled.take(columns, columns);
      for (std::int64_t row = 0; row < columns; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          vectors(row, column) = conjugated(right(column, row)) * inverses(column, 0);
      const Matrix<T> y = batches.result<T>(0, i);
      const Matrix<T> product = whole.take(columns, rows);
      set_product<T>(product, vectors, adjoint(left));
      copy<T>(product, y);
    }
  });
}

#define WEFT_FUNCTIONS_OF(T)                                                                       \
  template void expm<T>(const RoutineCall &);                                                      \
  template void pinv<T>(const RoutineCall &);
WEFT_FUNCTIONS_OF(float)
WEFT_FUNCTIONS_OF(double)
WEFT_FUNCTIONS_OF(std::complex<float>)
WEFT_FUNCTIONS_OF(std::complex<double>)
#undef WEFT_FUNCTIONS_OF

} // namespace routines

} // namespace weft::kernels
