// Argmax: along neighbours the largest element of blocks by the kernel of `max`, then its first
// index; along other axes by a kernel of its own.
//
// Which element it is does not depend on how the work is cut, so that it may follow from the number
// of threads.
#include "Kernels/Argmax.h"

#include "Kernels/KernelTable.h"
#include "Kernels/MatmulScratch.h"
#include "Support/Threads.h"

#include <algorithm>

namespace weft::kernels {
namespace {

/// Lines are cut into blocks whose maxima are compared; only in one of them is looked for the
/// index. That takes longer for long blocks, and the maxima of short ones do.
constexpr std::int64_t kShortBlock = 256, kLongBlock = 4096, kLongLine = 1 << 16;
/// So many maxima are kept at a time.
constexpr std::int64_t kMostMaxima = 128;

/// Whether a later element replaces the best so far: the first of equals stays, and the
/// first NaN is larger than every number.
template <class T>
bool is_better(T later, T best) {
  return later > best || (later != later && best == best);
}

/// Skips chunks of which `is_it` holds for no element, from index `i` on.
template <std::int64_t Chunk, class T, class Test>
std::int64_t skip(const T *x, std::int64_t i, std::int64_t count, const Test &is_it) {
  // No branch inside a chunk, so that it becomes vectors.
  for (; i + Chunk <= count; i += Chunk) {
    bool found = false;
    for (std::int64_t j = 0; j < Chunk; ++j) found |= is_it(x[i + j]);
    if (found) break;
  }
  return i;
}

/// The first index for which `is_it` holds, which it does for one.
template <class T, class Test>
std::int64_t find_first(const T *x, std::int64_t count, const Test &is_it) {
  std::int64_t i = skip<16>(x, skip<64>(x, 0, count, is_it), count, is_it);
  while (!is_it(x[i])) ++i;
  return i;
}

/// The first index of `largest`, which is an element, or a NaN if there is one.
template <class T>
std::int64_t first_index(const T *x, std::int64_t count, T largest) {
  if (largest != largest) return find_first(x, count, [](T value) { return value != value; });
  return find_first(x, count, [=](T value) { return value == largest; });
}

/// The kernels for elements of T.
template <class T>
class Argmax {
public:
  explicit Argmax(DType dtype)
      : max_(kernel_table().reduce_rows[static_cast<std::size_t>(OpCode::reduce_max)]
                                       [static_cast<std::size_t>(dtype)]),
        columns_(kernel_table().argmax[static_cast<std::size_t>(dtype)]) {}

  void run(const Lines &lines, const T *x, std::int64_t *indices) const {
    if (lines.inner != 1) return columns(lines, x, indices);
    if (lines.outer >= threads::max_threads_or_default() || lines.size < 2 * kPart)
      return rows(x, indices, lines.outer, lines.size);
    for (std::int64_t i = 0; i < lines.outer; ++i)
      indices[i] = long_line(x + i * lines.size, lines.size);
  }

private:
  /// What one thread at least has of a long line.
  static constexpr std::int64_t kPart = 1 << 15;

  /// The largest elements of `rows` rows, one after the other.
  void maxima_of(const T *x, T *maxima, std::int64_t rows, std::int64_t size) const {
    void *buffers[] = {const_cast<T *>(x), maxima};
    const std::int64_t dims[] = {rows, size, size};
    max_(buffers, dims);
  }

  /// The first of the line's blocks that has the largest element, and the index in that.
  std::int64_t line(const T *x, std::int64_t size) const {
    const std::int64_t block = size < kLongLine ? kShortBlock : kLongBlock;
    const std::int64_t together = block * kMostMaxima;
    T maxima[kMostMaxima], largest = x[0];
    std::int64_t best = 0;
    for (std::int64_t begin = 0; begin < size; begin += together) {
      const std::int64_t count = std::min(together, size - begin), whole = count / block;
      const std::int64_t rest = count - whole * block;
      maxima_of(x + begin, maxima, whole, block);
      if (rest != 0) maxima_of(x + begin + whole * block, maxima + whole, 1, rest);
      for (std::int64_t i = 0; i < whole + (rest != 0); ++i)
        if (is_better(maxima[i], largest)) {
          largest = maxima[i];
          best = begin + i * block;
        }
    }
    return best + first_index(x + best, std::min(block, size - best), largest);
  }

  /// A line that several threads share.
  std::int64_t long_line(const T *x, std::int64_t size) const {
    constexpr std::int64_t kMostParts = 64;
    const std::int64_t parts = std::clamp<std::int64_t>(size / kPart, 1, kMostParts);
    const auto first = [&](std::int64_t part) { return size / parts * part; };
    std::int64_t indices[kMostParts];
    threads::parallel_for_noexcept(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t from = first(i), to = i + 1 == parts ? size : first(i + 1);
        indices[i] = from + line(x + from, to - from);
      }
    });
    return *std::max_element(indices, indices + parts, [&](std::int64_t best, std::int64_t later) {
      return is_better(x[later], x[best]);
    });
  }

  /// Lines one after the other.
  void rows(const T *x, std::int64_t *indices, std::int64_t count, std::int64_t size) const {
    const std::int64_t grain = std::max<std::int64_t>(parallel_grain(1) / size, 1);
    threads::parallel_for_noexcept(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
      if (size > kShortBlock) {
        for (std::int64_t i = begin; i < end; ++i) indices[i] = line(x + i * size, size);
        return;
      }
      // As many short ones at a time as stay in the cache until their indices are looked for.
      const std::int64_t together = std::clamp<std::int64_t>(4096 / size, 1, kMostMaxima);
      T maxima[kMostMaxima];
      for (std::int64_t i = begin; i < end; i += together) {
        const std::int64_t these = std::min(together, end - i);
        maxima_of(x + i * size, maxima, these, size);
        for (std::int64_t j = 0; j < these; ++j)
          indices[i + j] = first_index(x + (i + j) * size, size, maxima[j]);
      }
    });
  }

  /// The kernel, on so many columns or slices at a time that their largest elements fit the stack.
  void column_kernel(const T *x, std::int64_t *indices, const Lines &lines) const {
    constexpr std::int64_t kColumns = 256;
    const auto [outer, size, inner] = lines;
    T largest[kColumns];
    const std::int64_t width = std::min(inner, kColumns), height = kColumns / width;
    for (std::int64_t i = 0; i < outer; i += height)
      for (std::int64_t k = 0; k < inner; k += width) {
        void *buffers[] = {const_cast<T *>(x) + i * size * inner + k, indices + i * inner + k,
                           largest};
        const std::int64_t dims[] = {width == inner ? std::min(height, outer - i) : 1, size,
                                     std::min(width, inner - k), size * inner, inner};
        columns_(buffers, dims);
      }
  }

  /// Lines across rows. Few slices are cut into blocks of rows for the threads.
  void columns(const Lines &lines, const T *x, std::int64_t *indices) const {
    const auto [outer, size, inner] = lines;
    const std::int64_t threads = threads::max_threads_or_default();
    const std::int64_t most = size * inner / parallel_grain(1);
    const std::int64_t blocks = outer < threads ? std::clamp<std::int64_t>(most, 1, threads) : 1;
    const auto bytes = static_cast<std::size_t>(blocks * inner) * sizeof(std::int64_t);
    auto *const found =
        blocks == 1 ? nullptr : static_cast<std::int64_t *>(scratch(Scratch::indices, bytes));
    if (found == nullptr) {
      const std::int64_t grain = std::max<std::int64_t>(parallel_grain(1) / (size * inner), 1);
      threads::parallel_for_noexcept(0, outer, grain, [&](std::int64_t begin, std::int64_t end) {
        column_kernel(x + begin * size * inner, indices + begin * inner,
                      {end - begin, size, inner});
      });
      return;
    }
    for (std::int64_t i = 0; i < outer; ++i)
      slice(x + i * size * inner, indices + i * inner, lines, blocks, found);
  }

  /// One slice; `found` has room for the indices in each block of rows.
  void slice(const T *x, std::int64_t *indices, const Lines &lines, std::int64_t blocks,
             std::int64_t *found) const {
    const std::int64_t inner = lines.inner;
    const auto first_row = [&](std::int64_t block) { return lines.size * block / blocks; };
    threads::parallel_for_noexcept(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        column_kernel(x + first_row(b) * inner, found + b * inner,
                      {1, first_row(b + 1) - first_row(b), inner});
    });
    for (std::int64_t k = 0; k < inner; ++k) {
      std::int64_t best = found[k];
      for (std::int64_t b = 1; b < blocks; ++b) {
        const std::int64_t at = first_row(b) + found[b * inner + k];
        if (is_better(x[at * inner + k], x[best * inner + k])) best = at;
      }
      indices[k] = best;
    }
  }

  Kernel max_, columns_;
};

} // namespace

void argmax(DType dtype, const Lines &lines, const void *x, std::int64_t *indices) noexcept {
  if (lines.empty()) return;
  const auto run = [&]<class T>(const T *elements) {
    Argmax<T>(dtype).run(lines, elements, indices);
  };
  switch (dtype) {
  case DType::f32: return run(static_cast<const float *>(x));
  case DType::f64: return run(static_cast<const double *>(x));
  case DType::i32: return run(static_cast<const std::int32_t *>(x));
  case DType::i64: return run(static_cast<const std::int64_t *>(x));
  default: break; // others are computed in one of these
  }
}

} // namespace weft::kernels

#define WEFT_ARGMAX_ENTRY(Type, Name)                                                              \
  extern "C" void weft_rt_argmax_##Name(const std::int64_t *numbers, const Type *x,                \
                                        std::int64_t *indices) {                                   \
    weft::kernels::argmax(weft::DType::Name, {numbers[0], numbers[1], numbers[2]}, x, indices);    \
  }
WEFT_ARGMAX_ENTRY(float, f32)
WEFT_ARGMAX_ENTRY(double, f64)
WEFT_ARGMAX_ENTRY(std::int32_t, i32)
WEFT_ARGMAX_ENTRY(std::int64_t, i64)
#undef WEFT_ARGMAX_ENTRY
