// Eigenvalues and eigenvectors of matrices that are not symmetric, real and complex ones, by
// LAPACK.
#include <algorithm>
#include <complex>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "Linalg/Lapack.h"
#include "Linalg/Phases.h"

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

  /// Whether they were found, of a real or a complex matrix.
  template <class E>
  bool find(const Matrix<const E> &x) {
    vectors = columns_.take(size_, size_).transposed();
    bool is_real = true;
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) is_real &= std::imag(x(i, j)) == 0;
    if (!(is_real ? find_of_real(x) : find_of_complex(x))) return false;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int64_t i) {
      const Complex &value = values[static_cast<std::size_t>(i)];
      return std::tuple(value.real(), value.imag());
    });
    return true;
  }

private:
  template <class E>
  bool find_of_real(const Matrix<const E> &x) {
    const Matrix<T> a = real_.take(size_, size_).transposed();
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) a(i, j) = std::real(x(i, j));
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

  template <class E>
  bool find_of_complex(const Matrix<const E> &x) {
    const Matrix<Complex> a = complex_.take(size_, size_).transposed();
    for (std::int64_t i = 0; i < size_; ++i)
      for (std::int64_t j = 0; j < size_; ++j) a(i, j) = x(i, j);
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
  using Complex = std::complex<Real<T>>;
  const Batches batches(call);
  const std::int64_t size = batches.operand<T>(0, 0).rows;
  const Lapack &lapack = Lapack::get();
  First refused;
  batches.for_each(size, [&](std::int64_t begin, std::int64_t end) {
    Eigensystem<Real<T>> found(lapack, size);
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> x = batches.operand<T>(0, i);
      const Matrix<Complex> values = batches.result<Complex>(0, i),
                            vectors = batches.result<Complex>(1, i);
      if (!all_finite<T>(x)) {
        fill_nan(values);
        fill_nan(vectors);
        continue;
      }
      if (!found.find(x)) {
        refused.note(i);
        continue;
      }
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t from = found.order[static_cast<std::size_t>(j)];
        values(j, 0) = found.values[static_cast<std::size_t>(from)];
        const Complex *const column = &found.vectors(0, from);
        const auto phase = Phase<Complex>::of(size, column);
        for (std::int64_t row = 0; row < size; ++row) {
          const Complex element = phase.turned(column, row);
          vectors(row, j) = {element.real() + Real<T>(0), element.imag() + Real<T>(0)}; // no -0
        }
      }
    }
  });
  if (const std::optional<std::int64_t> i = refused.number())
    batches.refuse("eig", *i, "has eigenvalues that did not converge");
}

template void eig<float>(const RoutineCall &);
template void eig<double>(const RoutineCall &);
template void eig<std::complex<float>>(const RoutineCall &);
template void eig<std::complex<double>>(const RoutineCall &);

} // namespace routines

} // namespace weft::kernels
