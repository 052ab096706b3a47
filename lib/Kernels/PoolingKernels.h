// The table of kernels of pooling that one x86-64 level offers; PoolingLevel.cpp fills it once per
// level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// What of a window falls into the image, along one axis: how many taps, and how far from one to
/// the next, in elements of the image and in the window, whose elements are numbered row-major.
struct PoolingTaps {
  int64_t count, x_step, number_step;
};

/// One row of positions, each of which sees the same taps, at least one, of every channel. Steps
/// count elements; channels are neighbours.
struct PoolingRow {
  int64_t channels, positions;
  PoolingTaps taps[3];
  int64_t first_number; ///< of the first tap
  int64_t x_step;       ///< from what one position sees to what the next does
  int64_t y_step;
};

/// Kernels for one element type. `x` is what the first tap of the first position sees.
template <typename T>
struct PoolingKernels {
  /// y[position, channel] = the largest or the least of what the position sees, of equal ones
  /// (zeros of either sign are) the first. The first NaN is more than every number, and less.
  void (*max)(const PoolingRow &row, const T *x, T *y);
  void (*min)(const PoolingRow &row, const T *x, T *y);
  /// The sum in the order of the taps, from 0; integers wrap.
  void (*sum)(const PoolingRow &row, const T *x, T *y);
  /// The number of the tap that `max` takes.
  void (*argmax)(const PoolingRow &row, const T *x, int32_t *y);
  void (*argmin)(const PoolingRow &row, const T *x, int32_t *y);
  /// What the tap of that number sees: y[position, channel] = x at tap taps[position, channel];
  /// 0 where that is none of the taps.
  void (*take)(const PoolingRow &row, const int32_t *taps, const T *x, T *y);
  /// Adds y[position, channel] to what its tap sees, one position after the other; integers wrap.
  void (*scatter)(const PoolingRow &row, const int32_t *taps, const T *y, T *x);
};

/// All element types of one level.
struct PoolingLevel {
  PoolingKernels<float> f32;
  PoolingKernels<double> f64;
  PoolingKernels<int32_t> i32;
  PoolingKernels<int64_t> i64;
};

extern const PoolingLevel pooling_level_v2;
extern const PoolingLevel pooling_level_v3;
extern const PoolingLevel pooling_level_v4;

} // namespace weft::kernels
