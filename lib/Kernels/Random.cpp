// Spreads draws over threads and views, and shuffles with picks that are drawn in advance.
#include "Kernels/Random.h"

#include "Support/Threads.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::kernels {
namespace {

/// Blocks below which a loop stays on one thread.
constexpr std::int64_t kGrain = 4096;

const RandomLevel &level_table(CpuLevel level) {
  return of_level(level, random_level_v2, random_level_v3, random_level_v4);
}

const RandomLevel &host_table() {
  static const RandomLevel &level = level_table(CpuLevel::v4);
  return level;
}

FillRandom<float> filler(const RandomLevel &level, const float *) { return level.f32; }
FillRandom<double> filler(const RandomLevel &level, const double *) { return level.f64; }
FillRandom<std::int32_t> filler(const RandomLevel &level, const std::int32_t *) {
  return level.i32;
}
FillRandom<std::int64_t> filler(const RandomLevel &level, const std::int64_t *) {
  return level.i64;
}
FillRandom<bool> filler(const RandomLevel &level, const bool *) { return level.boolean; }

template <class T>
void fill(const RandomLevel &level, const RandomStream &stream, std::int64_t first,
          std::int64_t size, T *to) noexcept {
  // As many as fit the 128 bits of a block, and four bools.
  constexpr std::int64_t width = sizeof(T) == 8 ? 2 : 4;
  const std::int64_t block = first / width;
  const FillRandom<T> kernel = filler(level, to);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    kernel(stream, static_cast<std::uint64_t>(block + begin),
           std::min(end * width, size) - begin * width, to + begin * width);
  };
  const std::int64_t blocks = (size + width - 1) / width;
  if (blocks <= kGrain) run(0, blocks);
  else threads::parallel_for_noexcept(0, blocks, kGrain, run);
}

void fill_dtype(DType dtype, const RandomLevel &level, const RandomStream &stream,
                std::int64_t first, std::int64_t size, void *to) noexcept {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (requires(const T *elements) { filler(level, elements); })
      fill(level, stream, first, size, static_cast<T *>(to));
  });
}

/// Where the elements of a tensor stand one after the other.
class Walk {
public:
  Walk(std::int64_t rank, const std::int64_t *sizes, const std::int64_t *strides)
      : rank_(rank), sizes_(sizes), strides_(strides) {}

  std::int64_t size() const {
    std::int64_t size = 1;
    for (std::int64_t axis = 0; axis < rank_; ++axis) size *= sizes_[axis];
    return size;
  }

  bool contiguous() const {
    std::int64_t inner = 1;
    for (std::int64_t axis = rank_ - 1; axis >= 0; --axis) {
      if (sizes_[axis] != 1 && strides_[axis] != inner) return false;
      inner *= sizes_[axis];
    }
    return true;
  }

  /// The offset of element `number`.
  std::int64_t offset(std::int64_t number) const {
    std::int64_t offset = 0;
    for (std::int64_t axis = rank_ - 1; axis >= 0; --axis) {
      offset += number % sizes_[axis] * strides_[axis];
      number /= sizes_[axis];
    }
    return offset;
  }

private:
  std::int64_t rank_;
  const std::int64_t *sizes_, *strides_;
};

template <class T>
void fill_view(const RandomStream &stream, const Walk &walk, T *to) noexcept {
  const std::int64_t size = walk.size();
  if (size == 0 || walk.contiguous()) return fill(host_table(), stream, 0, size, to);
  constexpr std::int64_t kPart = 512;
  T part[kPart];
  for (std::int64_t begin = 0; begin < size; begin += kPart) {
    const std::int64_t count = std::min(kPart, size - begin);
    fill(host_table(), stream, begin, count, part);
    for (std::int64_t i = 0; i < count; ++i) to[walk.offset(begin + i)] = part[i];
  }
}

/// Fisher and Yates: from the last index on, each number is swapped with one not behind it.
/// Where to depends on the iteration alone, so the indices are known in advance, and on their way
/// to the cache when their iteration comes.
template <class T>
void shuffle(const RandomStream &stream, std::int64_t count, std::int64_t stride,
             T *numbers) noexcept {
  constexpr std::int64_t kIterations = 1024, kAhead = 32;
  for (std::int64_t i = 0; i < count; ++i) numbers[i * stride] = static_cast<T>(i);
  const auto draw = host_table().wide;
  std::uint64_t drawn[kIterations];
  std::int64_t picked[kIterations + kAhead];
  for (std::int64_t iteration = 0; iteration < count - 1; iteration += kIterations) {
    const std::int64_t iterations = std::min(kIterations, count - 1 - iteration);
    draw(stream, static_cast<std::uint64_t>(iteration), iterations, drawn);
    for (std::int64_t i = 0; i < iterations; ++i) {
      const auto left = static_cast<unsigned __int128>(count - iteration - i);
      picked[i] = static_cast<std::int64_t>(drawn[i] * left >> 64) * stride;
    }
    std::fill_n(picked + iterations, kAhead, picked[iterations - 1]);
    for (std::int64_t i = 0; i < kAhead; ++i) __builtin_prefetch(numbers + picked[i], 1);
    for (std::int64_t i = 0; i < iterations; ++i) {
      __builtin_prefetch(numbers + picked[i + kAhead], 1);
      std::swap(numbers[(count - iteration - i - 1) * stride], numbers[picked[i]]);
    }
  }
}

/// Adjacent numbers of 32 bits, in the front of the memory, as numbers of 64.
void widen(std::int64_t count, std::int64_t *numbers) noexcept {
  constexpr std::int64_t kPart = 512;
  std::uint32_t part[kPart];
  for (std::int64_t end = count; end > 0;) {
    const std::int64_t size = std::min(kPart, end), begin = end - size;
    std::memcpy(part, reinterpret_cast<const char *>(numbers) + begin * 4,
                static_cast<std::size_t>(size) * 4);
    std::copy_n(part, size, numbers + begin);
    end = begin;
  }
}

template <class T>
void permute(const RandomStream &stream, std::int64_t count, std::int64_t stride, T *to) noexcept {
  if constexpr (sizeof(T) == 8) {
    // Half the memory to jump about in.
    if (stride == 1 && count <= std::int64_t{1} << 32) {
      shuffle(stream, count, 1, reinterpret_cast<std::uint32_t *>(to));
      return widen(count, to);
    }
  }
  if (stride == 1) shuffle(stream, count, 1, to);
  else shuffle(stream, count, stride, to);
}

} // namespace

void draw_uniform(DType dtype, const RandomStream &stream, std::int64_t first, std::int64_t size,
                  void *to) noexcept {
  fill_dtype(dtype, host_table(), stream, first, size, to);
}

void draw_permutation(DType dtype, const RandomStream &stream, std::int64_t count,
                      void *to) noexcept {
  if (dtype == DType::i32) permute(stream, count, 1, static_cast<std::int32_t *>(to));
  else permute(stream, count, 1, static_cast<std::int64_t *>(to));
}

void draw_pairs(const RandomStream &stream, std::uint64_t block, int count, const int *places,
                double *first, double *second) noexcept {
  host_table().pairs(stream, block, count, places, first, second);
}

const RandomLevel &random_level(CpuLevel level) { return level_table(level); }

void draw_uniform_forced(DType dtype, const RandomStream &stream, std::int64_t first,
                         std::int64_t size, void *to, CpuLevel level) noexcept {
  fill_dtype(dtype, level_table(level), stream, first, size, to);
}

} // namespace weft::kernels

#define WEFT_UNIFORM_ENTRY(Type, Name)                                                             \
  extern "C" void weft_rt_draw_uniform_##Name(std::int64_t seed, std::int64_t stream,              \
                                              std::int64_t rank, const std::int64_t *shape,        \
                                              Type *to) noexcept {                                 \
    weft::kernels::fill_view(                                                                      \
        {static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(stream)},                    \
        weft::kernels::Walk(rank, shape, shape + rank), to);                                       \
  }
WEFT_UNIFORM_ENTRY(float, f32)
WEFT_UNIFORM_ENTRY(double, f64)
WEFT_UNIFORM_ENTRY(std::int32_t, i32)
WEFT_UNIFORM_ENTRY(std::int64_t, i64)
WEFT_UNIFORM_ENTRY(bool, bool)
#undef WEFT_UNIFORM_ENTRY
#define WEFT_PERMUTATION_ENTRY(Type, Name)                                                         \
  extern "C" void weft_rt_draw_permutation_##Name(std::int64_t seed, std::int64_t stream,          \
                                                  std::int64_t, const std::int64_t *shape,         \
                                                  Type *to) noexcept {                             \
    weft::kernels::permute({static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(stream)}, \
                           shape[0], shape[1], to);                                                \
  }
WEFT_PERMUTATION_ENTRY(std::int32_t, i32)
WEFT_PERMUTATION_ENTRY(std::int64_t, i64)
#undef WEFT_PERMUTATION_ENTRY
