// The length of a vector.
#pragma once

#include <cmath>
#include <limits>

#include "Linalg/Matrix.h"

namespace weft::kernels {

/// The length of a vector, also where squares would overflow or vanish.
template <class T>
Real<T> length(std::int64_t count, const T *x) {
  using R = Real<T>;
  const R squares = std::real(linalg_kernels<T>().inner(count, x, x));
  if (squares >= std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon() &&
      squares <= std::numeric_limits<R>::max())
    return std::sqrt(squares);
  R largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const R magnitude = std::abs(x[i]);
    if (magnitude > largest || magnitude != magnitude) largest = magnitude;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  R sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    sum += std::real(conjugated(x[i]) / largest * (x[i] / largest));
  return largest * std::sqrt(sum);
}

} // namespace weft::kernels
