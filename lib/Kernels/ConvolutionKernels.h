// The tables of kernels of convolution that one x86-64 level offers: depthwise, which
// DepthwiseLevel.cpp fills once per level, and to few channels, which NarrowLevel.cpp fills.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// One row of positions, each of which sees `taps` inputs of every channel. Strides count elements;
/// channels are neighbours.
template <typename T>
struct DepthwiseRow {
  int64_t channels, positions, taps;
  const T *x;             ///< what tap 0 of the first position would see at offset 0
  const int64_t *taps_at; ///< where the taps see, from there
  int64_t x_step;         ///< from one position to the next
  int64_t y_step;
};

/// Kernels for one element type. Integers are unsigned here: the bits are the same and they wrap.
template <typename T>
struct DepthwiseKernels {
  /// y[position, channel] = sum over taps of x * kernel[tap, channel], one chain in that order.
  void (*forward)(const DepthwiseRow<T> &row, const T *kernel, T *y);
  /// gradient[tap, channel] += sum over positions of x * dy[position, channel]: each chain goes on
  /// with the old element.
  void (*gradient)(const DepthwiseRow<T> &row, const T *dy, T *gradient);
};

/// All element types of one level.
struct DepthwiseLevel {
  DepthwiseKernels<float> f32;
  DepthwiseKernels<double> f64;
  DepthwiseKernels<uint32_t> i32;
  DepthwiseKernels<uint64_t> i64;
};

extern const DepthwiseLevel depthwise_level_v2;
extern const DepthwiseLevel depthwise_level_v3;
extern const DepthwiseLevel depthwise_level_v4;

/// The channels that results have at most for these kernels.
inline constexpr int64_t kNarrow = 4;
/// Elements behind a line of images that kernels read, and make nothing of.
inline constexpr int64_t kNarrowSlack = 64;

/// One row of positions. Images have their channels apart here: neighbours in memory are what
/// neighbouring positions see. Strides count elements.
template <typename T>
struct NarrowRow {
  int64_t channels, out_channels, positions, taps;
  const T *x;             ///< what tap 0 of the first position would see at offset 0
  const int64_t *taps_at; ///< where the taps see, from there
  int64_t x_channel;      ///< from one channel to the next
  int64_t y_step;
};

/// Kernels for one element type. Integers are unsigned here: the bits are the same and they wrap.
template <typename T>
struct NarrowKernels {
  /// y[position, out] = sum over taps and channels of x * kernel[tap, channel, out], one chain in
  /// that order.
  void (*forward)(const NarrowRow<T> &row, const T *kernel, T *y);
  /// to[column, row] = from[row, column], whose rows are that far apart.
  void (*transpose)(int64_t rows, int64_t columns, const T *from, int64_t from_row, T *to,
                    int64_t to_column);
};

/// All element types of one level.
struct NarrowLevel {
  NarrowKernels<float> f32;
  NarrowKernels<double> f64;
  NarrowKernels<uint32_t> i32;
  NarrowKernels<uint64_t> i64;
};

extern const NarrowLevel narrow_level_v2;
extern const NarrowLevel narrow_level_v3;
extern const NarrowLevel narrow_level_v4;

} // namespace weft::kernels
