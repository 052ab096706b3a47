// What bindings of other languages need of indices in brackets that are tensors.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/tensor.h>

namespace weft::detail {

/// The slices of `x` at these positions along an axis, as `x[positions]` has them. Throws
/// IndexError in the words of an index.
Tensor gather_indexed(const Tensor &x, const Tensor &positions, std::int64_t axis);

/// The slices where a mask, which is of the first sizes of `x`, holds, as `x[mask]` has them.
/// Throws IndexError in the words of an index.
Tensor masked(const Tensor &x, const Tensor &mask);

/// The positions, along each axis of a mask, where it holds; it is of the sizes of `x` from an axis
/// on.
std::vector<Tensor> mask_positions(const Tensor &x, const Tensor &mask, std::int64_t axis);

} // namespace weft::detail
