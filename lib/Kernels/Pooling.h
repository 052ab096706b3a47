// Reductions over windows of images and what their derivatives need: the one entry behind eager and
// compiled code.
#pragma once

#include "Kernels/Windows.h"
#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// Windows over images (batch, axes.., channels), dense and row-major; results are (batch, axes..,
/// channels) too. Fewer than three axes are preceded by axes of size 1.
struct PoolingShape {
  int64_t batch = 1, channels = 1;
  WindowAxis axes[3];
};

/// The windows over the positions of `shape`, whose input dilation is 1, of which the sums are the
/// transpose of the sums of windows over its images: each element is the sum over the windows that
/// see it, in the order of their positions.
PoolingShape transposed(const PoolingShape &shape);

/// What a window becomes: `max` and `min` as PoolingKernels.h has them, `sum` in the order of the
/// window.
enum class Pool { max, min, sum };

/// Computes `y` for i32, i64 (sums wrap), f32 or f64; does nothing for other dtypes. What a window
/// sees of the padding, and of what input dilation puts between elements, is no part of it. Of
/// nothing at all: the lowest value (-infinity), the highest, 0. Nothing is allocated, here and
/// below.
void pool(DType dtype, Pool kind, const PoolingShape &shape, const void *x, void *y) noexcept;

/// Of each window the tap of its largest (`max`) or least element in the window, row-major; of
/// nothing 0. Windows have at most 2^31 - 1 elements and input dilation is 1.
void pool_taps(DType dtype, Pool kind, const PoolingShape &shape, const void *x,
               int32_t *taps) noexcept;

/// The elements at those taps of the windows over `x`; 0 where a tap is none of the window's or
/// outside of the image.
void pool_take(DType dtype, const PoolingShape &shape, const void *x, const int32_t *taps,
               void *y) noexcept;

/// The transpose of `pool_take`: each element of `x` becomes the sum of the `y` of the windows that
/// have their tap there, in the order of the windows' positions.
void pool_scatter(DType dtype, const PoolingShape &shape, const void *y, const int32_t *taps,
                  void *x) noexcept;

} // namespace weft::kernels

// The same for compiled code, one symbol per dtype. `numbers` are batch, channels, and of each of
// three axes in, window, out, stride, low, window_dilation; input dilation is 1. What is written
// comes last. The transpose of a sum takes the shape of the sum: `y` is of its result's.
#define WEFT_POOLING_ENTRIES(Name, Type)                                                           \
  extern "C" void weft_rt_window_max_##Name(const int64_t *numbers, const Type *x, Type *y);       \
  extern "C" void weft_rt_window_min_##Name(const int64_t *numbers, const Type *x, Type *y);       \
  extern "C" void weft_rt_window_sum_##Name(const int64_t *numbers, const Type *x, Type *y);       \
  extern "C" void weft_rt_window_sum_transpose_##Name(const int64_t *numbers, const Type *y,       \
                                                      Type *x);                                    \
  extern "C" void weft_rt_window_argmax_##Name(const int64_t *numbers, const Type *x,              \
                                               int32_t *taps);                                     \
  extern "C" void weft_rt_window_argmin_##Name(const int64_t *numbers, const Type *x,              \
                                               int32_t *taps);                                     \
  extern "C" void weft_rt_window_take_##Name(const int64_t *numbers, const Type *x,                \
                                             const int32_t *taps, Type *y);                        \
  extern "C" void weft_rt_window_scatter_##Name(const int64_t *numbers, const Type *y,             \
                                                const int32_t *taps, Type *x);
WEFT_POOLING_ENTRIES(f32, float)
WEFT_POOLING_ENTRIES(f64, double)
WEFT_POOLING_ENTRIES(i32, int32_t)
WEFT_POOLING_ENTRIES(i64, int64_t)
#undef WEFT_POOLING_ENTRIES
