// Cholesky: blocks on the diagonal, solves for what is below them, and products for the rest.
#include <cmath>

#include "Linalg/Triangular.h"

namespace weft::kernels {

namespace {

/// Columns of a panel, and of those that its block on the diagonal is factored by.
constexpr std::int64_t kWide = 64, kNarrow = 16;
/// Columns of the rest that one product has: of those above the diagonal it writes a few too.
constexpr std::int64_t kBand = 128;

template <class T>
class Cholesky {
public:
  /// Factors the lower triangle of `a`, whose rows are adjacent elements, in place; what is above
  /// has to be zero. Whether it is positive definite.
  bool factor(const Matrix<T> &a) {
    if (!factor_panels(a, a.rows <= kWide ? kNarrow : kWide)) return false;
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t column = row + 1; column < std::min(row + kBand, a.rows); ++column)
        a(row, column) = 0;
    return true;
  }

private:
  bool factor_panels(const Matrix<T> &a, std::int64_t most) {
    for (std::int64_t first = 0; first < a.rows; first += most) {
      const std::int64_t wide = std::min(most, a.rows - first), below = a.rows - first - wide;
      const Matrix<T> diagonal = a.block(first, first, wide, wide);
      if (!(wide > kNarrow ? factor_panels(diagonal, kNarrow) : factor_block(diagonal)))
        return false;
      if (below == 0) continue;
      const Matrix<T> left = a.block(first + wide, first, below, wide);
      // With columns as rows: L X = A^H.
      const Matrix<T> rows = rows_.take(wide, below);
      copy_adjoint<T>(left, rows);
      solve_triangle<T>(diagonal, {.lower = true, .unit = false}, rows, work_);
      copy_adjoint<T>(rows, left);
      const Matrix<T> negated = negated_.take(below, wide);
      for (std::int64_t i = 0; i < below; ++i)
        for (std::int64_t j = 0; j < wide; ++j) negated(i, j) = -left(i, j);
      // Of the rest the lower triangle, in bands of columns.
      for (std::int64_t band = 0; band < below; band += kBand) {
        const std::int64_t height = below - band, width = std::min(kBand, height);
        add_product<T>(a.block(first + wide + band, first + wide + band, height, width),
                       negated.block(band, 0, height, wide), rows.block(0, band, wide, width));
      }
    }
    return true;
  }

  static bool factor_block(const Matrix<T> &a) {
    const auto &kernels = linalg_kernels<T>();
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        const T rest = a(i, j) - kernels.inner(j, &a(j, 0), &a(i, 0));
        if (i == j) {
          if (std::real(rest) <= 0) return false;
          a(i, i) = std::sqrt(std::real(rest));
        } else {
          a(i, j) = rest / std::real(a(j, j));
        }
      }
    return true;
  }

  Workspace<T> rows_, negated_, work_;
};

} // namespace

namespace routines {

template <class T>
void cholesky(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  First refused;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Cholesky<T> cholesky;
    Workspace<T> whole;
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<T> result = batches.result<T>(0, i);
      const Matrix<T> work = result.column == 1 ? result : whole.take(size, size);
      copy_hermitian<T>(x, work, Triangles::lower);
      if (!cholesky.factor(work)) {
        refused.note(i);
        continue;
      }
      if (work.data != result.data) copy<T>(work, result);
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("cholesky", *i, "is not positive definite");
}
template void cholesky<float>(const RoutineCall &);
template void cholesky<double>(const RoutineCall &);
template void cholesky<std::complex<float>>(const RoutineCall &);
template void cholesky<std::complex<double>>(const RoutineCall &);

} // namespace routines

} // namespace weft::kernels
