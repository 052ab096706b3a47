// Signs of floating numbers, which zeros have as well.
#pragma once

#include <weft/ops.h>

namespace weft::composites {

/// Whether elements are below 0, or a zero that is.
inline Tensor is_negative(const Tensor &x) {
  const Tensor below = 1 / select(x == 0, x, 1);
  return (x < 0) | (stop_gradient(below) < 0);
}

} // namespace weft::composites
