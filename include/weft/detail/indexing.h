// What bindings of other languages need of indices in brackets that are tensors.
#pragma once

#include <cstdint>

#include <weft/tensor.h>

namespace weft::detail {

/// The slices of `x` at these positions along an axis, as `x[positions]` has them. Throws
/// IndexError in the words of an index.
Tensor gather_indexed(const Tensor &x, const Tensor &positions, std::int64_t axis);

} // namespace weft::detail
