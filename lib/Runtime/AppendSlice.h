// Appends slices to tensors in place, where nobody can tell.
#pragma once

#include <weft/tensor.h>

namespace weft::detail {

/// `x` with `slice` behind its last slice along the first axis; neither is traced, dtypes agree,
/// and the slice has x's sizes without the first. The memory has room for more slices: appending to
/// the result writes there, unless somebody did so before. Thread-safe.
Tensor append_slice(const Tensor &x, const Tensor &slice);

} // namespace weft::detail
