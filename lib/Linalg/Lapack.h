// LAPACK of the system, of which a library is opened when it is first wanted.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace weft::kernels {

/// The routines of LAPACK that are used. Matrices lie by columns, and what the routine says of its
/// end is given back: 0, or above 0 where it did not converge.
class Lapack {
public:
  /// Throws IOError, which says what was tried and what to install, where the system has none.
  static const Lapack &get();

  /// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors in place of it.
  template <class T>
  std::int64_t heevd(std::int64_t size, T *a, T *values) const;
  /// The same of a Hermitian one.
  template <class T>
  std::int64_t heevd(std::int64_t size, std::complex<T> *a, T *values) const;
  /// Eigenvalues of a matrix, their real and imaginary parts, and eigenvectors; of a pair of
  /// conjugates, whose positive imaginary part is the first, real parts and imaginary ones are two
  /// columns. The matrix is lost.
  template <class T>
  std::int64_t geev(std::int64_t size, T *a, T *values_re, T *values_im, T *vectors) const;
  /// The same of a complex matrix.
  template <class T>
  std::int64_t geev(std::int64_t size, std::complex<T> *a, std::complex<T> *values,
                    std::complex<T> *vectors) const;
  /// Singular values of a matrix of at least as many rows as columns, descending, with as many left
  /// vectors, and the right ones transposed. The matrix is lost.
  template <class T>
  std::int64_t gesdd(std::int64_t rows, std::int64_t columns, T *a, T *values, T *left,
                     T *right) const;
  /// The same of a complex matrix, whose right vectors are conjugated.
  template <class T>
  std::int64_t gesdd(std::int64_t rows, std::int64_t columns, std::complex<T> *a, T *values,
                     std::complex<T> *left, std::complex<T> *right) const;

private:
  /// Integers are of 64 bits here and in some libraries; others read and write the lower half.
  using Int = std::int64_t;
  template <class T>
  using Syevd = void (*)(const char *jobz, const char *uplo, const Int *n, T *a, const Int *lda,
                         T *w, T *work, const Int *lwork, Int *iwork, const Int *liwork, Int *info,
                         std::size_t, std::size_t);
  template <class T>
  using Heevd = void (*)(const char *jobz, const char *uplo, const Int *n, std::complex<T> *a,
                         const Int *lda, T *w, std::complex<T> *work, const Int *lwork, T *rwork,
                         const Int *lrwork, Int *iwork, const Int *liwork, Int *info, std::size_t,
                         std::size_t);
  template <class T>
  using Geev = void (*)(const char *jobvl, const char *jobvr, const Int *n, T *a, const Int *lda,
                        T *wr, T *wi, T *vl, const Int *ldvl, T *vr, const Int *ldvr, T *work,
                        const Int *lwork, Int *info, std::size_t, std::size_t);
  template <class T>
  using ComplexGeev = void (*)(const char *jobvl, const char *jobvr, const Int *n,
                               std::complex<T> *a, const Int *lda, std::complex<T> *w,
                               std::complex<T> *vl, const Int *ldvl, std::complex<T> *vr,
                               const Int *ldvr, std::complex<T> *work, const Int *lwork, T *rwork,
                               Int *info, std::size_t, std::size_t);
  template <class T>
  using Gesdd = void (*)(const char *jobz, const Int *m, const Int *n, T *a, const Int *lda, T *s,
                         T *u, const Int *ldu, T *vt, const Int *ldvt, T *work, const Int *lwork,
                         Int *iwork, Int *info, std::size_t);
  template <class T>
  using ComplexGesdd = void (*)(const char *jobz, const Int *m, const Int *n, std::complex<T> *a,
                                const Int *lda, T *s, std::complex<T> *u, const Int *ldu,
                                std::complex<T> *vt, const Int *ldvt, std::complex<T> *work,
                                const Int *lwork, T *rwork, Int *iwork, Int *info, std::size_t);
  template <class T>
  const auto &of(const auto &single, const auto &twice) const {
    if constexpr (std::same_as<T, float>) return single;
    else return twice;
  }
  bool load(void *library);

  Syevd<float> ssyevd_ = nullptr;
  Syevd<double> dsyevd_ = nullptr;
  Heevd<float> cheevd_ = nullptr;
  Heevd<double> zheevd_ = nullptr;
  Geev<float> sgeev_ = nullptr;
  Geev<double> dgeev_ = nullptr;
  ComplexGeev<float> cgeev_ = nullptr;
  ComplexGeev<double> zgeev_ = nullptr;
  Gesdd<float> sgesdd_ = nullptr;
  Gesdd<double> dgesdd_ = nullptr;
  ComplexGesdd<float> cgesdd_ = nullptr;
  ComplexGesdd<double> zgesdd_ = nullptr;
};

} // namespace weft::kernels
