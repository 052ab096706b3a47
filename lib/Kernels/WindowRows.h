// Windows over images: an axis without input dilation, and rows of input with their padding.
#pragma once

#include "Kernels/MatmulScratch.h"
#include "Kernels/MatmulThresholds.h"
#include "Kernels/Windows.h"
#include "Support/Threads.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace weft::kernels {

inline int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

template <typename T>
T *scratch_of(Scratch use, int64_t elements) {
  return static_cast<T *>(scratch(use, static_cast<size_t>(elements) * sizeof(T)));
}

/// One axis of a convolution without input dilation: position `out` of `outs` sees, for each tap,
/// input `out * stride + tap * dilation - low`. Its taps are taps of the kernel, its positions are
/// positions of the result: every `tap_step`-th and `out_step`-th.
struct DenseAxis {
  int64_t in, outs, taps, stride, dilation, low;
  int64_t first_tap = 0, tap_step = 1;
  int64_t first_out = 0, out_step = 1;

  bool is_padded() const {
    return low > 0 || (outs - 1) * stride + (taps - 1) * dilation - low >= in;
  }
  /// Inputs from the first one that a position sees to the last.
  int64_t reach(int64_t positions) const {
    return (positions - 1) * stride + (taps - 1) * dilation + 1;
  }
};

/// Windows without input dilation over images of `channels` channels.
struct DenseWindows {
  int64_t batch, channels;
  DenseAxis axes[3];

  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
};

/// The input that some neighbouring rows of the result see, in the image itself or in a copy with
/// its padding.
template <typename T>
class InputRows {
public:
  /// Rows [begin, end) of axis 1 at position `plane` of axis 0, with `padding` around the image.
  /// False where there is no memory.
  bool open(const DenseWindows &c, const T *x, T padding, int64_t image, int64_t plane,
            int64_t begin, int64_t end) {
    const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
    const int64_t channels = c.channels;
    const int64_t first_plane = plane * depth.stride - depth.low;
    const int64_t first_row = begin * height.stride - height.low;
    const int64_t rows = height.reach(end - begin);
    const bool inside = !width.is_padded() && first_plane >= 0 &&
                        first_plane + depth.reach(1) <= depth.in && first_row >= 0 &&
                        first_row + rows <= height.in;
    if (inside) {
      row_pitch_ = width.in * channels;
      plane_pitch_ = depth.dilation * height.in * row_pitch_;
      base_ = x + ((image * depth.in + first_plane) * height.in + first_row) * row_pitch_ -
              width.low * channels;
      return true;
    }
    const int64_t across = width.reach(width.outs);
    row_pitch_ = across * channels;
    plane_pitch_ = rows * row_pitch_;
    T *const copy = scratch_of<T>(Scratch::rows, depth.taps * plane_pitch_);
    if (copy == nullptr) return false;
    base_ = copy;
    // Inputs [left, right) of a row are copied to its element `left + low`.
    const int64_t left = std::clamp<int64_t>(-width.low, 0, width.in);
    const int64_t right = std::clamp<int64_t>(across - width.low, left, width.in);
    for (int64_t tap = 0; tap < depth.taps; ++tap) {
      const int64_t i = first_plane + tap * depth.dilation;
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t j = first_row + r;
        T *const to = copy + tap * plane_pitch_ + r * row_pitch_;
        if (i < 0 || i >= depth.in || j < 0 || j >= height.in || left == right) {
          std::fill_n(to, row_pitch_, padding);
          continue;
        }
        const T *const from = x + ((image * depth.in + i) * height.in + j) * width.in * channels;
        T *const middle = std::fill_n(to, (left + width.low) * channels, padding);
        T *const rest = std::copy_n(from + left * channels, (right - left) * channels, middle);
        std::fill_n(rest, (across - right - width.low) * channels, padding);
      }
    }
    return true;
  }

  /// What tap 0 of the first position of the row, counted from `begin`, sees.
  const T *row(const DenseWindows &c, int64_t number) const {
    return base_ + number * c.axes[1].stride * row_pitch_;
  }

  /// Line `number` of those that tap `tap` of axis 0 sees, in the order of the image: what the
  /// first tap of the first position sees.
  const T *line(int64_t tap, int64_t number) const {
    return base_ + tap * plane_pitch_ + number * row_pitch_;
  }

  /// How far after the first tap of a row the given one sees.
  int64_t offset(const DenseWindows &c, int64_t i, int64_t j, int64_t k) const {
    return i * plane_pitch_ + j * c.axes[1].dilation * row_pitch_ +
           k * c.axes[2].dilation * c.channels;
  }

private:
  const T *base_ = nullptr;
  int64_t row_pitch_ = 0, plane_pitch_ = 0;
};

/// Taps that windows have at most for what holds a list of them on the stack.
inline constexpr int64_t kMostTaps = 1024;

/// How far after the first tap the others see, in their order; there are at most kMostTaps.
template <typename T>
int64_t list_taps(const DenseWindows &c, const InputRows<T> &rows, int64_t (&offsets)[kMostTaps]) {
  int64_t count = 0;
  for (int64_t i = 0; i < c.axes[0].taps; ++i)
    for (int64_t j = 0; j < c.axes[1].taps; ++j)
      for (int64_t k = 0; k < c.axes[2].taps; ++k) offsets[count++] = rows.offset(c, i, j, k);
  return count;
}

/// The windows at `count` positions of the last axis from `first` on.
inline DenseWindows part_of_rows(DenseWindows c, int64_t first, int64_t count) {
  DenseAxis &width = c.axes[2];
  width.outs = count;
  width.low -= first * width.stride;
  width.first_out += first * width.out_step;
  return c;
}

/// Calls `run(part, image, plane, begin, end)` for blocks of rows of axis 1, on all threads: as
/// many together as share a padded copy that stays in the cache, and leave enough for all. Where
/// there are too few rows for that, `part` is some of their positions, else all. A position takes
/// `work` multiply-adds.
template <typename T, class Run>
void for_blocks_of_rows(const DenseWindows &c, int64_t work, const Run &run) {
  constexpr int64_t kPaddedBytes = 256 << 10;
  const DenseAxis *const axes = c.axes;
  const int64_t lines = axes[1].outs, planes = c.batch * axes[0].outs;
  const int64_t bytes = axes[0].taps * axes[2].reach(axes[2].outs) * c.channels *
                        static_cast<int64_t>(sizeof(T)) * axes[1].stride;
  const int64_t threads = threads::max_threads_or_default();
  const int64_t shares = divide_up(4 * threads, planes);
  const int64_t together = std::clamp<int64_t>(
      std::min(kPaddedBytes / std::max<int64_t>(bytes, 1), divide_up(lines, shares)), 1, lines);
  const int64_t blocks = divide_up(lines, together);
  constexpr int64_t kShortest = 64; // positions: a few register tiles
  const int64_t parts = threads == 1 || planes * blocks >= 2 * threads
                            ? 1
                            : std::clamp<int64_t>(divide_up(2 * threads, planes * blocks), 1,
                                                  divide_up(axes[2].outs, kShortest));
  const int64_t length = divide_up(axes[2].outs, parts);
  const int64_t block_work = std::max<int64_t>(work * length * together, 1);
  threads::parallel_for_noexcept(
      0, planes * blocks * parts, divide_up(kThreadWork, block_work),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t plane = i / parts / blocks, first = i / parts % blocks * together;
          const int64_t at = i % parts * length, count = std::min(length, axes[2].outs - at);
          if (count <= 0) continue;
          run(part_of_rows(c, at, count), plane / axes[0].outs, plane % axes[0].outs, first,
              std::min(first + together, lines));
        }
      });
}

/// The same windows with the axes that have one position, which is all that a window sees, before
/// the others: rows are then as long as they can be, whichever axis they run along.
template <class Shape>
Shape with_long_rows(const Shape &shape) {
  const auto is_single = [](const WindowAxis &axis) {
    return axis.in == 1 && axis.window == 1 && axis.out == 1 && axis.low == 0;
  };
  Shape result = shape;
  int to = 3;
  for (int i = 3; i-- > 0;)
    if (!is_single(shape.axes[i])) result.axes[--to] = shape.axes[i];
  while (to > 0) result.axes[--to] = WindowAxis();
  return result;
}

/// Into how many kinds of positions, by the taps that they see, input dilation parts an axis.
inline int64_t kinds_of(const WindowAxis &axis) {
  return axis.input_dilation / std::gcd(axis.stride, axis.input_dilation);
}

/// The windows of kind `number`, which have no input dilation. False where there are none.
inline bool windows_of_kind(const WindowAxis &axis, int64_t number, DenseAxis &dense) {
  const int64_t d = axis.input_dilation;
  const int64_t out_step = kinds_of(axis), tap_step = d / std::gcd(axis.window_dilation, d);
  if (number >= axis.out) return false;
  // Of the first position, counted from the first element.
  const int64_t at = number * axis.stride - axis.low;
  int64_t tap = 0;
  while (tap < tap_step && (at + tap * axis.window_dilation) % d != 0) ++tap;
  dense = {.in = axis.in,
           .outs = divide_up(axis.out - number, out_step),
           .taps = tap < tap_step && tap < axis.window ? divide_up(axis.window - tap, tap_step) : 0,
           .stride = out_step * axis.stride / d,
           .dilation = tap_step * axis.window_dilation / d,
           .low = -(at + tap * axis.window_dilation) / d,
           .first_tap = tap,
           .tap_step = tap_step,
           .first_out = number,
           .out_step = out_step};
  return true;
}

/// Calls `run` with the windows of every kind along all axes.
template <class Run>
void for_kinds_of_windows(const WindowAxis (&axes)[3], DenseWindows windows, const Run &run) {
  for (int64_t i = 0; i < kinds_of(axes[0]); ++i)
    for (int64_t j = 0; j < kinds_of(axes[1]); ++j)
      for (int64_t k = 0; k < kinds_of(axes[2]); ++k)
        if (windows_of_kind(axes[0], i, windows.axes[0]) &&
            windows_of_kind(axes[1], j, windows.axes[1]) &&
            windows_of_kind(axes[2], k, windows.axes[2]))
          run(windows);
}

/// The first position of a row among all positions of the result, and how far its next one is.
inline int64_t first_position(const WindowAxis (&axes)[3], const DenseWindows &c, int64_t image,
                              int64_t plane, int64_t line) {
  return ((image * axes[0].out + c.axes[0].first_out + plane * c.axes[0].out_step) * axes[1].out +
          c.axes[1].first_out + line * c.axes[1].out_step) *
             axes[2].out +
         c.axes[2].first_out;
}

} // namespace weft::kernels
