// Rows in which Weft is its own peer: the same work in two shapes of which one was once far slower.
#include "Benchmarks.h"

#include "Support/Threads.h"

#include <weft/weft.h>

#include <atomic>
#include <thread>

namespace weft::bench {

namespace {

constexpr int kWrites = 128;

/// Milliseconds of the first call of a function of its own: nothing is compiled yet.
template <class Run>
double first_call(Run run, const Tensor &x) {
  const auto f = function(run);
  const double start = now();
  keep(f(x));
  return 1e3 * (now() - start);
}

Tensor written(const Tensor &x) {
  TensorArray array(DType::f32, {4}, kWrites);
  for (std::int64_t t = 0; t < kWrites; ++t) array = array.write(t, x[t] * 2);
  return array.stack();
}

Tensor joined(const Tensor &x) {
  std::vector<Tensor> rows;
  for (std::int64_t t = 0; t < kWrites; ++t) rows.push_back(reshape(x[t] * 2, {1, 4}));
  return concatenate(rows, {.axis = 0});
}

/// Threads that take all the time that they get, one for each of so many processors.
class Spinners {
public:
  explicit Spinners(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        while (!over_.load(std::memory_order_relaxed)) {
        }
      });
  }
  ~Spinners() {
    over_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

} // namespace

Row writes_128_compile(const std::string &name, const Session &session) {
  const Tensor x = ones({kWrites, 4});
  return compare(name, "ms",
                 {{"weft", [=] { return first_call(written, x); }},
                  {"weft, concatenate", [=] { return first_call(joined, x); }}},
                 std::min(session.repeats, 3));
}

Row conv_column(const std::string &name, const Session &session) {
  const Tensor x = random::normal({512, 256}), kernel = random::normal({5, 256 * 512});
  const auto of = [=](Shape images, Shape window) {
    return [images = reshape(x, images), k = reshape(kernel, window)](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) keep(convolution(images, k));
    };
  };
  return compare(name, "us",
                 {timed("weft", 1e6, of({1, 512, 1, 256}, {5, 1, 256, 512})),
                  timed("weft, one axis", 1e6, of({1, 512, 256}, {5, 256, 512}))},
                 session.repeats);
}

Row matmul_bf16_1024(const std::string &name, const Session &session) {
  const auto of = [](DType dtype) {
    const Tensor a = cast(random::normal({1024, 1024}), dtype);
    return [=] {
      return 2e-9 * 1024 * 1024 * 1024 / seconds_per_call([&](std::int64_t count) {
               for (std::int64_t i = 0; i < count; ++i) keep(matmul(a, a));
             });
    };
  };
  return compare(name, "GF/s", {{"weft", of(bf16)}, {"weft, f32", of(f32)}}, session.repeats);
}

Row busy_matmul_256(const std::string &name, const Session &session) {
  const Tensor a = random::normal({256, 256});
  const auto on = [&, a](int count) {
    return [=, &session] {
      const Spinners busy(session.threads);
      threads::set_num_threads(count);
      // Long enough for the system to give everybody a share.
      const double rate = 1 / seconds_per_call(
                                  [&](std::int64_t calls) {
                                    for (std::int64_t i = 0; i < calls; ++i) keep(matmul(a, a));
                                  },
                                  1);
      threads::set_num_threads(session.threads);
      return rate;
    };
  };
  return compare(name, "call/s", {{"weft", on(session.threads)}, {"weft, 1 thread", on(1)}},
                 session.repeats);
}

} // namespace weft::bench
