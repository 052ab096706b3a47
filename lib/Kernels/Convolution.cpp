// Convolution as a product that is never written down: the windows of a row of positions are rows
// of A where they lie, the kernel is B.
#include "Kernels/Convolution.h"

#include "Kernels/ConvolutionShared.h"
#include "Kernels/Matmul.h"

namespace weft::kernels {
namespace {

/// The taps that one chain goes over: `length` neighbouring elements of A each.
struct Taps {
  int64_t count, length;
  int64_t offsets[kMostTaps];
};

/// The kernel of a dense convolution, [tap][channel of the group][out_channels], and packed.
template <typename T>
struct Weights {
  const T *rows = nullptr;
  const T *packed = nullptr; ///< panels of each group, one after the other
  int64_t panel = 0;         ///< elements from one panel to the next
  int64_t group = 0;         ///< elements from one group to the next
};

template <typename T>
struct Run {
  const ConvolutionKernels<T> &kernels;
  const ConvolutionShape &shape;
  const DenseConvolution &c;
  const T *x;
  T *y;
  Weights<T> weights;

  /// Where the result of the first position of a row stands.
  T *row(int64_t image, int64_t plane, int64_t line) const {
    return y + first_position(shape.axes, c, image, plane, line) * c.out_channels;
  }
  int64_t y_step() const { return c.axes[2].out_step * c.out_channels; }
};

/// Correct whatever else is missing.
template <typename T>
void without_memory(const Run<T> &run, int64_t image, int64_t plane, int64_t line,
                    const T *kernel) {
  const DenseConvolution &c = run.c;
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t in_group = c.in_group();
  for (int64_t k = 0; k < width.outs; ++k)
    for (int64_t o = 0; o < c.out_channels; ++o) {
      const int64_t first = o / c.out_group() * in_group;
      T sum = 0;
      for (int64_t a = 0; a < depth.taps; ++a)
        for (int64_t b = 0; b < height.taps; ++b)
          for (int64_t d = 0; d < width.taps; ++d) {
            const int64_t at[] = {plane * depth.stride + a * depth.dilation - depth.low,
                                  line * height.stride + b * height.dilation - height.low,
                                  k * width.stride + d * width.dilation - width.low};
            const bool inside = at[0] >= 0 && at[0] < depth.in && at[1] >= 0 && at[1] < height.in &&
                                at[2] >= 0 && at[2] < width.in;
            const T *const from =
                run.x +
                (((image * depth.in + at[0]) * height.in + at[1]) * width.in + at[2]) * c.channels +
                first;
            const int64_t tap[] = {depth.first_tap + a * depth.tap_step,
                                   height.first_tap + b * height.tap_step,
                                   width.first_tap + d * width.tap_step};
            const T *const weight =
                kernel +
                ((tap[0] * run.shape.axes[1].window + tap[1]) * run.shape.axes[2].window + tap[2]) *
                    in_group * c.out_channels;
            for (int64_t channel = 0; channel < in_group; ++channel)
              sum += (inside ? from[channel] : T(0)) * weight[channel * c.out_channels + o];
          }
      run.row(image, plane, line)[k * run.y_step() + o] = sum;
    }
}

template <typename T>
void taps_of(const DenseConvolution &c, const InputRows<T> &rows, Taps &taps) {
  const bool joined = c.joins_taps() && !c.is_depthwise();
  taps.count = 0;
  taps.length = joined ? c.axes[2].taps * c.channels : c.in_group();
  for (int64_t i = 0; i < c.axes[0].taps; ++i)
    for (int64_t j = 0; j < c.axes[1].taps; ++j)
      for (int64_t k = 0; k < (joined ? 1 : c.axes[2].taps); ++k)
        taps.offsets[taps.count++] = rows.offset(c, i, j, k);
}

/// Rows of a convolution to few channels, from a copy of the lines that they see which has the
/// channels apart, and of columns those together that lie a stride apart: [line][column modulo
/// stride][channel][column / stride]. False where there is no memory.
template <typename T>
bool run_narrow_rows(const Run<T> &run, const InputRows<T> &rows, int64_t image, int64_t plane,
                     int64_t begin, int64_t end) {
  const DenseConvolution &c = run.c;
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t across = width.reach(width.outs), lines = height.reach(end - begin);
  const int64_t phases = std::min(width.stride, across);
  const int64_t length = divide_up(across, phases);
  const int64_t phase_pitch = c.channels * length, line_pitch = phases * phase_pitch;
  T *const apart = scratch_of<T>(Scratch::tail, depth.taps * lines * line_pitch + kNarrowSlack);
  if (apart == nullptr) return false;
  for (int64_t i = 0; i < depth.taps; ++i)
    for (int64_t j = 0; j < lines; ++j)
      for (int64_t phase = 0; phase < phases; ++phase)
        run.kernels.narrow.transpose(divide_up(across - phase, phases), c.channels,
                                     rows.line(i, j) + phase * c.channels, phases * c.channels,
                                     apart + (i * lines + j) * line_pitch + phase * phase_pitch,
                                     length);
  int64_t offsets[kMostTaps], count = 0;
  for (int64_t i = 0; i < depth.taps; ++i)
    for (int64_t j = 0; j < height.taps; ++j)
      for (int64_t k = 0; k < width.taps; ++k) {
        const int64_t column = k * width.dilation;
        offsets[count++] = (i * lines + j * height.dilation) * line_pitch +
                           column % phases * phase_pitch + column / phases;
      }
  for (int64_t j = begin; j < end; ++j)
    run.kernels.narrow.forward({c.channels, c.out_channels, width.outs, count,
                                apart + (j - begin) * height.stride * line_pitch, offsets, length,
                                run.y_step()},
                               run.weights.rows, run.row(image, plane, j));
  return true;
}

/// Rows [begin, end) of axis 1 at position `plane` of axis 0.
template <typename T>
void run_rows(const Run<T> &run, int64_t image, int64_t plane, int64_t begin, int64_t end,
              const T *kernel) {
  const DenseConvolution &c = run.c;
  InputRows<T> rows;
  if (!rows.open(c, run.x, T(0), image, plane, begin, end)) {
    for (int64_t j = begin; j < end; ++j) without_memory(run, image, plane, j, kernel);
    return;
  }
  if (c.is_narrow()) {
    if (!run_narrow_rows(run, rows, image, plane, begin, end))
      for (int64_t j = begin; j < end; ++j) without_memory(run, image, plane, j, kernel);
    return;
  }
  Taps taps;
  taps_of(c, rows, taps);
  const int64_t x_step = c.axes[2].stride * c.channels;
  if (c.is_depthwise()) {
    for (int64_t j = begin; j < end; ++j)
      run.kernels.depthwise.forward({c.channels, c.axes[2].outs, taps.count, rows.row(c, j - begin),
                                     taps.offsets, x_step, run.y_step()},
                                    run.weights.rows, run.row(image, plane, j));
    return;
  }
  const MatmulKernels<T> &matmul = run.kernels.matmul;
  MatmulBlock<T> block{};
  block.m = c.axes[2].outs, block.k = taps.length;
  block.a_row = x_step, block.a_col = 1;
  block.b_row = matmul.panel_columns, block.b_panel = run.weights.panel, block.b_packed = true;
  block.c_row = run.y_step();
  block.taps = taps.count, block.a_taps = taps.offsets;
  for (int64_t g = 0; g < c.groups; ++g)
    for (int64_t o = 0; o < c.out_group(); o += matmul.panel_columns) {
      // All rows by one panel, which stays in the cache meanwhile.
      block.n = std::min(matmul.panel_columns, c.out_group() - o);
      block.b =
          run.weights.packed + g * run.weights.group + o / matmul.panel_columns * run.weights.panel;
      for (int64_t j = begin; j < end; ++j) {
        block.a = rows.row(c, j - begin) + g * c.in_group();
        block.c = run.row(image, plane, j) + g * c.out_group() + o;
        matmul.block(block);
      }
    }
}

/// The rows of the kernel that the taps of `c` are, in one block; null where there is no memory.
template <typename T>
const T *kernel_rows(const DenseConvolution &c, const ConvolutionShape &shape, const T *kernel) {
  const bool all = c.taps() == shape.axes[0].window * shape.axes[1].window * shape.axes[2].window;
  if (all) return kernel;
  const int64_t size = c.in_group() * c.out_channels;
  T *const rows = scratch_of<T>(Scratch::vector, c.taps() * size);
  if (rows == nullptr) return nullptr;
  T *to = rows;
  for (int64_t i = 0; i < c.axes[0].taps; ++i)
    for (int64_t j = 0; j < c.axes[1].taps; ++j)
      for (int64_t k = 0; k < c.axes[2].taps; ++k) {
        const int64_t tap[] = {c.axes[0].first_tap + i * c.axes[0].tap_step,
                               c.axes[1].first_tap + j * c.axes[1].tap_step,
                               c.axes[2].first_tap + k * c.axes[2].tap_step};
        const T *const from =
            kernel +
            ((tap[0] * shape.axes[1].window + tap[1]) * shape.axes[2].window + tap[2]) * size;
        to = std::copy_n(from, size, to);
      }
  return rows;
}

/// False where there is no memory.
template <typename T>
bool pack(const Run<T> &run, const T *kernel, Weights<T> &weights) {
  const DenseConvolution &c = run.c;
  weights.rows = kernel_rows(c, run.shape, kernel);
  if (weights.rows == nullptr) return false;
  if (c.is_depthwise() || c.is_narrow()) return true;
  const MatmulKernels<T> &matmul = run.kernels.matmul;
  const int64_t depth = c.taps() * c.in_group();
  const int64_t panels = divide_up(c.out_group(), matmul.panel_columns);
  weights.panel = depth * matmul.panel_columns;
  weights.group = panels * weights.panel;
  T *const packed = scratch_of<T>(Scratch::panels, c.groups * weights.group);
  weights.packed = packed;
  if (packed == nullptr) return false;
  threads::parallel_for_noexcept(
      0, c.groups * panels, divide_up(kPackWork, weights.panel), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t g = i / panels, first = i % panels * matmul.panel_columns;
          matmul.pack_b(depth, std::min(matmul.panel_columns, c.out_group() - first),
                        weights.rows + g * c.out_group() + first, c.out_channels, 1,
                        packed + g * weights.group + i % panels * weights.panel, weights.panel);
        }
      });
  return true;
}

/// A product of all positions with the kernel, where windows have one element and all are seen.
template <typename T>
bool run_as_product(const ConvolutionShape &shape, DType dtype, const T *x, const T *kernel, T *y,
                    CpuLevel level) {
  int64_t positions = shape.batch;
  for (const WindowAxis &axis : shape.axes) {
    if (axis.window != 1 || axis.stride != 1 || axis.low != 0 || axis.input_dilation != 1 ||
        axis.out != axis.in)
      return false;
    positions *= axis.out;
  }
  // Products with vectors add in another order.
  if (shape.groups != 1 || positions < 2 || shape.out_channels < 2) return false;
  matmul_forced(dtype,
                {.batch = 1,
                 .m = positions,
                 .n = shape.out_channels,
                 .k = shape.in_channels,
                 .a = x,
                 .a_batch = 0,
                 .a_row = shape.in_channels,
                 .a_col = 1,
                 .b = kernel,
                 .b_batch = 0,
                 .b_row = shape.out_channels,
                 .b_col = 1,
                 .c = y,
                 .c_batch = 0,
                 .c_row = shape.out_channels},
                level, MatmulPath::automatic);
  return true;
}

template <typename T>
void run_dense(const ConvolutionKernels<T> &kernels, const ConvolutionShape &shape,
               const DenseConvolution &c, const T *x, const T *kernel, T *y) {
  const DenseAxis *const axes = c.axes;
  Run<T> run{kernels, shape, c, x, y, {}};
  const int64_t lines = axes[1].outs;
  if (c.taps() == 0 || c.channels == 0) { // positions that see nothing
    for (int64_t i = 0; i < c.batch * axes[0].outs * lines; ++i) {
      T *const row = run.row(i / lines / axes[0].outs, i / lines % axes[0].outs, i % lines);
      for (int64_t k = 0; k < axes[2].outs; ++k)
        std::fill_n(row + k * run.y_step(), c.out_channels, T(0));
    }
    return;
  }
  const bool usable = c.taps() <= kMostTaps && pack(run, kernel, run.weights);
  for_blocks_of_rows<T>(
      c, c.out_channels * c.taps() * c.in_group(),
      [&](const DenseWindows &windows, int64_t image, int64_t plane, int64_t begin, int64_t end) {
        const DenseConvolution some{windows, c.out_channels, c.groups};
        const Run<T> part{kernels, shape, some, x, y, run.weights};
        if (usable) return run_rows(part, image, plane, begin, end, kernel);
        for (int64_t j = begin; j < end; ++j) without_memory(part, image, plane, j, kernel);
      });
}

template <typename T>
void run_convolution(const ConvolutionKernels<T> &kernels, const ConvolutionShape &shape,
                     DType dtype, const T *x, const T *kernel, T *y, CpuLevel level) {
  const DenseWindows windows{shape.batch, shape.in_channels, {}};
  if (run_as_product(shape, dtype, x, kernel, y, level)) return;
  for_kinds_of_windows(shape.axes, windows, [&](const DenseWindows &kind) {
    run_dense(kernels, shape, {kind, shape.out_channels, shape.groups}, x, kernel, y);
  });
}

} // namespace

void convolution_forced(DType dtype, const ConvolutionShape &shape, const void *x,
                        const void *kernel, void *y, CpuLevel level) noexcept {
  if (shape.batch == 0 || shape.out_channels == 0) return;
  for (const WindowAxis &axis : shape.axes)
    if (axis.out == 0) return;
  visit_convolution_kernels(dtype, level, [&]<typename T>(const ConvolutionKernels<T> &kernels) {
    run_convolution(kernels, with_long_rows(shape), dtype, static_cast<const T *>(x),
                    static_cast<const T *>(kernel), static_cast<T *>(y), level);
  });
}

void convolution(DType dtype, const ConvolutionShape &shape, const void *x, const void *kernel,
                 void *y) noexcept {
  convolution_forced(dtype, shape, x, kernel, y, host_cpu_level());
}

} // namespace weft::kernels

static weft::kernels::ConvolutionShape shape_of(const int64_t *numbers) {
  weft::kernels::ConvolutionShape shape{numbers[0], numbers[1], numbers[2], numbers[3], {}};
  numbers += 4;
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

#define WEFT_CONVOLUTION_ENTRIES(Name, Type)                                                       \
  void weft_rt_convolution_##Name(const int64_t *numbers, const Type *x, const Type *kernel,       \
                                  Type *y) {                                                       \
    weft::kernels::convolution(weft::DType::Name, shape_of(numbers), x, kernel, y);                \
  }                                                                                                \
  void weft_rt_convolution_transpose_##Name(const int64_t *numbers, const Type *y,                 \
                                            const Type *kernel, Type *x) {                         \
    weft::kernels::convolution_transpose(weft::DType::Name, shape_of(numbers), y, kernel, x);      \
  }                                                                                                \
  void weft_rt_convolution_kernel_gradient_##Name(                                                 \
      const int64_t *numbers, const Type *x, const Type *y_cotangent, Type *kernel_gradient) {     \
    weft::kernels::convolution_kernel_gradient(weft::DType::Name, shape_of(numbers), x,            \
                                               y_cotangent, kernel_gradient);                      \
  }
WEFT_CONVOLUTION_ENTRIES(f32, float)
WEFT_CONVOLUTION_ENTRIES(f64, double)
WEFT_CONVOLUTION_ENTRIES(i32, int32_t)
WEFT_CONVOLUTION_ENTRIES(i64, int64_t)
#undef WEFT_CONVOLUTION_ENTRIES
