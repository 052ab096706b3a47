// The gradient of a convolution's kernel: a sum of products over blocks of positions, whose windows
// are gathered in the cache.
#include "Kernels/Convolution.h"

#include "Kernels/ConvolutionShared.h"
#include <atomic>

namespace weft::kernels {
namespace {

/// Positions that a chunk has at least, chunks that there are at most, and the bytes that their
/// gradients have at most: from these the order of additions follows.
constexpr int64_t kChunkPositions = 4096;
constexpr int64_t kMostChunks = 64;
constexpr int64_t kChunkBytes = 32 << 20;
/// Bytes of gathered windows at a time.
constexpr int64_t kGatheredBytes = 512 << 10;

/// The chunks that rows of positions are cut into, by sizes alone.
struct Chunks {
  int64_t rows, per_chunk, count;
};

Chunks chunks_of(const DenseConvolution &c, int64_t gradient_bytes) {
  const int64_t rows = c.batch * c.axes[0].outs * c.axes[1].outs;
  const int64_t positions = rows * c.axes[2].outs;
  if (positions == 0) return {0, 0, 0};
  const int64_t most =
      std::clamp<int64_t>(kChunkBytes / std::max<int64_t>(gradient_bytes, 1), 1, kMostChunks);
  const int64_t wanted = std::clamp<int64_t>(positions / kChunkPositions, 1, most);
  const int64_t per_chunk = divide_up(rows, wanted);
  return {rows, per_chunk, divide_up(rows, per_chunk)};
}

template <typename T>
struct GradientRun {
  const ConvolutionKernels<T> &kernels;
  const DenseConvolution &c;
  const T *x, *dy;

  int64_t depth() const { return c.taps() * c.in_group(); }
  int64_t size() const { return depth() * c.out_channels; }
};

/// Where row number `row` of positions lies.
struct Row {
  int64_t image, plane, line;
  Row(const DenseConvolution &c, int64_t row)
      : image(row / c.axes[1].outs / c.axes[0].outs), plane(row / c.axes[1].outs % c.axes[0].outs),
        line(row % c.axes[1].outs) {}
};

/// The window of one position of group `group`, [tap][channel].
template <typename T>
void gather_window(const DenseConvolution &c, const T *x, const Row &row, int64_t position,
                   int64_t group, T *to) {
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t channels = c.in_group();
  const int64_t first = position * width.stride - width.low;
  const bool joined = c.joins_taps() && first >= 0 && first + width.taps <= width.in;
  for (int64_t a = 0; a < depth.taps; ++a)
    for (int64_t b = 0; b < height.taps; ++b) {
      const int64_t i = row.plane * depth.stride + a * depth.dilation - depth.low;
      const int64_t j = row.line * height.stride + b * height.dilation - height.low;
      if (i < 0 || i >= depth.in || j < 0 || j >= height.in) {
        to = std::fill_n(to, width.taps * channels, T(0));
        continue;
      }
      const T *const line = x +
                            ((row.image * depth.in + i) * height.in + j) * width.in * c.channels +
                            group * channels;
      if (joined) {
        to = std::copy_n(line + first * channels, width.taps * channels, to);
        continue;
      }
      for (int64_t d = 0; d < width.taps; ++d) {
        const int64_t k = first + d * width.dilation;
        if (k < 0 || k >= width.in) to = std::fill_n(to, channels, T(0));
        else to = std::copy_n(line + k * c.channels, channels, to);
      }
    }
}

/// The windows of `count` positions from `first` of a row of group `group`, which has one channel,
/// [tap][position] with `pitch` elements from one tap to the next: what neighbouring positions see
/// of a tap are neighbours.
template <typename T>
void gather_lines(const DenseConvolution &c, const T *x, const Row &row, int64_t first,
                  int64_t count, int64_t group, T *to, int64_t pitch) {
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t step = width.stride * c.channels;
  for (int64_t a = 0; a < depth.taps; ++a)
    for (int64_t b = 0; b < height.taps; ++b) {
      const int64_t i = row.plane * depth.stride + a * depth.dilation - depth.low;
      const int64_t j = row.line * height.stride + b * height.dilation - height.low;
      const bool inside = i >= 0 && i < depth.in && j >= 0 && j < height.in;
      const T *const line =
          x + ((row.image * depth.in + i) * height.in + j) * width.in * c.channels + group;
      for (int64_t d = 0; d < width.taps; ++d, to += pitch) {
        // Positions [begin, end) see the image.
        const int64_t at = first * width.stride + d * width.dilation - width.low;
        const int64_t begin =
            inside ? std::min(at >= 0 ? 0 : divide_up(-at, width.stride), count) : count;
        const int64_t end = inside && at < width.in
                                ? std::clamp((width.in - 1 - at) / width.stride + 1, begin, count)
                                : begin;
        std::fill_n(to, begin, T(0));
        const T *const from = line + at * c.channels;
        if (step == 1) std::copy_n(from + begin, end - begin, to + begin);
        else
          for (int64_t k = begin; k < end; ++k) to[k] = from[k * step];
        std::fill_n(to + end, count - end, T(0));
      }
    }
}

/// One chunk's gradient, of columns [first, last) of every group. False where there is no memory.
template <typename T>
bool run_chunk(const GradientRun<T> &run, int64_t begin, int64_t end, int64_t first, int64_t last,
               T *gradient) {
  const DenseConvolution &c = run.c;
  const MatmulKernels<T> &matmul = run.kernels.matmul;
  const int64_t depth = run.depth(), width = c.axes[2].outs;
  const int64_t together =
      std::clamp<int64_t>(kGatheredBytes / (depth * static_cast<int64_t>(sizeof(T))), 64, 1024);
  T *const windows = scratch_of<T>(Scratch::rows, together * depth);
  T *const tail = scratch_of<T>(Scratch::tail, together * matmul.panel_columns);
  if (windows == nullptr || tail == nullptr) return false;
  MatmulBlock<T> block{};
  block.m = depth, block.n = last - first;
  const bool by_lines = c.in_group() == 1;
  block.a = windows, block.a_row = by_lines ? together : 1, block.a_col = by_lines ? 1 : depth;
  block.b_row = c.out_channels, block.b_panel = matmul.panel_columns;
  block.c_row = c.out_channels, block.tail = tail;
  for (int64_t g = 0; g < c.groups; ++g) {
    block.c = gradient + g * c.out_group() + first;
    block.accumulate = false;
    const int64_t positions = (end - begin) * width;
    for (int64_t at = 0; at < positions; at += together) {
      block.k = std::min(together, positions - at);
      for (int64_t i = 0, next = 0; by_lines && i < block.k; i = next) {
        const int64_t first_of = (at + i) % width;
        next = std::min(block.k, i + width - first_of);
        gather_lines(c, run.x, Row(c, begin + (at + i) / width), first_of, next - i, g, windows + i,
                     together);
      }
      for (int64_t i = 0; !by_lines && i < block.k; ++i)
        gather_window(c, run.x, Row(c, begin + (at + i) / width), (at + i) % width, g,
                      windows + i * depth);
      block.b = run.dy + (begin * width + at) * c.out_channels + g * c.out_group() + first;
      matmul.block(block);
      block.accumulate = true;
    }
  }
  return true;
}

/// The same for a depthwise convolution.
template <typename T>
bool run_depthwise_chunk(const GradientRun<T> &run, int64_t begin, int64_t end, T *gradient) {
  const DenseConvolution &c = run.c;
  std::fill_n(gradient, run.size(), T(0));
  if (c.taps() > kMostTaps) return false;
  int64_t offsets[kMostTaps];
  for (int64_t r = begin; r < end; ++r) {
    const Row row(c, r);
    InputRows<T> rows;
    if (!rows.open(c, run.x, T(0), row.image, row.plane, row.line, row.line + 1)) return false;
    const int64_t count = list_taps(c, rows, offsets);
    run.kernels.depthwise.gradient({c.channels, c.axes[2].outs, count, rows.row(c, 0), offsets,
                                    c.axes[2].stride * c.channels, c.out_channels},
                                   run.dy + r * c.axes[2].outs * c.out_channels, gradient);
  }
  return true;
}

/// One element's sum over a chunk, correct whatever else is missing.
template <typename T>
T element_of_chunk(const GradientRun<T> &run, int64_t begin, int64_t end, int64_t tap,
                   int64_t channel, int64_t out) {
  const DenseConvolution &c = run.c;
  const DenseAxis &depth = c.axes[0], &height = c.axes[1], &width = c.axes[2];
  const int64_t in_channel = out / c.out_group() * c.in_group() + channel;
  const int64_t a = tap / width.taps / height.taps, b = tap / width.taps % height.taps;
  const int64_t d = tap % width.taps;
  T sum = 0;
  for (int64_t r = begin; r < end; ++r) {
    const Row row(c, r);
    const int64_t i = row.plane * depth.stride + a * depth.dilation - depth.low;
    const int64_t j = row.line * height.stride + b * height.dilation - height.low;
    for (int64_t p = 0; p < width.outs; ++p) {
      const int64_t k = p * width.stride + d * width.dilation - width.low;
      const bool inside =
          i >= 0 && i < depth.in && j >= 0 && j < height.in && k >= 0 && k < width.in;
      const T value =
          inside
              ? run.x[(((row.image * depth.in + i) * height.in + j) * width.in + k) * c.channels +
                      in_channel]
              : T(0);
      sum += value * run.dy[(r * width.outs + p) * c.out_channels + out];
    }
  }
  return sum;
}

/// Adds neighbours, then neighbours of those, until the first has the sum of all.
template <typename T, class Add>
void add_pairwise(int64_t count, const Add &add) {
  for (int64_t step = 1; step < count; step *= 2)
    for (int64_t i = 0; i + step < count; i += 2 * step) add(i, i + step);
}

template <typename T>
void without_memory(const GradientRun<T> &run, const Chunks &chunks, T *gradient) {
  const DenseConvolution &c = run.c;
  for (int64_t i = 0; i < run.size(); ++i) {
    const int64_t out = i % c.out_channels, row = i / c.out_channels;
    T sums[kMostChunks];
    for (int64_t chunk = 0; chunk < chunks.count; ++chunk)
      sums[chunk] = element_of_chunk(run, chunk * chunks.per_chunk,
                                     std::min((chunk + 1) * chunks.per_chunk, chunks.rows),
                                     row / c.in_group(), row % c.in_group(), out);
    add_pairwise<T>(chunks.count, [&](int64_t to, int64_t from) { sums[to] += sums[from]; });
    gradient[i] = sums[0];
  }
}

template <typename T>
void run_gradient(const ConvolutionKernels<T> &kernels, const DenseConvolution &c, const T *x,
                  const T *dy, T *gradient) {
  const GradientRun<T> run{kernels, c, x, dy};
  const int64_t size = run.size();
  const Chunks chunks = chunks_of(c, size * static_cast<int64_t>(sizeof(T)));
  if (chunks.rows == 0) {
    std::fill_n(gradient, size, T(0));
    return;
  }
  // The first chunk is added up where the result is wanted.
  T *others = nullptr;
  if (chunks.count > 1) {
    others = scratch_of<T>(Scratch::sums, (chunks.count - 1) * size);
    if (others == nullptr) return without_memory(run, chunks, gradient);
  }
  const auto part = [&](int64_t chunk) {
    return chunk == 0 ? gradient : others + (chunk - 1) * size;
  };
  // Where there are fewer chunks than threads, those share the columns of a chunk.
  const int64_t panels = divide_up(c.out_group(), kernels.matmul.panel_columns);
  const int64_t slices =
      c.is_depthwise() ? 1
                       : std::clamp<int64_t>(
                             divide_up(threads::max_threads_or_default(), chunks.count), 1, panels);
  const int64_t columns = divide_up(panels, slices) * kernels.matmul.panel_columns;
  const int64_t work = chunks.per_chunk * c.axes[2].outs * size / slices;
  std::atomic<bool> failed = false;
  threads::parallel_for_noexcept(
      0, chunks.count * slices, divide_up(kThreadWork, std::max<int64_t>(work, 1)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t chunk = i / slices, first = i % slices * columns;
          const int64_t from = chunk * chunks.per_chunk;
          const int64_t to = std::min(from + chunks.per_chunk, chunks.rows);
          if (first >= c.out_group()) continue;
          const bool done = c.is_depthwise()
                                ? run_depthwise_chunk(run, from, to, part(chunk))
                                : run_chunk(run, from, to, first,
                                            std::min(first + columns, c.out_group()), part(chunk));
          if (!done) failed = true;
        }
      });
  if (failed) return without_memory(run, chunks, gradient);
  threads::parallel_for_noexcept(0, size, divide_up(kPackWork, chunks.count),
                                 [&](int64_t begin, int64_t end) {
                                   add_pairwise<T>(chunks.count, [&](int64_t to, int64_t from) {
                                     T *const sum = part(to);
                                     const T *const more = part(from);
                                     for (int64_t i = begin; i < end; ++i) sum[i] += more[i];
                                   });
                                 });
}

} // namespace

void convolution_kernel_gradient_forced(DType dtype, const ConvolutionShape &given, const void *x,
                                        const void *y_cotangent, void *kernel_gradient,
                                        CpuLevel level) noexcept {
  const ConvolutionShape shape = with_long_rows(given);
  DenseConvolution c{{shape.batch, shape.in_channels, {}}, shape.out_channels, shape.groups};
  for (int i = 0; i < 3; ++i) {
    const WindowAxis &axis = shape.axes[i];
    c.axes[i] = {.in = axis.in,
                 .outs = axis.out,
                 .taps = axis.window,
                 .stride = axis.stride,
                 .dilation = axis.window_dilation,
                 .low = axis.low};
  }
  visit_convolution_kernels(dtype, level, [&]<typename T>(const ConvolutionKernels<T> &kernels) {
    run_gradient(kernels, c, static_cast<const T *>(x), static_cast<const T *>(y_cotangent),
                 static_cast<T *>(kernel_gradient));
  });
}

void convolution_kernel_gradient(DType dtype, const ConvolutionShape &shape, const void *x,
                                 const void *y_cotangent, void *kernel_gradient) noexcept {
  convolution_kernel_gradient_forced(dtype, shape, x, y_cotangent, kernel_gradient,
                                     host_cpu_level());
}

} // namespace weft::kernels
