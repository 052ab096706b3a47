// Eigenvalues and eigenvectors of matrices that are not symmetric, real and complex ones, by
// LAPACK.
#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "Linalg/Lapack.h"
#include "Linalg/Matrix.h"

namespace weft::kernels {

namespace {

/// The eigenvalues of one matrix after another, and vectors in columns.
template <class T>
class Eigensystem {
public:
  using Complex = std::complex<T>;

  Eigensystem(const Lapack &lapack, std::int64_t size)
      : lapack_(lapack), size_(size), values(static_cast<std::size_t>(size)),
        order(static_cast<std::size_t>(size)) {}

  /// Whether they were found.
  bool find(const Matrix<const T> &re, const Matrix<const T> &im) {
    vectors = columns_.take(size_, size_).transposed();
    bool is_real = true;
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) is_real &= im(i, j) == 0;
    if (!(is_real ? find_of_real(re) : find_of_complex(re, im))) return false;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int64_t i) {
      const Complex &value = values[static_cast<std::size_t>(i)];
      return std::tuple(value.real(), value.imag());
    });
    return true;
  }

  /// The number of length 1 by which the largest element of a vector becomes real and positive, and
  /// the row of that.
  std::pair<Complex, std::int64_t> phase_of(std::int64_t column) const {
    std::int64_t largest = 0;
    T most = 0;
    for (std::int64_t i = 0; i < size_; ++i)
      if (const T size = std::abs(vectors(i, column)); size > most) {
        most = size;
        largest = i;
      }
    return {std::conj(vectors(largest, column)) / most, largest};
  }

private:
  bool find_of_real(const Matrix<const T> &re) {
    const Matrix<T> a = real_.take(size_, size_).transposed();
    copy<T>(re, a);
    const Matrix<T> packed = packed_.take(size_, size_).transposed();
    T *const parts = parts_.take(2 * size_);
    if (lapack_.geev(size_, a.data, parts, parts + size_, packed.data) != 0) return false;
    for (std::int64_t j = 0; j < size_; ++j) {
      const T imaginary = parts[size_ + j];
      values[static_cast<std::size_t>(j)] = {parts[j], imaginary};
      // The second of a pair is the conjugate of the first.
      const std::int64_t first = imaginary < 0 ? j - 1 : j;
      for (std::int64_t i = 0; i < size_; ++i) {
        const T beside = imaginary == 0 ? T(0) : packed(i, first + 1);
        vectors(i, j) = {packed(i, first), imaginary < 0 ? -beside : beside};
      }
    }
    return true;
  }

  bool find_of_complex(const Matrix<const T> &re, const Matrix<const T> &im) {
    const Matrix<Complex> a = complex_.take(size_, size_).transposed();
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) a(i, j) = {re(i, j), im(i, j)};
    return lapack_.geev(size_, a.data, values.data(), vectors.data) == 0;
  }

  const Lapack &lapack_;
  std::int64_t size_;
  Workspace<T> real_, packed_, parts_;
  Workspace<Complex> complex_, columns_;

public:
  std::vector<Complex> values;
  std::vector<std::int64_t> order; ///< of the eigenvalues, by real parts, then imaginary ones
  Matrix<Complex> vectors = {};
};

} // namespace

namespace routines {

template <class T>
void eig(const RoutineCall &call) {
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  const Lapack &lapack = Lapack::get();
  First refused;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Eigensystem<T> found(lapack, size);
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> re = batches.operand<T>(0, i), im = batches.operand<T>(1, i);
      const Matrix<T> values[] = {batches.result<T>(0, i), batches.result<T>(1, i)},
                      vectors[] = {batches.result<T>(2, i), batches.result<T>(3, i)};
      if (!all_finite<T>(re) || !all_finite<T>(im)) {
        for (const int part : {0, 1}) {
          fill_nan(values[part]);
          fill_nan(vectors[part]);
        }
        continue;
      }
      if (!found.find(re, im)) {
        refused.note(i);
        continue;
      }
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t from = found.order[static_cast<std::size_t>(j)];
        const std::complex<T> value = found.values[static_cast<std::size_t>(from)];
        values[0](j, 0) = value.real();
        values[1](j, 0) = value.imag();
        const auto [phase, fixed] = found.phase_of(from);
        for (std::int64_t row = 0; row < size; ++row) {
          const std::complex<T> element = found.vectors(row, from) * phase;
          vectors[0](row, j) = element.real() + T(0); // no -0
          vectors[1](row, j) = row == fixed ? T(0) : element.imag() + T(0);
        }
      }
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("eig", *i, "has eigenvalues that did not converge");
}

template void eig<float>(const RoutineCall &);
template void eig<double>(const RoutineCall &);

} // namespace routines

} // namespace weft::kernels
