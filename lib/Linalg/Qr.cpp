// QR by Householder's reflections, as LAPACK signs them: panels of columns, and products for the
// rest.
#include <cmath>
#include <limits>
#include <vector>

#include "Linalg/Length.h"

namespace weft::kernels {

namespace {

constexpr std::int64_t kWide = 32;

/// All in one copy whose columns are adjacent elements: reflections below the diagonal, R on and
/// above it.
template <class T>
class Qr {
public:
  void factor(const Matrix<const T> &x) {
    rows_ = x.rows;
    columns_ = x.columns;
    a_ = whole_.take(columns_, rows_).transposed();
    copy<T>(x, a_);
    factors_.assign(static_cast<std::size_t>(columns_), T(0));
    blocks_.assign(static_cast<std::size_t>(columns_ * kWide), T(0));
    for (std::int64_t first = 0; first < columns_; first += kWide) {
      const std::int64_t wide = std::min(kWide, columns_ - first);
      reflect_panel(first, wide);
      join(first, wide);
      const std::int64_t right = columns_ - first - wide;
      if (right == 0) continue;
      // C^T -= ((C^T conj(V)) conj(T)) V^T
      const Matrix<T> rest = a_.block(first, first + wide, rows_ - first, right).transposed();
      apply(first, wide, rest, /*backwards=*/false);
    }
  }

  void triangle(const Matrix<T> &r) const {
    for (std::int64_t i = 0; i < r.rows; ++i)
      for (std::int64_t j = 0; j < r.columns; ++j)
        r(i, j) = i <= j && i < columns_ ? a_(i, j) : T(0);
  }

  /// The first columns of the product of all reflections.
  void basis(const Matrix<T> &q) {
    const Matrix<T> all = basis_.take(q.columns, rows_); // transposed
    for (std::int64_t j = 0; j < all.rows; ++j) {
      std::fill_n(all.data + j * all.row, rows_, T(0));
      all(j, j) = 1;
    }
    for (std::int64_t first = (columns_ - 1) / kWide * kWide; first >= 0 && columns_ > 0;
         first -= kWide)
      apply(first, std::min(kWide, columns_ - first),
            all.block(first, first, q.columns - first, rows_ - first), /*backwards=*/true);
    copy<T>(all.transposed(), q);
  }

private:
  /// The factor of a reflection that leaves only the first element of a column, which that becomes;
  /// the others become those of its vector, whose first one is 1. 0 if it has nothing to do.
  static T reflect(std::int64_t below, T &head, T *tail) {
    using R = Real<T>;
    // What is so small loses digits in its own quotients: as LAPACK's larfg, by steps.
    constexpr R kSmallest = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    int steps = 0;
    for (;;) {
      const R rest = length(below, tail);
      if (rest == 0 && std::imag(head) == 0) return T(0);
      const R size = kComplex<T> ? std::abs(head) : std::real(head);
      const R whole = std::copysign(std::hypot(size, rest), std::real(head));
      if (std::abs(whole) < kSmallest) {
        head /= kSmallest;
        for (std::int64_t i = 0; i < below; ++i) tail[i] /= kSmallest;
        ++steps;
        continue;
      }
      const T sum = head + whole;
      for (std::int64_t i = 0; i < below; ++i) tail[i] /= sum;
      head = -whole;
      for (; steps > 0; --steps) head *= kSmallest;
      return sum / whole;
    }
  }
  void reflect_panel(std::int64_t first, std::int64_t wide) {
    const auto &kernels = linalg_kernels<T>();
    for (std::int64_t j = first; j < first + wide; ++j) {
      const std::int64_t below = rows_ - j - 1;
      T *const column = &a_(j, j), *const tail = column + 1;
      T &factor = factors_[static_cast<std::size_t>(j)];
      factor = reflect(below, *column, tail);
      if (factor == T(0)) continue; // nothing to reflect
      for (std::int64_t c = j + 1; c < first + wide; ++c) {
        T *const other = &a_(j, c);
        const T by = conjugated(factor) * (*other + kernels.inner(below, tail, other + 1));
        *other -= by;
        kernels.subtract(below, by, tail, other + 1);
      }
    }
  }

  /// V of a panel, with ones on its diagonal and zeros above; rows are columns.
  Matrix<T> reflections(std::int64_t first, std::int64_t wide) {
    const Matrix<T> v = panel_.take(wide, rows_ - first);
    for (std::int64_t j = 0; j < wide; ++j) {
      T *const line = v.data + j * v.row;
      std::fill_n(line, j, T(0));
      line[j] = 1;
      std::copy_n(&a_(first + j, first + j) + 1, rows_ - first - j - 1, line + j + 1);
    }
    return v;
  }

  /// T of a panel: its reflections are I - V T V^H together.
  Matrix<T> block(std::int64_t first, std::int64_t wide) {
    return {wide, wide, blocks_.data() + first * kWide, kWide, 1};
  }
  void join(std::int64_t first, std::int64_t wide) {
    const Matrix<T> v = reflections(first, wide), t = block(first, wide);
    const Matrix<T> products = small_.take(wide, wide);
    set_product<T>(products, conjugate(v), v.transposed());
    for (std::int64_t j = 0; j < wide; ++j) {
      const T factor = factors_[static_cast<std::size_t>(first + j)];
      for (std::int64_t i = 0; i < j; ++i) {
        T sum = 0;
        for (std::int64_t p = i; p < j; ++p) sum += t(i, p) * products(p, j);
        t(i, j) = -factor * sum;
      }
      t(j, j) = factor;
    }
  }

  /// The reflections of a panel on columns, which are the rows of `c`, or the adjoint of them.
  void apply(std::int64_t first, std::int64_t wide, const Matrix<T> &c, bool backwards) {
    const Matrix<T> v = reflections(first, wide), t = block(first, wide);
    const Matrix<T> seen = seen_.take(c.rows, wide), joined = joined_.take(c.rows, wide);
    set_product<T>(seen, c, adjoint(v));
    set_product<T>(joined, seen, backwards ? Factor<T>(t.transposed()) : conjugate(t));
    subtract_product<T>(c, joined, v, small_);
  }

  std::int64_t rows_ = 0, columns_ = 0;
  Matrix<T> a_{};
  std::vector<T> factors_, blocks_;
  Workspace<T> whole_, basis_, panel_, small_, seen_, joined_;
};

} // namespace

namespace routines {

template <class T>
void qr(const RoutineCall &call) {
  const Batches batches(call);
  batches.for_each(batches.operand<T>(0, 0).columns, [&](std::int64_t begin, std::int64_t end) {
    Qr<T> qr;
    for (std::int64_t i = begin; i < end; ++i) {
      qr.factor(batches.operand<T>(0, i));
      qr.basis(batches.result<T>(0, i));
      qr.triangle(batches.result<T>(1, i));
    }
  });
}
template void qr<float>(const RoutineCall &);
template void qr<double>(const RoutineCall &);
template void qr<std::complex<float>>(const RoutineCall &);
template void qr<std::complex<double>>(const RoutineCall &);

} // namespace routines

} // namespace weft::kernels
