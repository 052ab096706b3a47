// Pseudo-inverses of what svd gave, and exponentials of matrices.
#include <array>
#include <vector>

#include "Linalg/Lu.h"

namespace weft::kernels {

namespace {

/// Coefficients of Pade's approximant of exp of degree M: its numerator is of x what its
/// denominator is of -x.
template <int M>
constexpr std::array<double, M + 1> kPade = [] {
  std::array<double, M + 1> c{};
  c[M] = 1;
  for (int j = M; j > 0; --j) c[j - 1] = c[j] * j * (2 * M - j + 1) / (M - j + 1);
  return c;
}();

/// The norm up to which the approximant of a degree is as exact as the type, by Higham 2005.
struct Degree {
  double norm;
  std::span<const double> coefficients;
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

template <class T>
class Exponential {
public:
  explicit Exponential(std::int64_t size) : size_(size), pivots_(static_cast<std::size_t>(size)) {}

  void of(const Matrix<const T> &x, const Matrix<T> &to) {
    const double norm = largest_column(x);
    const Degree *degree = kDegrees<T>.begin();
    while (degree + 1 != kDegrees<T>.end() && norm > degree->norm) ++degree;
    const int squarings =
        norm > degree->norm ? std::max(std::ilogb(norm / degree->norm) + 1, 0) : 0;
    const Matrix<T> a = matrix(a_);
    copy<T>(x, a);
    for (std::int64_t i = 0; i < size_ * size_; ++i)
      if constexpr (kComplex<T>)
        a.data[i] = {std::ldexp(a.data[i].real(), -squarings),
                     std::ldexp(a.data[i].imag(), -squarings)};
      else a.data[i] = std::ldexp(a.data[i], -squarings);
    approximate(a, degree->coefficients);
    Matrix<T> power = matrix(sum_), next = matrix(other_);
    for (int i = 0; i < squarings; ++i) {
      set_product<T>(next, power, power);
      std::swap(power, next);
    }
    copy<T>(power, to);
  }

private:
  /// Into `sum_`: (V - U)^-1 (V + U), where U has the odd powers and V the even ones.
  void approximate(const Matrix<T> &a, std::span<const double> c) {
    const Matrix<T> squared = matrix(squared_), odd = matrix(odd_), even = matrix(even_),
                    u = matrix(u_), sum = matrix(sum_);
    set_product<T>(squared, a, a);
    if (c.size() == 14) {
      // Degree 13 in three more products than powers: x^6 times half of the sums.
      const Matrix<T> fourth = matrix(fourth_), sixth = matrix(sixth_);
      set_product<T>(fourth, squared, squared);
      set_product<T>(sixth, fourth, squared);
      const std::array<Matrix<T>, 3> powers = {squared, fourth, sixth};
      const auto both = [&](const Matrix<T> &into, std::size_t first) {
        combine(sum, 0, {c[first + 8], c[first + 10], c[first + 12]}, powers);
        combine(into, c[first], {c[first + 2], c[first + 4], c[first + 6]}, powers);
        add_product<T>(into, sixth, sum);
      };
      both(even, 0);
      both(odd, 1);
    } else {
      // Horner's scheme in the square, of odd and even powers in turn.
      for (std::size_t parity : {std::size_t(0), std::size_t(1)}) {
        Matrix<T> result = parity == 0 ? even : odd, next = u;
        std::size_t j = c.size() - 2 + parity;
        combine(result, c[j - 2], {c[j]}, std::array<Matrix<T>, 1>{squared});
        for (j -= 2; j >= 2; j -= 2) {
          set_product<T>(next, result, squared);
          add_diagonal(next, c[j - 2]);
          std::swap(result, next);
        }
        if (result.data != (parity == 0 ? even : odd).data)
          copy<T>(result, parity == 0 ? even : odd);
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

  /// `one` on the diagonal, and multiples of powers.
  template <std::size_t N>
  void combine(const Matrix<T> &to, double one, const std::array<double, N> &factors,
               const std::array<Matrix<T>, N> &powers) const {
    for (std::int64_t i = 0; i < size_ * size_; ++i) {
      T sum = 0;
      for (std::size_t p = 0; p < N; ++p)
        sum += static_cast<Real<T>>(factors[p]) * powers[p].data[i];
      to.data[i] = sum;
    }
    add_diagonal(to, one);
  }
  void add_diagonal(const Matrix<T> &to, double one) const {
    for (std::int64_t i = 0; i < size_; ++i) to(i, i) += static_cast<Real<T>>(one);
  }

  /// The largest sum of the absolute values of a column.
  static double largest_column(const Matrix<const T> &x) {
    double largest = 0;
    for (std::int64_t j = 0; j < x.columns; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < x.rows; ++i) sum += static_cast<double>(std::abs(x(i, j)));
      largest = std::max(largest, sum);
    }
    return largest;
  }

  Matrix<T> matrix(Workspace<T> &memory) const { return memory.take(size_, size_); }

  std::int64_t size_;
  Lu<T> lu_;
  std::vector<std::int64_t> pivots_;
  Workspace<T> a_, squared_, fourth_, sixth_, odd_, even_, u_, sum_, other_, work_;
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
