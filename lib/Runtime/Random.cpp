// Random tensors from Philox blocks: block b makes the elements 4b to 4b + 3 (f32) or 2b and 2b + 1
// (f64).
#include <weft/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "Runtime/NewTensor.h"
#include "Runtime/Philox.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::random {

namespace {

using philox::Block;
using philox::Stream;

std::mutex process_mutex;
std::uint64_t process_seed = 0, process_streams = 0;

/// A stream of that seed, or the next of the process. Seeded calls are stream 0.
Stream stream_of(const std::optional<std::uint64_t> &seed) {
  if (seed) return {*seed, 0};
  const std::lock_guard lock(process_mutex);
  return {process_seed, ++process_streams};
}

void need_floating(const char *function, DType dtype) {
  if (!is_floating(dtype))
    throw DTypeError(std::string("random::") + function +
                     ": the dtype must be floating, but it is " + std::string(name_of(dtype)));
}

std::uint64_t word64(const Block &block, int half) {
  return std::uint64_t{block[2 * half]} << 32 | block[2 * half + 1];
}

/// The words of a block as numbers of [0, 1) with as many bits as T has: 24 or 53.
void unit_interval(const Block &block, float *out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<float>(block[i] >> 8) * 0x1p-24f;
}
void unit_interval(const Block &block, double *out) {
  for (int i = 0; i < 2; ++i) out[i] = static_cast<double>(word64(block, i) >> 11) * 0x1p-53;
}

/// Two independent normal numbers from two of (0, 1] and [0, 1), by Box and Muller.
template <class T>
void box_muller(double radius, double angle, T *out) {
  const double length = std::sqrt(-2 * std::log(radius));
  out[0] = static_cast<T>(length * std::cos(2 * std::numbers::pi * angle));
  out[1] = static_cast<T>(length * std::sin(2 * std::numbers::pi * angle));
}
void normals(const Block &block, float *out) {
  for (int i = 0; i < 4; i += 2)
    box_muller((static_cast<double>(block[i]) + 1) * 0x1p-32,
               static_cast<double>(block[i + 1]) * 0x1p-32, out + i);
}
void normals(const Block &block, double *out) {
  box_muller((static_cast<double>(word64(block, 0) >> 11) + 1) * 0x1p-53,
             static_cast<double>(word64(block, 1) >> 11) * 0x1p-53, out);
}

/// Fills a tensor block by block; `make(block, out)` makes the elements of one.
template <class T, class Make>
void fill(const Tensor &tensor, const Stream &stream, const Make &make) {
  constexpr std::int64_t width = 16 / sizeof(T);
  T *const target = detail::elements<T>(tensor);
  const std::int64_t size = tensor.size();
  threads::parallel_for_noexcept(
      0, (size + width - 1) / width, 1024, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          T out[width];
          make(stream.block(static_cast<std::uint64_t>(b)), out);
          std::copy_n(out, std::min(width, size - b * width), target + b * width);
        }
      });
}

/// Calls `use.template operator()<T>()` for a floating dtype.
template <class Use>
void with_floating(DType dtype, const Use &use) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) use.template operator()<T>();
  });
}

} // namespace

void set_seed(std::uint64_t seed) {
  const std::lock_guard lock(process_mutex);
  process_seed = seed;
  process_streams = 0;
}

Tensor uniform(const Shape &shape, UniformOptions options) {
  need_floating("uniform", options.dtype);
  if (!std::isfinite(options.low) || !std::isfinite(options.high) || options.low >= options.high)
    throw ValueError("random::uniform: low must be below high and both finite");
  Tensor result = detail::new_tensor(options.dtype, shape);
  const Stream stream = stream_of(options.seed);
  with_floating(options.dtype, [&]<class T>() {
    const T low = static_cast<T>(options.low), high = static_cast<T>(options.high);
    const T width = static_cast<T>(options.high - options.low);
    // Rounding may reach the end of the range, which does not belong to it.
    const T last = std::nextafter(high, low);
    fill<T>(result, stream, [=](const Block &block, T *out) {
      unit_interval(block, out);
      for (std::size_t i = 0; i < 16 / sizeof(T); ++i)
        out[i] = std::min(low + out[i] * width, last);
    });
  });
  return result;
}

Tensor normal(const Shape &shape, NormalOptions options) {
  need_floating("normal", options.dtype);
  if (!std::isfinite(options.mean) || !std::isfinite(options.stddev) || options.stddev < 0)
    throw ValueError(
        "random::normal: the mean and the standard deviation must be finite, the latter "
        "not negative");
  Tensor result = detail::new_tensor(options.dtype, shape);
  const Stream stream = stream_of(options.seed);
  with_floating(options.dtype, [&]<class T>() {
    const T mean = static_cast<T>(options.mean), stddev = static_cast<T>(options.stddev);
    fill<T>(result, stream, [=](const Block &block, T *out) {
      normals(block, out);
      for (std::size_t i = 0; i < 16 / sizeof(T); ++i) out[i] = mean + out[i] * stddev;
    });
  });
  return result;
}

Tensor permutation(std::int64_t n, PermutationOptions options) {
  if (!is_integer(options.dtype))
    throw DTypeError("random::permutation: the dtype must be an integer, but it is " +
                     std::string(name_of(options.dtype)));
  if (n < 0) throw ValueError("random::permutation: n is " + std::to_string(n));
  if (options.dtype == DType::i32 && n > std::int64_t{1} << 31)
    throw ValueError("random::permutation: " + std::to_string(n) +
                     " numbers do not fit the dtype i32");
  Tensor result = detail::new_tensor(options.dtype, Shape{n});
  const Stream stream = stream_of(options.seed);
  visit_dtype(options.dtype, [&]<class T>() {
    T *const target = detail::elements<T>(result);
    for (std::int64_t i = 0; i < n; ++i) target[i] = static_cast<T>(i);
    // Fisher and Yates; numbers below a bound without bias as Lemire, 2019, draws them.
    std::uint64_t index = 0;
    for (std::int64_t i = n; i > 1; --i) {
      const auto bound = static_cast<std::uint64_t>(i);
      const std::uint64_t threshold = -bound % bound;
      unsigned __int128 product = 0;
      do product = static_cast<unsigned __int128>(word64(stream.block(index++), 0)) * bound;
      while (static_cast<std::uint64_t>(product) < threshold);
      std::swap(target[i - 1], target[static_cast<std::int64_t>(product >> 64)]);
    }
  });
  return result;
}

} // namespace weft::random
