// The rows about functions as such: loops, branches, tracing, arguments, sizes known late.
#include "Benchmarks.h"

#include <weft/weft.h>

namespace weft::bench {

namespace {

/// The number behind the last _ of a row's name.
int number_in(const std::string &name) { return std::stoi(name.substr(name.rfind('_') + 1)); }

} // namespace

Row compiled_call_k(const std::string &name, const Session &session) {
  const std::vector<Tensor> arguments(static_cast<std::size_t>(number_in(name)), ones({8}));
  const auto f = function([](const std::vector<Tensor> &x) { return x.front() + x.back(); });
  keep(f(arguments));
  std::vector<Contender> contenders = {timed("weft", 1e9, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(f(arguments));
  })};
  // IREE's call of two arguments, whatever the number here.
  if (auto peer = session.python("iree_compiled.py", "add")) contenders.push_back(*peer);
  return compare(name, "ns", contenders, session.repeats);
}

Row while_scalar(const std::string &name, const Session &session) {
  constexpr int turns = 1'000'000;
  // x tends to 1: one that tends to 0 would become subnormal, and time the processor's slow path,
  // which XLA avoids by rounding such values to 0.
  const auto f = function([](const Tensor &n) {
    return std::get<1>(while_loop(
        [&](const Tensor &i, const Tensor &) { return i < n; },
        [](const Tensor &i, const Tensor &x) { return std::tuple(i + 1, x * 0.999f + 0.001f); }, 0,
        0.5f));
  });
  const Tensor n = tensor(turns);
  keep(f(n));
  std::vector<Contender> contenders = {timed("weft", 1e9 / turns, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) keep(f(n));
  })};
  if (auto peer = session.python("jax_functions.py", "while")) contenders.push_back(*peer);
  return compare(name, "ns", contenders, session.repeats);
}

Row trace_op(const std::string &name, const Session &session) {
  constexpr int ops = 2000;
  std::vector<Contender> contenders = {{"weft", [] {
                                          const auto f = function([](const Tensor &start) {
                                            Tensor x = start;
                                            for (int i = 0; i < ops; i += 2) x = x * 0.5f + 1.f;
                                            return x;
                                          });
                                          return 1e6 * f.report(ones({8})).trace_ms / ops;
                                        }}};
  if (auto peer = session.python("jax_functions.py", "trace")) contenders.push_back(*peer);
  return compare(name, "ns", contenders, session.repeats);
}

namespace {

/// `depth` branches, each within the one before.
Tensor nested(const Tensor &x, int depth) {
  if (depth == 0) return x;
  return cond(sum(x) > depth, [&] { return nested(x * 2, depth - 1); }, [&] { return x + 1; });
}

} // namespace

Row nested_conds_200(const std::string &name, const Session &session) {
  std::vector<Contender> contenders = {{"weft", [] {
                                          const auto f = function(
                                              [](const Tensor &x) { return nested(x, 200); });
                                          const double start = now();
                                          keep(f(ones({8})));
                                          return 1e3 * (now() - start);
                                        }}};
  return compare(name, "ms", contenders, std::min(session.repeats, 3));
}

namespace {

/// One function of 512 x 1024 floats, of sizes known when it is compiled against unknown ones.
template <class F>
Row static_against_dynamic(const std::string &name, const Session &session, F work) {
  const Tensor x = ones({512, 1024});
  const auto dynamic =
      function(work, {.name = "dynamic", .signature = {spec(f32, {unknown, unknown})}});
  const auto fixed = function(work, {.name = "fixed"});
  keep(dynamic(x));
  keep(fixed(x));
  const auto calls = [&](const auto &f) {
    return [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) keep(f(x));
    };
  };
  return compare(
      name, "us",
      {timed("weft", 1e6, calls(dynamic)), timed("weft, static sizes", 1e6, calls(fixed))},
      session.repeats);
}

} // namespace

Row dynamic_shapes_elementwise(const std::string &name, const Session &session) {
  return static_against_dynamic(name, session,
                                [](const Tensor &x) { return tanh(x * 0.5f + 1.f) * x - 2.f; });
}

Row dynamic_shapes_rows(const std::string &name, const Session &session) {
  return static_against_dynamic(name, session,
                                [](const Tensor &x) { return sum(x * x, {.axes = Ints{1}}); });
}

} // namespace weft::bench
