// grad_mlp, tape_overhead, scan_reverse: what derivatives cost, of compiled code and of the tape.
#include "Benchmarks.h"
#include "Mlp.h"

namespace weft::bench {

Row grad_mlp(const std::string &name, const Session &session) {
  Trainer trainer;
  const auto loss = [&](const Tensor &x, const Tensor &labels) { return trainer.loss(x, labels); };
  const auto forward = function(loss, {.name = "forward"});
  const auto both = function(
      [&](const Tensor &x, const Tensor &labels) {
        GradientTape tape;
        const Tensor value = loss(x, labels);
        return std::tuple(value, tape.gradient(value, trainer.parameters()));
      },
      {.name = "value_and_gradient"});
  const auto calls = [&](const auto &f) {
    return [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) keep(f(trainer.x(), trainer.labels()));
    };
  };
  keep(forward(trainer.x(), trainer.labels()));
  keep(both(trainer.x(), trainer.labels()));
  return compare(name, "us",
                 {timed("weft", 1e6, calls(both)), timed("weft, forward", 1e6, calls(forward))},
                 session.repeats);
}

Row tape_overhead(const std::string &name, const Session &session) {
  const Tensor a = arange(8, DType::f32), b = ones({8});
  const auto adds = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(add(a, b));
  };
  const auto taped = [&](std::int64_t count) {
    GradientTape tape;
    // As long as a step of training records, and forgets.
    constexpr std::int64_t step = 1000;
    for (std::int64_t done = 0; done < count; done += step) {
      tape.reset();
      tape.watch(a);
      adds(std::min(step, count - done));
    }
  };
  std::vector<Contender> contenders = {
      {"weft", [&] { return 1e9 * (seconds_per_call(taped) - seconds_per_call(adds)); }}};
  if (auto peer = session.libtorch("tape8", 1)) contenders.push_back(*peer);
  return compare(name, "ns", contenders, session.repeats);
}

Row scan_reverse(const std::string &name, const Session &session) {
  constexpr std::int64_t steps = 100, batch = 32, features = 16, units = 64;
  const auto slopes = function([](const Tensor &xs, const Tensor &u, const Tensor &w,
                                  const Tensor &b) {
    return value_and_grad<0, 1, 2>([&](const Tensor &by_u, const Tensor &by_w, const Tensor &by_b) {
      const auto [last, all] = scan(
          [&](const Tensor &h, const Tensor &x) {
            const Tensor next = tanh(matmul(x, by_u) + matmul(h, by_w) + by_b);
            return std::pair(next, sum(next));
          },
          zeros({batch, units}), xs);
      return sum(last * last) + sum(all);
    })(u, w, b);
  });
  const auto wave = [](const Shape &shape, float scale) {
    std::int64_t size = 1;
    for (const std::int64_t n : shape) size *= n;
    return reshape(sin(arange(static_cast<int>(size), DType::f32)) * scale, shape);
  };
  const Tensor xs = wave({steps, batch, features}, 1.f), u = wave({features, units}, 0.2f),
               w = wave({units, units}, 0.1f), b = wave({units}, 0.1f);
  keep(slopes(xs, u, w, b));
  std::vector<Contender> contenders = {timed("weft", 1e6, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(slopes(xs, u, w, b));
  })};
  if (auto peer = session.python("jax_functions.py", "scan")) contenders.push_back(*peer);
  return compare(name, "us", contenders, session.repeats);
}

} // namespace weft::bench
