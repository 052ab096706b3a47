// The square root of sums of squares.
#pragma once

#include <weft/ops.h>

namespace weft::composites {

/// With a gradient of 0 where they are 0.
inline Tensor root(const Tensor &squares) {
  const Tensor none = squares == 0;
  return select(none, squares, sqrt(select(none, 1, squares)));
}

} // namespace weft::composites
