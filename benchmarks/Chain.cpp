// chain10_4M: ten elementwise ops on 16 MiB in one compiled function, against a plain copy on the
// same threads.
#include "Benchmarks.h"

#include "Support/Threads.h"

#include <weft/weft.h>

#include <cstring>
#include <memory>

namespace weft::bench {

namespace {

constexpr std::int64_t kElements = 4 << 20;
/// Every element is read once and written once.
constexpr double kBytes = 2.0 * sizeof(float) * kElements;

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

/// Copies with `copy(to, from, count)` on Weft's own threads.
template <class Copy>
double copy_rate(float *to, const float *from, Copy copy) {
  return 1e-9 * kBytes / seconds_per_call([&](std::int64_t count) {
           for (std::int64_t i = 0; i < count; ++i)
             threads::parallel_for(0, kElements, kElements / 64,
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

} // namespace

Row chain10_4m(const std::string &name, const Session &session) {
  const Tensor x = full({kElements}, 0.5);
  const auto chain = function([](Tensor input) { return ten_ops(input); });
  keep(chain(x));
  const Buffer from = touched_buffer(), to = touched_buffer();
  const auto weft_repeat = [&] {
    return 1e-9 * kBytes / seconds_per_call([&](std::int64_t count) {
             for (std::int64_t i = 0; i < count; ++i) keep(chain(x));
           });
  };
  const auto by_memcpy = [&] {
    return copy_rate(to.get(), from.get(), [](float *target, const float *source, std::int64_t n) {
      std::memcpy(target, source, static_cast<std::size_t>(n) * sizeof(float));
    });
  };
  const auto by_loop = [&] { return copy_rate(to.get(), from.get(), copy_by_loop); };
  return compare(name, "GB/s",
                 {{"weft", weft_repeat}, {"copy (memcpy)", by_memcpy}, {"copy (loop)", by_loop}},
                 session.repeats);
}

} // namespace weft::bench
