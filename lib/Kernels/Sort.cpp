// Finds the lines of a tensor along an axis and brings them to the sorting of one line, several
// neighbours at a time, on several threads.

#include "Kernels/Sort.h"

#include "Kernels/Routine.h"
#include "Kernels/SortLine.h"
#include "Support/Cpu.h"

#include <cstdlib>
#include <limits>
#include <vector>

namespace weft::kernels {
namespace {

/// All axes of the tensor but that of the lines, the nearest neighbours last.
struct Neighbours {
  struct Axis {
    std::int64_t size, from, to; ///< strides in x and in the result
  };
  std::vector<Axis> outer;
  Axis nearest = {1, 0, 0};
  std::int64_t count = 1; ///< of lines

  explicit Neighbours(const SortArgs &args) {
    for (std::int64_t i = 0; i < args.rank; ++i) {
      if (i == args.axis || args.sizes[i] == 1) continue;
      outer.push_back({args.sizes[i], args.x_strides[i], args.result_strides[i]});
      count *= args.sizes[i];
    }
    std::sort(outer.begin(), outer.end(),
              [](const Axis &a, const Axis &b) { return std::abs(a.from) > std::abs(b.from); });
    if (outer.empty()) return;
    nearest = outer.back();
    outer.pop_back();
  }
};

/// One way of copying between a strided tile and lines that are adjacent.
struct Tile {
  std::int64_t lines, size;             ///< so many lines of that size
  std::int64_t line_step, element_step; ///< strides of the tensor
};

template <class T>
void gather(const T *x, const Tile &tile, T *lines) {
  if (tile.lines == 1) {
    for (std::int64_t i = 0; i < tile.size; ++i) lines[i] = x[i * tile.element_step];
    return;
  }
  // Few elements of all lines at a time, so that what is read whole is also written whole.
  constexpr std::int64_t kElements = 16;
  for (std::int64_t begin = 0; begin < tile.size; begin += kElements) {
    const std::int64_t end = std::min(begin + kElements, tile.size);
    for (std::int64_t line = 0; line < tile.lines; ++line)
      for (std::int64_t i = begin; i < end; ++i)
        lines[line * tile.size + i] = x[line * tile.line_step + i * tile.element_step];
  }
}

template <class T>
void scatter(const T *lines, const Tile &tile, T *y) {
  constexpr std::int64_t kElements = 16;
  for (std::int64_t begin = 0; begin < tile.size; begin += kElements) {
    const std::int64_t end = std::min(begin + kElements, tile.size);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t line = 0; line < tile.lines; ++line)
        y[line * tile.line_step + i * tile.element_step] = lines[line * tile.size + i];
  }
}

/// Sorts lines of T, each to `count` of Out.
template <class T, class Out>
class AxisSorter {
public:
  AxisSorter(const SortArgs &args, const SortLevel &level, const RadixThresholds &radix)
      : args_(args), level_(level), radix_(radix), neighbours_(args), size_(args.sizes[args.axis]) {
  }

  void run() const {
    const int threads = threads::in_parallel_region() ? 1 : threads::max_threads();
    // Long lines are shared if there are too few for all.
    constexpr std::int64_t kLong = 1 << 17;
    if (size_ >= kLong && neighbours_.count < 4 * std::int64_t(threads))
      return sort_tiles(0, tile_count(1), 1, threads);
    // A line of a cache at most is read in full when its neighbour is.
    constexpr std::int64_t kLine = 64 / sizeof(T), kCache = 1 << 20;
    const bool alone = args_.x_strides[args_.axis] == 1 && args_.result_strides[args_.axis] == 1;
    std::int64_t width = alone ? 1 : kLine;
    width = std::min(width, neighbours_.nearest.size);
    width = std::clamp<std::int64_t>(kCache / std::int64_t(sizeof(T)) / size_, 1, width);
    constexpr std::int64_t kWork = 1 << 12; // elements that are worth a thread
    threads::parallel_for(
        0, tile_count(width), std::max<std::int64_t>(kWork / (size_ * width), 1),
        [&](std::int64_t begin, std::int64_t end) { sort_tiles(begin, end, width, 1); });
  }

private:
  std::int64_t tiles_across(std::int64_t width) const {
    return (neighbours_.nearest.size + width - 1) / width;
  }
  std::int64_t tile_count(std::int64_t width) const {
    return neighbours_.count / neighbours_.nearest.size * tiles_across(width);
  }

  void sort_tiles(std::int64_t begin, std::int64_t end, std::int64_t width, int threads) const {
    const LineSorter<T> sorter(level_, radix_, args_.descending, threads);
    const std::int64_t step = args_.x_strides[args_.axis];
    const std::int64_t out_step = args_.result_strides[args_.axis];
    const bool in_place = step == 1 || size_ == 1, out_in_place = out_step == 1;
    const Room<T> lines(in_place ? 0 : width * size_);
    const Room<Out> sorted(out_in_place ? 0 : width * args_.count);
    for (std::int64_t number = begin; number < end; ++number) {
      const std::int64_t first = number % tiles_across(width) * width;
      const std::int64_t count = std::min(width, neighbours_.nearest.size - first);
      const T *x = static_cast<const T *>(args_.x) + first * neighbours_.nearest.from;
      Out *y = static_cast<Out *>(args_.result) + first * neighbours_.nearest.to;
      std::int64_t rest = number / tiles_across(width);
      for (std::size_t i = neighbours_.outer.size(); i-- > 0;) {
        const Neighbours::Axis &axis = neighbours_.outer[i];
        x += rest % axis.size * axis.from;
        y += rest % axis.size * axis.to;
        rest /= axis.size;
      }
      const Tile from = {count, size_, neighbours_.nearest.from, step};
      const Tile to = {count, args_.count, neighbours_.nearest.to, out_step};
      if (!in_place) gather(x, from, lines.get());
      for (std::int64_t line = 0; line < count; ++line)
        sort_line(sorter, in_place ? x + line * from.line_step : lines.get() + line * size_,
                  out_in_place ? y + line * to.line_step : sorted.get() + line * args_.count);
      if (!out_in_place) scatter(sorted.get(), to, y);
    }
  }

  void sort_line(const LineSorter<T> &sorter, const T *x, Out *out) const {
    if (args_.wanted == Sorted::indices) {
      if constexpr (std::is_same_v<Out, std::int64_t>) sorter.indices(x, size_, args_.count, out);
    } else if constexpr (std::is_same_v<Out, T>) {
      if (args_.count == size_) return sorter.values(x, size_, out);
      const Room<T> all(size_);
      sorter.values(x, size_, all.get());
      std::copy_n(all.get(), args_.count, out);
    }
  }

  const SortArgs &args_;
  const SortLevel &level_;
  const RadixThresholds &radix_;
  Neighbours neighbours_;
  std::int64_t size_;
};

const SortLevel &level_table(CpuLevel level) {
  return of_level(level, sort_level_v2, sort_level_v3, sort_level_v4);
}

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Below v3 there are no vectors to partition with, below v4 none that compare 64 bits well.
const RadixThresholds &thresholds(CpuLevel level) {
  static constexpr RadixThresholds v4 = {1 << 15, kNever, kNever};
  static constexpr RadixThresholds v3 = {1 << 9, 1 << 15, 1 << 13};
  static constexpr RadixThresholds v2 = {1 << 8, 1 << 9, 1 << 10};
  return of_level(level, v2, v3, v4);
}

template <class T>
void sort_elements(const SortArgs &args, const SortLevel &level, const RadixThresholds &radix) {
  if (args.wanted == Sorted::indices) AxisSorter<T, std::int64_t>(args, level, radix).run();
  else AxisSorter<T, T>(args, level, radix).run();
}

void sort_dtype(DType dtype, const SortArgs &args, const SortLevel &level,
                const RadixThresholds &radix) {
  if (args.count == 0) return;
  for (std::int64_t i = 0; i < args.rank; ++i)
    if (args.sizes[i] == 0) return;
  switch (dtype) {
  case DType::f32: return sort_elements<float>(args, level, radix);
  case DType::f64: return sort_elements<double>(args, level, radix);
  case DType::i32: return sort_elements<std::int32_t>(args, level, radix);
  case DType::i64: return sort_elements<std::int64_t>(args, level, radix);
  default: break; // others are computed in one of these
  }
}

} // namespace

void sort(DType dtype, const SortArgs &args) {
  static const SortLevel &level = level_table(CpuLevel::v4);
  static const RadixThresholds &radix = thresholds(CpuLevel::v4);
  sort_dtype(dtype, args, level, radix);
}

void sort_forced(DType dtype, const SortArgs &args, CpuLevel level, SortPath path) {
  static constexpr RadixThresholds quicksort = {kNever, kNever, kNever};
  static constexpr RadixThresholds radix = {0, 0, 0};
  sort_dtype(dtype, args, level_table(level),
             path == SortPath::automatic   ? thresholds(level)
             : path == SortPath::quicksort ? quicksort
                                           : radix);
}

namespace routines {

namespace {
/// The result's size says how many of each line are wanted.
void sort_lines(DType dtype, Sorted wanted, const RoutineCall &call, std::int64_t axis,
                bool descending) {
  const RoutineTensor &x = call.operands[0], &result = call.results[0];
  kernels::sort(dtype, {.rank = x.rank,
                        .sizes = x.sizes,
                        .axis = axis,
                        .descending = descending,
                        .wanted = wanted,
                        .count = result.sizes[axis],
                        .x = x.data,
                        .x_strides = x.strides,
                        .result = result.data,
                        .result_strides = result.strides});
}
} // namespace

template <class T>
void argsort(const RoutineCall &call) {
  const ArgsortRoutineAttrs given(call);
  sort_lines(dtype_of<T>, Sorted::indices, call, given.axis, given.descending);
}
template <class T>
void sort(const RoutineCall &call) {
  const SortRoutineAttrs given(call);
  sort_lines(dtype_of<T>, Sorted::values, call, given.axis, given.descending);
}

#define WEFT_SORT_OF(T)                                                                            \
  template void argsort<T>(const RoutineCall &);                                                   \
  template void sort<T>(const RoutineCall &);
WEFT_SORT_OF(float)
WEFT_SORT_OF(double)
WEFT_SORT_OF(std::int32_t)
WEFT_SORT_OF(std::int64_t)
#undef WEFT_SORT_OF

} // namespace routines

} // namespace weft::kernels
