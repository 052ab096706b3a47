// Pooling: runs of positions that see the same taps of their windows are kernels' rows.
#include "Kernels/Pooling.h"

#include "Kernels/PoolingKernels.h"
#include "Kernels/WindowRows.h"

#include <limits>
#include <type_traits>
#include <vector>

namespace weft::kernels {
namespace {

/// Work of a tap of one position and channel, beside a multiply-add of a product.
constexpr int64_t kTapWork = 4;

const PoolingLevel &host_table() {
  static const PoolingLevel &table = host_cpu_level() == CpuLevel::v4   ? pooling_level_v4
                                     : host_cpu_level() == CpuLevel::v3 ? pooling_level_v3
                                                                        : pooling_level_v2;
  return table;
}

template <class Run>
void visit_pooling_kernels(DType dtype, const Run &run) {
  switch (dtype) {
  case DType::f32: return run(host_table().f32);
  case DType::f64: return run(host_table().f64);
  case DType::i32: return run(host_table().i32);
  case DType::i64: return run(host_table().i64);
  default: return;
  }
}

template <typename T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::min();
}
template <typename T>
T highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}

/// The taps of one axis that fall into the image from the position of a window's first tap on.
struct Inside {
  int64_t first, last;
  Inside(const DenseAxis &axis, int64_t at)
      : first(at >= 0 ? 0 : divide_up(-at, axis.dilation)),
        last(at >= axis.in ? 0 : std::min(axis.taps, (axis.in - 1 - at) / axis.dilation + 1)) {
    last = std::max(first, last);
  }
  bool operator==(const Inside &) const = default;
};

/// Neighbouring positions of a row that see the same taps.
struct Positions {
  int64_t begin, count;
  /// Of each tap that they see: where it lies from the first one's first element on, and its number
  /// in the window.
  std::vector<int64_t> offsets;
  std::vector<int32_t> taps;
  int64_t at = 0; ///< where the first tap of the first position lies in the images
};

/// Calls `run` for the runs of positions of one row.
template <class Run>
void for_positions(const DenseWindows &c, int64_t image, int64_t plane, int64_t line,
                   Positions &positions, const Run &run) {
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t i = plane * depth.stride - depth.low, j = line * height.stride - height.low;
  const Inside planes(depth, i), lines(height, j);
  const auto inside_at = [&](int64_t position) {
    return Inside(width, position * width.stride - width.low);
  };
  for (int64_t k = 0, next = 0; k < width.outs; k = next) {
    const Inside columns = inside_at(k);
    for (next = k + 1; next < width.outs && inside_at(next) == columns; ++next) {
    }
    positions.begin = k, positions.count = next - k;
    positions.offsets.clear();
    positions.taps.clear();
    for (int64_t a = planes.first; a < planes.last; ++a)
      for (int64_t b = lines.first; b < lines.last; ++b)
        for (int64_t d = columns.first; d < columns.last; ++d) {
          const int64_t at =
              (((image * depth.in + i + a * depth.dilation) * height.in + j + b * height.dilation) *
                   width.in +
               k * width.stride - width.low + d * width.dilation) *
              c.channels;
          if (positions.offsets.empty()) positions.at = at;
          positions.offsets.push_back(at - positions.at);
          positions.taps.push_back(static_cast<int32_t>((a * height.taps + b) * width.taps + d));
        }
    run();
  }
}

/// Calls `run(row, positions, y offset)` for all runs of positions; `fill` for those that see
/// nothing.
template <typename T, class Run, class Fill>
void for_rows(const PoolingShape &shape, const T *x, const Run &run, const Fill &fill) {
  for_kinds_of_windows(
      shape.axes, {shape.batch, shape.channels, {}}, [&](const DenseWindows &windows) {
        const int64_t step = windows.axes[2].out_step * shape.channels;
        for_blocks_of_rows<T>(
            windows, std::max<int64_t>(windows.taps(), 1) * shape.channels * kTapWork,
            [&](int64_t image, int64_t plane, int64_t begin, int64_t end) {
              Positions positions;
              for (int64_t line = begin; line < end; ++line)
                for_positions(windows, image, plane, line, positions, [&] {
                  const int64_t to =
                      first_position(shape.axes, windows, image, plane, line) * shape.channels +
                      positions.begin * step;
                  if (positions.offsets.empty()) {
                    for (int64_t i = 0; i < positions.count; ++i) fill(to + i * step);
                    return;
                  }
                  run(PoolingRow<T>{shape.channels, positions.count,
                                    static_cast<int64_t>(positions.offsets.size()),
                                    x + positions.at, positions.offsets.data(),
                                    windows.axes[2].stride * shape.channels, step},
                      positions, to);
                });
            });
      });
}

bool is_empty(const PoolingShape &shape) {
  return shape.batch == 0 || shape.channels == 0 || shape.axes[0].out == 0 ||
         shape.axes[1].out == 0 || shape.axes[2].out == 0;
}

} // namespace

void pool(DType dtype, Pool kind, const PoolingShape &shape, const void *x, void *y) noexcept {
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const auto kernel = kind == Pool::max   ? kernels.max
                        : kind == Pool::min ? kernels.min
                                            : kernels.sum;
    const T nothing = kind == Pool::max ? lowest<T>() : kind == Pool::min ? highest<T>() : T(0);
    T *const to = static_cast<T *>(y);
    for_rows(
        shape, static_cast<const T *>(x),
        [&](const PoolingRow<T> &row, const Positions &, int64_t at) { kernel(row, to + at); },
        [&](int64_t at) { std::fill_n(to + at, shape.channels, nothing); });
  });
}

void pool_places(DType dtype, Pool kind, const PoolingShape &shape, const void *x,
                 int32_t *places) noexcept {
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const auto kernel = kind == Pool::min ? kernels.argmin : kernels.argmax;
    for_rows(
        shape, static_cast<const T *>(x),
        [&](const PoolingRow<T> &row, const Positions &positions, int64_t at) {
          kernel(row, places + at);
          // Where taps are missing, those that are there have other numbers in the window.
          if (positions.taps.back() + 1 == row.taps) return;
          for (int64_t i = 0; i < row.positions; ++i)
            for (int64_t c = 0; c < row.channels; ++c) {
              int32_t &place = places[at + i * row.y_step + c];
              place = positions.taps[static_cast<size_t>(place)];
            }
        },
        [&](int64_t at) { std::fill_n(places + at, shape.channels, 0); });
  });
}

void pool_take(DType dtype, const PoolingShape &shape, const void *x, const int32_t *places,
               void *y) noexcept {
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &) {
    const T *const from = static_cast<const T *>(x);
    T *const to = static_cast<T *>(y);
    const WindowAxis &b = shape.axes[1], &c = shape.axes[2];
    for_rows(
        shape, from,
        [&](const PoolingRow<T> &row, const Positions &positions, int64_t at) {
          // Offsets by number; of a tap that is not seen there is none.
          constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
          std::vector<int64_t> offsets(
              static_cast<size_t>(shape.axes[0].window * b.window * c.window), kNone);
          for (size_t i = 0; i < positions.taps.size(); ++i)
            offsets[static_cast<size_t>(positions.taps[i])] = positions.offsets[i];
          for (int64_t i = 0; i < row.positions; ++i)
            for (int64_t channel = 0; channel < row.channels; ++channel) {
              const int64_t here = at + i * row.y_step + channel;
              const auto place = static_cast<size_t>(places[here]);
              const int64_t offset = place < offsets.size() ? offsets[place] : kNone;
              to[here] = offset == kNone ? T(0) : row.x[i * row.x_step + offset + channel];
            }
        },
        [&](int64_t at) { std::fill_n(to + at, shape.channels, T(0)); });
  });
}

void pool_scatter(DType dtype, const PoolingShape &shape, const void *y, const int32_t *places,
                  void *x) noexcept {
  visit_pooling_kernels(dtype, [&]<typename Element>(const PoolingKernels<Element> &) {
    using T = typename std::conditional_t<std::is_integral_v<Element>, std::make_unsigned<Element>,
                                          std::type_identity<Element>>::type;
    const auto &[a, b, c] = shape.axes;
    const T *const from = static_cast<const T *>(y);
    T *const to = static_cast<T *>(x);
    const int64_t channels = shape.channels, size = a.in * b.in * c.in * channels;
    // A thread has some channels of an image, so that every element is added to in order.
    constexpr int64_t kChannels = 16;
    const int64_t parts = divide_up(channels, kChannels);
    const int64_t positions = a.out * b.out * c.out;
    threads::parallel_for_noexcept(
        0, shape.batch * parts,
        divide_up(kThreadWork, std::max<int64_t>((positions * 8 + size / channels) * kChannels, 1)),
        [&](int64_t begin, int64_t end) {
          for (int64_t part = begin; part < end; ++part) {
            const int64_t image = part / parts, first = part % parts * kChannels;
            const int64_t last = std::min(first + kChannels, channels);
            T *const target = to + image * size;
            for (int64_t i = 0; i < size; i += channels)
              std::fill(target + i + first, target + i + last, T(0));
            for (int64_t position = 0; position < positions; ++position) {
              const int64_t at[] = {position / c.out / b.out * a.stride - a.low,
                                    position / c.out % b.out * b.stride - b.low,
                                    position % c.out * c.stride - c.low};
              const int64_t row = (image * positions + position) * channels;
              for (int64_t channel = first; channel < last; ++channel) {
                const int64_t place = places[row + channel];
                const int64_t i = at[0] + place / c.window / b.window * a.window_dilation;
                const int64_t j = at[1] + place / c.window % b.window * b.window_dilation;
                const int64_t k = at[2] + place % c.window * c.window_dilation;
                if (place < 0 || i < 0 || i >= a.in || j < 0 || j >= b.in || k < 0 || k >= c.in)
                  continue;
                target[((i * b.in + j) * c.in + k) * channels + channel] += from[row + channel];
              }
            }
          }
        });
  });
}

} // namespace weft::kernels
