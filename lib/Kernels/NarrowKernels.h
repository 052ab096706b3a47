// The table of kernels of convolution to few channels that one x86-64 level offers;
// NarrowLevel.cpp fills it once per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

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
