// How windows lie over the spatial axes of an image: what convolution and pooling have in common.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// How windows lie along one spatial axis. Position `out` of the result sees, for each `tap` of
/// the window, position `(out * stride + tap * window_dilation - low) / input_dilation` of the
/// input where that is a whole number inside, and a zero elsewhere.
struct WindowAxis {
  int64_t in = 1, window = 1, out = 1;
  int64_t stride = 1, low = 0, input_dilation = 1, window_dilation = 1;
};

} // namespace weft::kernels
