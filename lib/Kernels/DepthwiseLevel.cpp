// The kernels of depthwise convolution of one x86-64 level: vectors run along the channels. The
// build compiles this file once per level, with that level's -march and WEFT_LEVEL set to 2, 3 or
// 4.

#include "Kernels/ConvolutionKernels.h"
#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// Positions, or taps, that are computed together: a vector of the kernel serves them all.
constexpr int kTogether = WEFT_LEVEL == 4 ? 8 : 4;

/// `Count` neighbouring positions of one vector of channels.
template <typename T, int Count>
void positions(const DepthwiseRow<T> &row, const T *x, const T *kernel, T *y, int lanes) {
  Vec<T> sum[Count];
#pragma clang loop unroll(full)
  for (int i = 0; i < Count; ++i) sum[i] = Vec<T>(T(0));
  if (lanes == kLanes<T>) {
    for (int64_t tap = 0; tap < row.taps; ++tap) {
      const Vec<T> weight = load(kernel + tap * row.channels);
      const T *const from = x + row.taps_at[tap];
#pragma clang loop unroll(full)
      for (int i = 0; i < Count; ++i)
        sum[i] = multiply_add<T>(load(from + i * row.x_step), weight, sum[i]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i) store(y + i * row.y_step, sum[i]);
    return;
  }
  for (int64_t tap = 0; tap < row.taps; ++tap) {
    const Vec<T> weight = load_first(kernel + tap * row.channels, lanes);
    const T *const from = x + row.taps_at[tap];
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i)
      sum[i] = multiply_add<T>(load_first(from + i * row.x_step, lanes), weight, sum[i]);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Count; ++i) store_first(y + i * row.y_step, sum[i], lanes);
}

template <typename T>
void forward(const DepthwiseRow<T> &row, const T *kernel, T *y) {
  for (int64_t c = 0; c < row.channels; c += kLanes<T>) {
    const int lanes = row.channels - c < kLanes<T> ? int(row.channels - c) : kLanes<T>;
    int64_t i = 0;
    for (; i + kTogether <= row.positions; i += kTogether)
      positions<T, kTogether>(row, row.x + i * row.x_step + c, kernel + c, y + i * row.y_step + c,
                              lanes);
    for (; i < row.positions; ++i)
      positions<T, 1>(row, row.x + i * row.x_step + c, kernel + c, y + i * row.y_step + c, lanes);
  }
}

/// `Count` taps of one vector of channels.
template <typename T, int Count>
void taps(const DepthwiseRow<T> &row, const T *x, const int64_t *at, const T *dy, T *gradient,
          int lanes) {
  Vec<T> sum[Count];
#pragma clang loop unroll(full)
  for (int t = 0; t < Count; ++t) sum[t] = load_first(gradient + t * row.channels, lanes);
  for (int64_t i = 0; i < row.positions; ++i) {
    const Vec<T> cotangent = load_first(dy + i * row.y_step, lanes);
    const T *const from = x + i * row.x_step;
#pragma clang loop unroll(full)
    for (int t = 0; t < Count; ++t)
      sum[t] = multiply_add<T>(load_first(from + at[t], lanes), cotangent, sum[t]);
  }
#pragma clang loop unroll(full)
  for (int t = 0; t < Count; ++t) store_first(gradient + t * row.channels, sum[t], lanes);
}

template <typename T>
void gradient(const DepthwiseRow<T> &row, const T *dy, T *gradient) {
  for (int64_t c = 0; c < row.channels; c += kLanes<T>) {
    const int lanes = row.channels - c < kLanes<T> ? int(row.channels - c) : kLanes<T>;
    int64_t t = 0;
    for (; t + kTogether <= row.taps; t += kTogether)
      taps<T, kTogether>(row, row.x + c, row.taps_at + t, dy + c, gradient + t * row.channels + c,
                         lanes);
    for (; t < row.taps; ++t)
      taps<T, 1>(row, row.x + c, row.taps_at + t, dy + c, gradient + t * row.channels + c, lanes);
  }
}

template <typename T>
constexpr DepthwiseKernels<T> kernels() {
  return {forward<T>, gradient<T>};
}

} // namespace

constexpr DepthwiseLevel kDepthwiseTable = {kernels<float>(), kernels<double>(),
                                            kernels<uint32_t>(), kernels<uint64_t>()};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const DepthwiseLevel depthwise_level_v4 = v4::kDepthwiseTable;
#elif WEFT_LEVEL == 3
const DepthwiseLevel depthwise_level_v3 = v3::kDepthwiseTable;
#else
const DepthwiseLevel depthwise_level_v2 = v2::kDepthwiseTable;
#endif

} // namespace weft::kernels
