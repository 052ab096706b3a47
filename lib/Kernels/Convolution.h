// Convolution over up to three spatial axes: the one entry behind eager and compiled code.
#pragma once

#include "Kernels/Windows.h"
#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// A convolution: of images (batch, axes.., in_channels) by a kernel (axes.., in_channels / groups,
/// out_channels) to (batch, axes.., out_channels), all dense and row-major. Group g of the output
/// channels sees group g of the input channels. Fewer than three axes are preceded by axes of size
/// 1.
struct ConvolutionShape {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  WindowAxis axes[3];
};

/// Computes `y` for i32, i64 (both wrap), f32 or f64; does nothing for other dtypes.
///
/// Every element of the result is one chain of multiply-adds from 0 over (window axes, channel) in
/// ascending order, and padding is zeros that take part in it; the zeros that input dilation puts
/// between elements do not. So the result depends neither on blocks nor on the number of threads.
/// Nothing is allocated but scratch (docs/windows.md); without it a slow loop runs.
void convolution(DType dtype, const ConvolutionShape &shape, const void *x, const void *kernel,
                 void *y) noexcept;

/// The gradient of the convolution's kernel from its input and the cotangent of its result. Input
/// dilation is 1.
///
/// The result's positions are cut into chunks by the sizes alone; each chunk is one ascending chain
/// over (batch, axes), and chunks are added pairwise.
void convolution_kernel_gradient(DType dtype, const ConvolutionShape &shape, const void *x,
                                 const void *y_cotangent, void *kernel_gradient) noexcept;

/// The transpose of the convolution in its input, which is its gradient by the input: `x`, of the
/// input's shape, from `y`, of the result's. Input dilation is 1. Every element is one chain over
/// (window axes in reverse, channel).
void convolution_transpose(DType dtype, const ConvolutionShape &shape, const void *y,
                           const void *kernel, void *x) noexcept;

/// The same on kernels of a given level (at most the host's). For tests and benchmarks.
void convolution_forced(DType dtype, const ConvolutionShape &shape, const void *x,
                        const void *kernel, void *y, CpuLevel level) noexcept;
void convolution_transpose_forced(DType dtype, const ConvolutionShape &shape, const void *y,
                                  const void *kernel, void *x, CpuLevel level) noexcept;
void convolution_kernel_gradient_forced(DType dtype, const ConvolutionShape &shape, const void *x,
                                        const void *y_cotangent, void *kernel_gradient,
                                        CpuLevel level) noexcept;

} // namespace weft::kernels

// The same for compiled code, one symbol per dtype. `numbers` are batch, in_channels, out_channels,
// groups, and of each of three axes in, window, out, stride, low, window_dilation. What is written
// comes last.
#define WEFT_CONVOLUTION_ENTRIES(Name, Type)                                                       \
  extern "C" void weft_rt_convolution_##Name(const int64_t *numbers, const Type *x,                \
                                             const Type *kernel, Type *y);                         \
  extern "C" void weft_rt_convolution_transpose_##Name(const int64_t *numbers, const Type *y,      \
                                                       const Type *kernel, Type *x);               \
  extern "C" void weft_rt_convolution_kernel_gradient_##Name(                                      \
      const int64_t *numbers, const Type *x, const Type *y_cotangent, Type *kernel_gradient);
WEFT_CONVOLUTION_ENTRIES(f32, float)
WEFT_CONVOLUTION_ENTRIES(f64, double)
WEFT_CONVOLUTION_ENTRIES(i32, int32_t)
WEFT_CONVOLUTION_ENTRIES(i64, int64_t)
#undef WEFT_CONVOLUTION_ENTRIES
