// Eigenvectors and singular vectors by the one number of length 1 that they leave open.
#pragma once

#include "Linalg/Matrix.h"

namespace weft::kernels {

/// The number of length 1, of real vectors 1 or -1, by which the first of a vector's largest
/// elements becomes real and positive, and the place of that element.
template <class T>
struct Phase {
  T factor = T(1);
  std::int64_t fixed = 0;

  static Phase of(std::int64_t count, const T *x) {
    Phase phase;
    Real<T> largest = 0;
    for (std::int64_t i = 0; i < count; ++i)
      if (const Real<T> size = std::abs(x[i]); size > largest) {
        largest = size;
        phase.fixed = i;
      }
    if (largest == 0) return phase;
    const T &element = x[phase.fixed];
    if constexpr (kComplex<T>) phase.factor = std::conj(element) / largest;
    else phase.factor = element < 0 ? T(-1) : T(1);
    return phase;
  }

  /// Element `i` of the vector times the number.
  T turned(const T *x, std::int64_t i) const {
    if constexpr (kComplex<T>)
      if (i == fixed) return std::abs(x[i]);
    return factor * x[i];
  }
};

} // namespace weft::kernels
