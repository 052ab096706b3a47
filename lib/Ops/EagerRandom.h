// The streams that states name.
#pragma once

#include "Kernels/Random.h"
#include <weft/tensor.h>

namespace weft::eager {

/// The stream of an eager state, an i64 tensor of the seed and the stream's number.
kernels::RandomStream stream_of(const Tensor &state);

} // namespace weft::eager
