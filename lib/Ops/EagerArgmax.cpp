// Argmax: along neighbours the largest element of blocks by the kernel of `max`, then its first
// place; along other axes by a kernel of its own.
//
// Which element it is does not depend on how the work is cut, so that it may follow from the number
// of threads.
#include <algorithm>

#include "Kernels/KernelTable.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

/// A contiguous array as (outer, reduced, inner).
struct Extents {
  std::int64_t outer, reduced, inner;
};

/// Whether a later element takes the place of the best so far: the first of equals stays, and the
/// first NaN is larger than every number.
template <class T>
bool is_better(T later, T best) {
  return later > best || (later != later && best == best);
}

/// The first place for which `is_it` holds, which it does for one.
template <class T, class Test>
std::int64_t find_first(const T *x, std::int64_t count, const Test &is_it) {
  // No branch inside a chunk, so that it becomes vectors.
  constexpr std::int64_t kChunk = 64;
  std::int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    bool found = false;
    for (std::int64_t j = 0; j < kChunk; ++j) found |= is_it(x[i + j]);
    if (found) break;
  }
  while (i < count && !is_it(x[i])) ++i;
  return i;
}

/// The first place of `largest`, which is an element, or a NaN if there is one.
template <class T>
std::int64_t first_place(const T *x, std::int64_t count, T largest) {
  if (largest != largest) return find_first(x, count, [](T value) { return value != value; });
  return find_first(x, count, [=](T value) { return value == largest; });
}

/// The largest elements of `rows` rows, one after the other.
template <class T>
void maxima_of(Kernel max, const T *x, T *maxima, std::int64_t rows, std::int64_t size) {
  void *buffers[] = {const_cast<T *>(x), maxima};
  const std::int64_t dims[] = {rows, size, 1};
  max(buffers, dims);
}

/// Lines one after the other.
template <class T>
void argmax_rows(Kernel max, const T *x, std::int64_t *y, std::int64_t rows, std::int64_t size) {
  // As many short rows at a time as stay in the cache until their places are looked for.
  constexpr std::int64_t kMostRows = 128, kElements = 4096;
  const std::int64_t together = std::clamp<std::int64_t>(kElements / size, 1, kMostRows);
  const std::int64_t grain = std::max<std::int64_t>(parallel_grain(1) / size, 1);
  threads::parallel_for_noexcept(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    T maxima[kMostRows];
    for (std::int64_t i = begin; i < end; i += together) {
      const std::int64_t count = std::min(together, end - i);
      maxima_of(max, x + i * size, maxima, count, size);
      for (std::int64_t j = 0; j < count; ++j)
        y[i + j] = first_place(x + (i + j) * size, size, maxima[j]);
    }
  });
}

/// One long line: the first of its blocks that has the largest element, and the place in that.
template <class T>
std::int64_t argmax_line(Kernel max, DType dtype, const T *x, std::int64_t size) {
  constexpr std::int64_t kBlock = 4096;
  const std::int64_t blocks = size / kBlock, rest = size % kBlock;
  const Tensor scratch = detail::new_tensor(dtype, Shape{blocks + (rest != 0)});
  T *const maxima = reinterpret_cast<T *>(scratch.impl()->data);
  threads::parallel_for_noexcept(
      0, blocks, parallel_grain(1) / kBlock, [&](std::int64_t begin, std::int64_t end) {
        maxima_of(max, x + begin * kBlock, maxima + begin, end - begin, kBlock);
      });
  if (rest != 0) maxima_of(max, x + blocks * kBlock, maxima + blocks, 1, rest);
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < blocks + (rest != 0); ++i)
    if (is_better(maxima[i], maxima[best])) best = i;
  const std::int64_t begin = best * kBlock;
  return begin + first_place(x + begin, std::min(kBlock, size - begin), maxima[best]);
}

/// Lines across rows of `inner`. Few slices are cut into blocks of rows for the threads.
template <class T>
void argmax_columns(Kernel kernel, const T *x, std::int64_t *y, const Extents &extents) {
  const auto [outer, reduced, inner] = extents;
  const auto call = [&](const T *from, std::int64_t *to, std::int64_t slices, std::int64_t rows) {
    void *buffers[] = {const_cast<T *>(from), to};
    const std::int64_t dims[] = {slices, rows, inner};
    kernel(buffers, dims);
  };
  const std::int64_t threads = threads::max_threads_or_default();
  const std::int64_t most = reduced * inner / parallel_grain(1);
  const std::int64_t blocks = outer < threads ? std::clamp<std::int64_t>(most, 1, threads) : 1;
  if (blocks == 1) {
    const std::int64_t grain = std::max<std::int64_t>(parallel_grain(1) / (reduced * inner), 1);
    threads::parallel_for_noexcept(0, outer, grain, [&](std::int64_t begin, std::int64_t end) {
      call(x + begin * reduced * inner, y + begin * inner, end - begin, reduced);
    });
    return;
  }
  const Tensor scratch = detail::new_tensor(DType::i64, Shape{blocks, inner});
  auto *const places = reinterpret_cast<std::int64_t *>(scratch.impl()->data);
  for (std::int64_t i = 0; i < outer; ++i) {
    const T *slice = x + i * reduced * inner;
    const auto first_row = [&](std::int64_t block) { return reduced * block / blocks; };
    threads::parallel_for_noexcept(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b)
        call(slice + first_row(b) * inner, places + b * inner, 1, first_row(b + 1) - first_row(b));
    });
    for (std::int64_t k = 0; k < inner; ++k) {
      std::int64_t best = places[k];
      for (std::int64_t b = 1; b < blocks; ++b) {
        const std::int64_t at = first_row(b) + places[b * inner + k];
        if (is_better(slice[at * inner + k], slice[best * inner + k])) best = at;
      }
      y[i * inner + k] = best;
    }
  }
}

} // namespace

Tensor argmax(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
              const TensorType &type) {
  const Tensor x = make_contiguous(operands[0]);
  const std::int64_t axis = ArgmaxAttrs(attrs).axis;
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  Extents extents{1, x.impl()->dims()[axis], 1};
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i < axis) extents.outer *= x.impl()->dims()[i];
    if (i > axis) extents.inner *= x.impl()->dims()[i];
  }
  const auto dtype = static_cast<std::size_t>(x.dtype());
  const Kernel max = kernel_table().reduce[static_cast<std::size_t>(OpCode::max)][dtype];
  auto *const y = reinterpret_cast<std::int64_t *>(result.impl()->data);
  visit_dtype(x.dtype(), [&]<class T>() {
    const T *from = reinterpret_cast<const T *>(x.impl()->data);
    if (extents.inner != 1) argmax_columns(kernel_table().argmax[dtype], from, y, extents);
    else if (extents.outer == 1) *y = argmax_line(max, x.dtype(), from, extents.reduced);
    else argmax_rows(max, from, y, extents.outer, extents.reduced);
  });
  return result;
}

} // namespace weft::eager
