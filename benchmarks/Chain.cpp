// Elementwise ops on 4 Mi elements against a plain copy of as many bytes on the same threads: ten
// of f32 in one compiled function, and sums and casts of bf16.
#include "Benchmarks.h"

#include "Support/Threads.h"

#include <weft/weft.h>

#include <cstring>
#include <functional>
#include <memory>

namespace weft::bench {

namespace {

constexpr std::int64_t kElements = 4 << 20;
/// Every element is read once and written once.
constexpr double kBytes = 2.0 * sizeof(float) * kElements;
/// Of bf16: two are read and one is written, or a float is read and one written.
constexpr double kBytesOfBf16 = 6.0 * kElements;

Tensor ten_ops(const Tensor &x) {
  Tensor y = x * 1.5f;
  y = y + 0.25f;
  y = maximum(y, -2.0f);
  y = minimum(y, 2.0f);
  y = y * x;
  y = y - 0.5f;
  y = abs(y);
  y = y + x;
  y = negate(y);
  return y * 0.125f;
}

struct FreePages {
  void operator()(float *pages) const { std::free(pages); }
};
using Buffer = std::unique_ptr<float[], FreePages>;

Buffer touched_buffer() {
  Buffer buffer(static_cast<float *>(std::aligned_alloc(4096, kElements * sizeof(float))));
  std::fill_n(buffer.get(), kElements, 0.5f);
  return buffer;
}

/// Copies with `copy(to, from, count)` on Weft's own threads so that `bytes` are read and written.
template <class Copy>
double copy_rate(float *to, const float *from, double bytes, Copy copy) {
  const auto elements = static_cast<std::int64_t>(bytes / (2 * sizeof(float)));
  return 1e-9 * bytes / seconds_per_call([&](std::int64_t count) {
           for (std::int64_t i = 0; i < count; ++i)
             threads::parallel_for(0, elements, kElements / 64,
                                   [&](std::int64_t begin, std::int64_t end) {
                                     copy(to + begin, from + begin, end - begin);
                                   });
         });
}

/// Ordinary loads and stores, unlike memcpy, which goes past the caches at this size.
void copy_by_loop(float *to, const float *from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 16) {
    using Line = float __attribute__((vector_size(64), aligned(4)));
    *reinterpret_cast<Line *>(to + i) = *reinterpret_cast<const Line *>(from + i);
  }
}

/// What `weft` does, which moves so many bytes, against two copies.
Row against_copies(const std::string &name, double bytes, const std::function<Tensor()> &weft,
                   const Session &session) {
  const Buffer from = touched_buffer(), to = touched_buffer();
  const auto weft_repeat = [&] {
    return 1e-9 * bytes / seconds_per_call([&](std::int64_t count) {
             for (std::int64_t i = 0; i < count; ++i) keep(weft());
           });
  };
  const auto by_memcpy = [&] {
    return copy_rate(to.get(), from.get(), bytes,
                     [](float *target, const float *source, std::int64_t n) {
                       std::memcpy(target, source, static_cast<std::size_t>(n) * sizeof(float));
                     });
  };
  const auto by_loop = [&] { return copy_rate(to.get(), from.get(), bytes, copy_by_loop); };
  return compare(name, "GB/s",
                 {{"weft", weft_repeat}, {"copy (memcpy)", by_memcpy}, {"copy (loop)", by_loop}},
                 session.repeats);
}

} // namespace

Row chain10_4m(const std::string &name, const Session &session) {
  const Tensor x = full({kElements}, 0.5);
  const auto chain = function([](Tensor input) { return ten_ops(input); });
  keep(chain(x));
  return against_copies(name, kBytes, [&] { return chain(x); }, session);
}

Row bf16_add_4m(const std::string &name, const Session &session) {
  const Tensor x = cast(random::normal({kElements}), bf16),
               y = cast(random::normal({kElements}), bf16);
  return against_copies(name, kBytesOfBf16, [&] { return x + y; }, session);
}

Row bf16_cast_4m(const std::string &name, const Session &session) {
  const Tensor x = random::normal({kElements});
  return against_copies(name, kBytesOfBf16, [&] { return cast(x, bf16); }, session);
}

Row u8_scale_4m(const std::string &name, const Session &session) {
  const Tensor x = cast(random::uniform({kElements}) * 255, u8);
  const auto scaled =
      function([](const Tensor &pixels) { return cast(pixels, f32) * (1.0F / 255); });
  keep(scaled(x));
  return against_copies(name, kElements * 5.0, [&] { return scaled(x); }, session);
}

} // namespace weft::bench
