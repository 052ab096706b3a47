// Pooling: runs of positions that see the same taps of their windows are kernels' rows.
#include "Kernels/Pooling.h"

#include "Kernels/PoolingKernels.h"
#include "Kernels/WindowRows.h"

#include <limits>

namespace weft::kernels {
namespace {

/// Work of a tap of one position and channel, beside a multiply-add of a product.
constexpr int64_t kTapWork = 4;

const PoolingLevel &host_table() {
  static const PoolingLevel &table =
      of_host_level(pooling_level_v2, pooling_level_v3, pooling_level_v4);
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

/// Calls `run(first position, count, taps)` for the runs of neighbouring positions along an axis
/// that see the same taps of it.
template <class Run>
void for_runs(const DenseAxis &axis, const Run &run) {
  const auto inside_at = [&](int64_t position) {
    return Inside(axis, position * axis.stride - axis.low);
  };
  for (int64_t k = 0, next = 0; k < axis.outs; k = next) {
    const Inside taps = inside_at(k);
    for (next = k + 1; next < axis.outs && inside_at(next) == taps; ++next) {
    }
    run(k, next - k, taps);
  }
}

/// Calls `run(row, position, offset)` for the runs of neighbouring positions of one row that see
/// the same taps: the first one's number and the element of the image that its first tap sees.
/// `run_nothing(position, count)` for those that see none.
template <class Run, class RunNothing>
void for_positions(const PoolingShape &shape, const DenseWindows &w, int64_t image, int64_t plane,
                   int64_t line, const Run &run, const RunNothing &run_nothing) {
  const DenseAxis &depth = w.axes[0], &height = w.axes[1], &width = w.axes[2];
  // Elements from one step along each axis to the next, of images and of windows.
  const int64_t x_steps[] = {height.in * width.in * w.channels, width.in * w.channels, w.channels};
  const int64_t numbers[] = {shape.axes[1].window * shape.axes[2].window, shape.axes[2].window, 1};
  const int64_t plane_at = plane * depth.stride - depth.low;
  const int64_t line_at = line * height.stride - height.low;
  for_runs(width, [&](int64_t position, int64_t count, const Inside &columns) {
    const int64_t at[] = {plane_at, line_at, position * width.stride - width.low};
    const Inside inside[] = {Inside(depth, plane_at), Inside(height, line_at), columns};
    PoolingRow row{.channels = w.channels,
                   .positions = count,
                   .taps = {},
                   .first_number = 0,
                   .x_step = width.stride * w.channels,
                   .y_step = width.out_step * w.channels};
    int64_t offset = image * depth.in * x_steps[0], seen = 1;
    for (int i = 0; i < 3; ++i) {
      const DenseAxis &axis = w.axes[i];
      offset += (at[i] + inside[i].first * axis.dilation) * x_steps[i];
      row.first_number += (axis.first_tap + inside[i].first * axis.tap_step) * numbers[i];
      row.taps[i] = {.count = inside[i].last - inside[i].first,
                     .x_step = axis.dilation * x_steps[i],
                     .number_step = axis.tap_step * numbers[i]};
      seen *= row.taps[i].count;
    }
    if (seen == 0) run_nothing(position, count);
    else run(row, position, offset);
  });
}

/// Calls `run(row, offset in x, offset in y)` for all runs of positions, on all threads;
/// `fill(offset in y)` for positions that see nothing.
template <typename T, class Run, class Fill>
void for_rows(const PoolingShape &shape, const Run &run, const Fill &fill) {
  for_kinds_of_windows(
      shape.axes, {shape.batch, shape.channels, {}}, [&](const DenseWindows &windows) {
        const int64_t step = windows.axes[2].out_step * shape.channels;
        for_blocks_of_rows<T>(
            windows, std::max<int64_t>(windows.taps(), 1) * shape.channels * kTapWork,
            [&](const DenseWindows &part, int64_t image, int64_t plane, int64_t begin,
                int64_t end) {
              for (int64_t line = begin; line < end; ++line) {
                const int64_t first =
                    first_position(shape.axes, part, image, plane, line) * shape.channels;
                for_positions(
                    shape, part, image, plane, line,
                    [&](const PoolingRow &row, int64_t position, int64_t offset) {
                      run(row, offset, first + position * step);
                    },
                    [&](int64_t position, int64_t count) {
                      for (int64_t i = position; i < position + count; ++i) fill(first + i * step);
                    });
              }
            });
      });
}

bool is_empty(const PoolingShape &shape) {
  return shape.batch == 0 || shape.channels == 0 || shape.axes[0].out == 0 ||
         shape.axes[1].out == 0 || shape.axes[2].out == 0;
}

} // namespace

PoolingShape transposed(const PoolingShape &shape) {
  PoolingShape result = shape;
  for (WindowAxis &axis : result.axes)
    axis = {.in = axis.out,
            .window = axis.window,
            .out = axis.in,
            .stride = 1,
            .low = (axis.window - 1) * axis.window_dilation - axis.low,
            .input_dilation = axis.stride,
            .window_dilation = axis.window_dilation};
  return result;
}

void pool(DType dtype, Pool kind, const PoolingShape &given, const void *x, void *y) noexcept {
  const PoolingShape shape = with_long_rows(given);
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const auto kernel = kind == Pool::max   ? kernels.max
                        : kind == Pool::min ? kernels.min
                                            : kernels.sum;
    const T nothing = kind == Pool::max ? lowest<T>() : kind == Pool::min ? highest<T>() : T(0);
    const T *const from = static_cast<const T *>(x);
    T *const to = static_cast<T *>(y);
    for_rows<T>(
        shape,
        [&](const PoolingRow &row, int64_t offset, int64_t at) {
          kernel(row, from + offset, to + at);
        },
        [&](int64_t at) { std::fill_n(to + at, shape.channels, nothing); });
  });
}

void pool_taps(DType dtype, Pool kind, const PoolingShape &given, const void *x,
               int32_t *taps) noexcept {
  const PoolingShape shape = with_long_rows(given);
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const auto kernel = kind == Pool::min ? kernels.argmin : kernels.argmax;
    const T *const from = static_cast<const T *>(x);
    for_rows<T>(
        shape,
        [&](const PoolingRow &row, int64_t offset, int64_t at) {
          kernel(row, from + offset, taps + at);
        },
        [&](int64_t at) { std::fill_n(taps + at, shape.channels, 0); });
  });
}

void pool_take(DType dtype, const PoolingShape &given, const void *x, const int32_t *taps,
               void *y) noexcept {
  const PoolingShape shape = with_long_rows(given);
  if (is_empty(shape)) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const T *const from = static_cast<const T *>(x);
    T *const to = static_cast<T *>(y);
    for_rows<T>(
        shape,
        [&](const PoolingRow &row, int64_t offset, int64_t at) {
          kernels.take(row, taps + at, from + offset, to + at);
        },
        [&](int64_t at) { std::fill_n(to + at, shape.channels, T(0)); });
  });
}

void pool_scatter(DType dtype, const PoolingShape &given, const void *y, const int32_t *taps,
                  void *x) noexcept {
  const PoolingShape shape = with_long_rows(given);
  const auto &[a, b, c] = shape.axes;
  const int64_t length = c.in * shape.channels, rows = shape.batch * a.in * b.in;
  if (length == 0) return;
  visit_pooling_kernels(dtype, [&]<typename T>(const PoolingKernels<T> &kernels) {
    const T *const from = static_cast<const T *>(y);
    T *const to = static_cast<T *>(x);
    const DenseAxis width{.in = c.in,
                          .outs = c.out,
                          .taps = c.window,
                          .stride = c.stride,
                          .dilation = c.window_dilation,
                          .low = c.low};
    // A thread has some rows of images, which it adds to in the order of the positions. Positions
    // along an axis that see `at` are those of its taps, from the last one on.
    const auto for_positions_at = [](const WindowAxis &axis, int64_t at, const auto &run) {
      for (int64_t tap = axis.window; tap-- > 0;) {
        const int64_t from_low = at + axis.low - tap * axis.window_dilation;
        if (from_low >= 0 && from_low % axis.stride == 0 && from_low / axis.stride < axis.out)
          run(from_low / axis.stride, tap);
      }
    };
    const auto work_of = [](const WindowAxis &axis) { return axis.window / axis.stride + 1; };
    const int64_t work = (c.out * c.window * work_of(a) * work_of(b) + c.in) * shape.channels;
    threads::parallel_for_noexcept(
        0, rows, divide_up(kThreadWork, std::max<int64_t>(work, 1)),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            T *const row = to + i * length;
            std::fill_n(row, length, T(0));
            const int64_t image = i / b.in / a.in;
            for_positions_at(a, i / b.in % a.in, [&](int64_t plane, int64_t plane_tap) {
              for_positions_at(b, i % b.in, [&](int64_t line, int64_t line_tap) {
                const int64_t position =
                    ((image * a.out + plane) * b.out + line) * c.out * shape.channels;
                const int64_t tap = (plane_tap * b.window + line_tap) * c.window;
                for_runs(width, [&](int64_t first, int64_t count, const Inside &columns) {
                  if (columns.first == columns.last) return;
                  const int64_t at = position + first * shape.channels;
                  const int64_t offset =
                      first * c.stride - c.low + columns.first * c.window_dilation;
                  kernels.scatter({.channels = shape.channels,
                                   .positions = count,
                                   .taps = {{1, 0, 0},
                                            {1, 0, 0},
                                            {columns.last - columns.first,
                                             c.window_dilation * shape.channels, 1}},
                                   .first_number = tap + columns.first,
                                   .x_step = c.stride * shape.channels,
                                   .y_step = shape.channels},
                                  taps + at, from + at, row + offset * shape.channels);
                });
              });
            });
          }
        });
  });
}

} // namespace weft::kernels

static weft::kernels::PoolingShape shape_of(const int64_t *numbers) {
  weft::kernels::PoolingShape shape{numbers[0], numbers[1], {}};
  numbers += 2;
  for (weft::kernels::WindowAxis &axis : shape.axes) {
    axis = {.in = numbers[0],
            .window = numbers[1],
            .out = numbers[2],
            .stride = numbers[3],
            .low = numbers[4],
            .window_dilation = numbers[5]};
    numbers += 6;
  }
  return shape;
}

#define WEFT_POOLING_ENTRIES(Name, Type)                                                           \
  void weft_rt_window_max_##Name(const int64_t *numbers, const Type *x, Type *y) {                 \
    weft::kernels::pool(weft::DType::Name, weft::kernels::Pool::max, shape_of(numbers), x, y);     \
  }                                                                                                \
  void weft_rt_window_min_##Name(const int64_t *numbers, const Type *x, Type *y) {                 \
    weft::kernels::pool(weft::DType::Name, weft::kernels::Pool::min, shape_of(numbers), x, y);     \
  }                                                                                                \
  void weft_rt_window_sum_##Name(const int64_t *numbers, const Type *x, Type *y) {                 \
    weft::kernels::pool(weft::DType::Name, weft::kernels::Pool::sum, shape_of(numbers), x, y);     \
  }                                                                                                \
  void weft_rt_window_sum_transpose_##Name(const int64_t *numbers, const Type *y, Type *x) {       \
    weft::kernels::pool(weft::DType::Name, weft::kernels::Pool::sum,                               \
                        weft::kernels::transposed(shape_of(numbers)), y, x);                       \
  }                                                                                                \
  void weft_rt_window_argmax_##Name(const int64_t *numbers, const Type *x, int32_t *taps) {        \
    weft::kernels::pool_taps(weft::DType::Name, weft::kernels::Pool::max, shape_of(numbers), x,    \
                             taps);                                                                \
  }                                                                                                \
  void weft_rt_window_argmin_##Name(const int64_t *numbers, const Type *x, int32_t *taps) {        \
    weft::kernels::pool_taps(weft::DType::Name, weft::kernels::Pool::min, shape_of(numbers), x,    \
                             taps);                                                                \
  }                                                                                                \
  void weft_rt_window_take_##Name(const int64_t *numbers, const Type *x, const int32_t *taps,      \
                                  Type *y) {                                                       \
    weft::kernels::pool_take(weft::DType::Name, shape_of(numbers), x, taps, y);                    \
  }                                                                                                \
  void weft_rt_window_scatter_##Name(const int64_t *numbers, const Type *y, const int32_t *taps,   \
                                     Type *x) {                                                    \
    weft::kernels::pool_scatter(weft::DType::Name, shape_of(numbers), y, taps, x);                 \
  }
WEFT_POOLING_ENTRIES(f32, float)
WEFT_POOLING_ENTRIES(f64, double)
WEFT_POOLING_ENTRIES(i32, int32_t)
WEFT_POOLING_ENTRIES(i64, int64_t)
#undef WEFT_POOLING_ENTRIES
