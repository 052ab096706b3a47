// The transpose of a convolution: a convolution with input dilation, by the kernel in reverse.
#include "Kernels/Convolution.h"

#include "Kernels/ConvolutionShared.h"

namespace weft::kernels {
namespace {

/// The convolution that takes results to inputs.
ConvolutionShape transposed(const ConvolutionShape &shape) {
  ConvolutionShape result{shape.batch, shape.out_channels, shape.in_channels, shape.groups, {}};
  for (int i = 0; i < 3; ++i) {
    const WindowAxis &axis = shape.axes[i];
    result.axes[i] = {.in = axis.out,
                      .window = axis.window,
                      .out = axis.in,
                      .stride = 1,
                      .low = (axis.window - 1) * axis.window_dilation - axis.low,
                      .input_dilation = axis.stride,
                      .window_dilation = axis.window_dilation};
  }
  return result;
}

/// Its kernel: taps in reverse, and channels of the result before those of the input.
template <typename T>
void reverse_kernel(const NarrowKernels<T> &kernels, const ConvolutionShape &shape, const T *kernel,
                    T *reversed) {
  const int64_t taps = shape.axes[0].window * shape.axes[1].window * shape.axes[2].window;
  const int64_t in_group = shape.in_channels / shape.groups;
  const int64_t out_group = shape.out_channels / shape.groups;
  const int64_t size = in_group * shape.out_channels;
  threads::parallel_for_noexcept(
      0, taps, divide_up(kPackWork, std::max<int64_t>(size, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t tap = begin; tap < end; ++tap)
          for (int64_t g = 0; g < shape.groups; ++g)
            kernels.transpose(in_group, out_group, kernel + (taps - 1 - tap) * size + g * out_group,
                              shape.out_channels, reversed + tap * size + g * in_group,
                              shape.in_channels);
      });
}

/// One element at a time, where there is no memory for the kernel in reverse.
template <typename T>
void without_memory(const ConvolutionShape &shape, const T *y, const T *kernel, T *x) {
  const auto &[a, b, c] = shape.axes;
  const int64_t in_group = shape.in_channels / shape.groups;
  const int64_t out_group = shape.out_channels / shape.groups;
  const int64_t taps = a.window * b.window * c.window;
  // Where a tap of the transpose sees position `at` of the input from, or -1.
  const auto position = [](const WindowAxis &axis, int64_t at, int64_t tap) -> int64_t {
    const int64_t from = at + axis.low - tap * axis.window_dilation;
    if (from < 0 || from % axis.stride != 0 || from / axis.stride >= axis.out) return -1;
    return from / axis.stride;
  };
  for (int64_t at = 0; at < shape.batch * a.in * b.in * c.in * shape.in_channels; ++at) {
    const int64_t channel = at % shape.in_channels, element = at / shape.in_channels;
    const int64_t image = element / c.in / b.in / a.in, group = channel / in_group;
    T sum = 0;
    for (int64_t tap = taps; tap-- > 0;) {
      const int64_t i = position(a, element / c.in / b.in % a.in, tap / c.window / b.window);
      const int64_t j = position(b, element / c.in % b.in, tap / c.window % b.window);
      const int64_t k = position(c, element % c.in, tap % c.window);
      if (i < 0 || j < 0 || k < 0) continue;
      const T *const from =
          y + (((image * a.out + i) * b.out + j) * c.out + k) * shape.out_channels;
      const T *const weights = kernel + (tap * in_group + channel % in_group) * shape.out_channels;
      for (int64_t o = group * out_group; o < (group + 1) * out_group; ++o)
        sum += from[o] * weights[o];
    }
    x[at] = sum;
  }
}

} // namespace

void convolution_transpose_forced(DType dtype, const ConvolutionShape &given, const void *y,
                                  const void *kernel, void *x, CpuLevel level) noexcept {
  const ConvolutionShape shape = with_long_rows(given); // an axis of one position has no stride
  visit_convolution_kernels(dtype, level, [&]<typename T>(const ConvolutionKernels<T> &kernels) {
    const int64_t size = shape.axes[0].window * shape.axes[1].window * shape.axes[2].window *
                         (shape.in_channels / shape.groups) * shape.out_channels;
    const T *const weights = static_cast<const T *>(kernel);
    T *const reversed = scratch_of<T>(Scratch::kernel, size);
    if (reversed == nullptr)
      return without_memory(shape, static_cast<const T *>(y), weights, static_cast<T *>(x));
    reverse_kernel(kernels.narrow, shape, weights, reversed);
    convolution_forced(dtype, transposed(shape), y, reversed, x, level);
  });
}

void convolution_transpose(DType dtype, const ConvolutionShape &shape, const void *y,
                           const void *kernel, void *x) noexcept {
  convolution_transpose_forced(dtype, shape, y, kernel, x, host_cpu_level());
}

} // namespace weft::kernels
