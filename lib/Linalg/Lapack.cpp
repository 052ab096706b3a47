// Opens a LAPACK, and calls it as Fortran is called.
#include "Linalg/Lapack.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "Linalg/LinalgKernels.h"
#include "Support/Fault.h"

namespace weft::kernels {

bool Lapack::load(void *library) {
  struct Spelling {
    const char *before, *behind;
  };
  // Fortran's, and those of the library that SciPy's packages bring.
  for (const Spelling &spelling : {Spelling{"", "_"}, {"scipy_", "_"}, {"scipy_", "_64_"}}) {
    const auto find = [&]<class F>(F &function, const char *name) {
      const std::string symbol = std::string(spelling.before) + name + spelling.behind;
      function = reinterpret_cast<F>(dlsym(library, symbol.c_str()));
      return function != nullptr;
    };
    if (!find(ssyevd_, "ssyevd") || !find(dsyevd_, "dsyevd") || !find(sgesdd_, "sgesdd") ||
        !find(dgesdd_, "dgesdd") || !find(sgeev_, "sgeev") || !find(dgeev_, "dgeev") ||
        !find(cheevd_, "cheevd") || !find(zheevd_, "zheevd") || !find(cgesdd_, "cgesdd") ||
        !find(zgesdd_, "zgesdd") || !find(cgeev_, "cgeev") || !find(zgeev_, "zgeev"))
      continue;
    // Batches run on threads of their own.
    for (const char *name : {"openblas_set_num_threads", "scipy_openblas_set_num_threads",
                             "scipy_openblas_set_num_threads64_"})
      if (void *set = dlsym(library, name)) reinterpret_cast<void (*)(int)>(set)(1);
    return true;
  }
  return false;
}

const Lapack &Lapack::get() {
  // Whoever installs one, or names it, need not begin anew: only what was found is kept.
  static const Lapack found = [] {
    std::vector<std::string> names = {"libopenblas.so.0", "liblapack.so.3"};
    if (const char *own = std::getenv("WEFT_LAPACK"); own != nullptr && *own != 0) names = {own};
    Lapack lapack;
    std::string tried;
    for (const std::string &name : names) {
      tried += (tried.empty() ? "" : "; ") + name;
      void *const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        const char *const why = dlerror();
        tried += why != nullptr ? " (" + std::string(why) + ")" : "";
        continue;
      }
      if (lapack.load(library)) return lapack;
      dlclose(library);
      tried += " (it lacks syevd, heevd, gesdd or geev)";
    }
    raise(ErrorKind::io,
          "eigenvalues of matrices that are not symmetric, and eigenvalues and singular values of "
          "matrices of more than " +
              std::to_string(kSmall) + " columns need LAPACK, and there is none: tried " + tried +
              ". Install OpenBLAS (Debian, Ubuntu: apt install libopenblas0; Fedora: dnf install "
              "openblas; else pip install scipy-openblas32), or name the file of a LAPACK in "
              "WEFT_LAPACK");
  }();
  return found;
}

template <class T>
std::int64_t Lapack::heevd(std::int64_t size, T *a, T *values) const {
  const auto function = of<T>(ssyevd_, dsyevd_);
  Int info = 0, ask = -1, integers = 0;
  T wanted = 0;
  function("V", "L", &size, a, &size, values, &wanted, &ask, &integers, &ask, &info, 1, 1);
  // A large number may be rounded down in the answer.
  const Int count = std::max<Int>(static_cast<Int>(wanted), 1 + 6 * size + 2 * size * size),
            more = std::max<Int>(static_cast<std::int32_t>(integers), 3 + 5 * size);
  std::vector<T> work(static_cast<std::size_t>(count));
  std::vector<Int> iwork(static_cast<std::size_t>(more));
  function("V", "L", &size, a, &size, values, work.data(), &count, iwork.data(), &more, &info, 1,
           1);
  return static_cast<std::int32_t>(info);
}

template <class T>
std::int64_t Lapack::heevd(std::int64_t size, std::complex<T> *a, T *values) const {
  const auto function = of<T>(cheevd_, zheevd_);
  Int info = 0;
  // As much as its documentation says, which is the most for vectors.
  const Int count = std::max<Int>(size * (2 + size), 1), reals = 1 + 5 * size + 2 * size * size,
            integers = 3 + 5 * size;
  std::vector<std::complex<T>> work(static_cast<std::size_t>(count));
  std::vector<T> rwork(static_cast<std::size_t>(reals));
  std::vector<Int> iwork(static_cast<std::size_t>(integers));
  function("V", "L", &size, a, &size, values, work.data(), &count, rwork.data(), &reals,
           iwork.data(), &integers, &info, 1, 1);
  return static_cast<std::int32_t>(info);
}

template <class T>
std::int64_t Lapack::gesdd(std::int64_t rows, std::int64_t columns, T *a, T *values, T *left,
                           T *right) const {
  const auto function = of<T>(sgesdd_, dgesdd_);
  Int info = 0, ask = -1;
  T wanted = 0;
  std::vector<Int> iwork(static_cast<std::size_t>(8 * columns));
  function("S", &rows, &columns, a, &rows, values, left, &rows, right, &columns, &wanted, &ask,
           iwork.data(), &info, 1);
  const Int count = std::max<Int>(static_cast<Int>(wanted),
                                  4 * columns * columns + 7 * columns + std::max(rows, columns));
  std::vector<T> work(static_cast<std::size_t>(count));
  function("S", &rows, &columns, a, &rows, values, left, &rows, right, &columns, work.data(),
           &count, iwork.data(), &info, 1);
  return static_cast<std::int32_t>(info);
}

template <class T>
std::int64_t Lapack::gesdd(std::int64_t rows, std::int64_t columns, std::complex<T> *a, T *values,
                           std::complex<T> *left, std::complex<T> *right) const {
  const auto function = of<T>(cgesdd_, zgesdd_);
  Int info = 0, ask = -1;
  std::complex<T> wanted = 0;
  std::vector<T> rwork(static_cast<std::size_t>(
      columns * std::max(5 * columns + 7, 2 * std::max(rows, columns) + 2 * columns + 1)));
  std::vector<Int> iwork(static_cast<std::size_t>(8 * columns));
  function("S", &rows, &columns, a, &rows, values, left, &rows, right, &columns, &wanted, &ask,
           rwork.data(), iwork.data(), &info, 1);
  const Int count = std::max<Int>(static_cast<Int>(wanted.real()),
                                  columns * columns + 3 * columns + std::max(rows, columns));
  std::vector<std::complex<T>> work(static_cast<std::size_t>(count));
  function("S", &rows, &columns, a, &rows, values, left, &rows, right, &columns, work.data(),
           &count, rwork.data(), iwork.data(), &info, 1);
  return static_cast<std::int32_t>(info);
}

template <class T>
std::int64_t Lapack::geev(std::int64_t size, T *a, T *values_re, T *values_im, T *vectors) const {
  const auto function = of<T>(sgeev_, dgeev_);
  Int info = 0, ask = -1, one = 1;
  T wanted = 0, none = 0;
  function("N", "V", &size, a, &size, values_re, values_im, &none, &one, vectors, &size, &wanted,
           &ask, &info, 1, 1);
  const Int count = std::max<Int>(static_cast<Int>(wanted), 4 * size);
  std::vector<T> work(static_cast<std::size_t>(count));
  function("N", "V", &size, a, &size, values_re, values_im, &none, &one, vectors, &size,
           work.data(), &count, &info, 1, 1);
  return static_cast<std::int32_t>(info);
}

template <class T>
std::int64_t Lapack::geev(std::int64_t size, std::complex<T> *a, std::complex<T> *values,
                          std::complex<T> *vectors) const {
  const auto function = of<T>(cgeev_, zgeev_);
  Int info = 0, ask = -1, one = 1;
  std::complex<T> wanted = 0, none = 0;
  std::vector<T> reals(static_cast<std::size_t>(2 * size));
  function("N", "V", &size, a, &size, values, &none, &one, vectors, &size, &wanted, &ask,
           reals.data(), &info, 1, 1);
  const Int count = std::max<Int>(static_cast<Int>(wanted.real()), 2 * size);
  std::vector<std::complex<T>> work(static_cast<std::size_t>(count));
  function("N", "V", &size, a, &size, values, &none, &one, vectors, &size, work.data(), &count,
           reals.data(), &info, 1, 1);
  return static_cast<std::int32_t>(info);
}

#define WEFT_LAPACK_OF(T)                                                                          \
  template std::int64_t Lapack::heevd<T>(std::int64_t, T *, T *) const;                            \
  template std::int64_t Lapack::heevd<T>(std::int64_t, std::complex<T> *, T *) const;              \
  template std::int64_t Lapack::gesdd<T>(std::int64_t, std::int64_t, T *, T *, T *, T *) const;    \
  template std::int64_t Lapack::gesdd<T>(std::int64_t, std::int64_t, std::complex<T> *, T *,       \
                                         std::complex<T> *, std::complex<T> *) const;              \
  template std::int64_t Lapack::geev<T>(std::int64_t, T *, T *, T *, T *) const;                   \
  template std::int64_t Lapack::geev<T>(std::int64_t, std::complex<T> *, std::complex<T> *,        \
                                        std::complex<T> *) const;
WEFT_LAPACK_OF(float)
WEFT_LAPACK_OF(double)
#undef WEFT_LAPACK_OF

} // namespace weft::kernels
