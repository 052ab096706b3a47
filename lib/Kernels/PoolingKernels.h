// The table of kernels of pooling that one x86-64 level offers; PoolingLevel.cpp fills it once per
// level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// One row of positions, each of which sees `taps` inputs of every channel, at least one. Strides
/// count elements; channels are neighbours.
template <typename T>
struct PoolingRow {
  int64_t channels, positions, taps;
  const T *x;             ///< what a tap of the first position would see at offset 0
  const int64_t *offsets; ///< where the taps see, from there
  int64_t x_step;         ///< from one position to the next
  int64_t y_step;
};

/// Kernels for one element type.
template <typename T>
struct PoolingKernels {
  /// y[position, channel] = the largest or the least of what the position sees, of equal ones
  /// (zeros of either sign are) the first. The first NaN is more than every number, and less.
  void (*max)(const PoolingRow<T> &row, T *y);
  void (*min)(const PoolingRow<T> &row, T *y);
  /// The sum in the order of the taps, from 0; integers wrap.
  void (*sum)(const PoolingRow<T> &row, T *y);
  /// The number of the tap that `max` takes.
  void (*argmax)(const PoolingRow<T> &row, int32_t *y);
  void (*argmin)(const PoolingRow<T> &row, int32_t *y);
  /// What the tap of that number sees: y[position, channel] = x at tap places[position, channel].
  void (*take)(const PoolingRow<T> &row, const int32_t *places, T *y);
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
