// Why calls are traced again, how often, what is left open, and what is dropped.
#include "../Testing.h"

#include <algorithm>
#include <fstream>

#include <weft/weft.h>

namespace weft {
namespace {

using Lines = std::vector<std::string>;

/// Collects the log for as long as it lives, without what compiling took.
class Logged {
public:
  Logged()
      : before_(set_log_sink([this](std::string_view line) {
          if (line.find(": compiled in ") == line.npos) lines_.emplace_back(line);
        })) {}
  ~Logged() { set_log_sink(std::move(before_)); }
  Logged(const Logged &) = delete;
  Logged &operator=(const Logged &) = delete;
  Lines take() { return std::exchange(lines_, {}); }

private:
  Lines lines_;
  LogSink before_;
};

TEST(Retracing, TheLogNamesWhatBecameUnknown) {
  Logged log;
  auto f = function([](const Tensor &x, const Tensor &y) { return x + y.sum(); }, {.name = "step"});
  f(ones({32, 4}), ones({3}));
  EXPECT_EQ(log.take(), Lines{});
  f(ones({31, 4}), ones({3}));
  EXPECT_EQ(log.take(), (Lines{"step: argument 0, dimension 0: 32 became 31; traced again for all "
                               "such sizes"}));
  f(ones({17, 4}), ones({3}));
  EXPECT_EQ(log.take(), Lines{});
  f(ones({17, 4}), ones({5}));
  EXPECT_EQ(log.take(), (Lines{"step: argument 0, dimension 0: ? became 17; argument 1, dimension "
                               "0: 3 became 5; traced again for all such sizes"}));
  EXPECT_EQ(f(ones({2, 4}), ones({9})).to_vector<float>(), std::vector<float>(8, 10.f));
  EXPECT_EQ(f.trace_count(), 3u);
}

TEST(Retracing, ProgramsThatDifferInNumbersShareCode) {
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  auto f = function([](const Tensor &x, double dt, int n) { return n * (x + dt * sin(x)) + 2; },
                    {.name = "step"});
  const Tensor x = tensor({0.5f, -1.f, 3.f});
  for (int frame = 0; frame < 8; ++frame) {
    const double dt = 0.016 + 1e-3 * frame;
    const int n = frame < 5 ? 3 : 4;
    EXPECT_EQ(f(x, dt, n).to_vector<float>(), (n * (x + dt * sin(x)) + 2).to_vector<float>());
  }
  set_log_sink(before);
  const auto count = [&](std::string_view text) {
    return std::ranges::count_if(
        lines, [&](const std::string &line) { return line.find(text) != line.npos; });
  };
  EXPECT_EQ(f.trace_count(), 8u);
  // The first two, the third with dt as an argument, and the first with another n.
  EXPECT_EQ(count("step: compiled in "), 4);
  EXPECT_EQ(count("step: called with ever new numbers: 1 constant becomes an argument of one "
                  "compiled program; pass a tensor to be traced once"),
            1);
  EXPECT_EQ(count("2 constants become arguments"), 1);
}

TEST(Retracing, DerivativesAndLoopsShareCodeForAllNumbers) {
  auto f = function([](const Tensor &x, double factor, int steps) {
    Tensor y = for_loop(
        steps, [&](const Tensor &, const Tensor &state) { return state * factor + sin(x); }, x);
    return power(y, factor).sum();
  });
  const Tensor x = tensor({0.5f, 1.f, 3.f});
  for (int i = 1; i < 6; ++i) {
    const double factor = 0.5 * i;
    Tensor eager = x;
    for (int step = 0; step < i; ++step) eager = eager * factor + sin(x);
    EXPECT_EQ(f(x, factor, i).item<float>(), power(eager, factor).sum().item<float>());
    const auto gradient = [&](const auto &of) {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(of(), {x})[0].template to_vector<float>();
    };
    const std::vector<float> own = gradient([&] { return f(x, factor, i); });
    const std::vector<float> other = gradient([&] {
      Tensor y = x;
      for (int step = 0; step < i; ++step) y = y * factor + sin(x);
      return power(y, factor).sum();
    });
    for (std::size_t k = 0; k < own.size(); ++k) EXPECT_FLOAT_EQ(own[k], other[k]);
  }
}

TEST(Retracing, AnAxisOfOneElementIsNeverLeftOpen) {
  auto f = function([](const Tensor &x, const Tensor &y) { return x + y; });
  const Tensor y = ones({4});
  f(ones({4}), y);
  EXPECT_EQ(f(ones({1}), y).to_vector<float>(), std::vector<float>(4, 2.f));
  f(ones({5}), ones({5}));
  EXPECT_EQ(f(ones({1}), ones({7})).to_vector<float>(), std::vector<float>(7, 2.f));
  EXPECT_EQ(f(ones({6}), ones({6})).to_vector<float>(), std::vector<float>(6, 2.f));
}

TEST(Retracing, WhoAsksForNumbersOfSizesGetsThem) {
  Logged log;
  int runs = 0;
  auto f = function(
      [&](const Tensor &x) {
        ++runs;
        const std::int64_t size = x.size(0);
        return x.sum() / size;
      },
      {.name = "average"});
  auto g = function([](const Tensor &x) { return x * x.shape()[0]; });
  auto h = function([](const Tensor &x) { return x * x.type().shape[0]; });
  auto count = function([](const Tensor &x) { return x * x.size(); });
  auto compared = function([](const Tensor &x) { return x.size(0) * 2 + 1 < 7 ? x * 2 : x * 3; });
  for (std::int64_t size : {2, 3, 4, 5, 3}) {
    EXPECT_EQ(f(ones({size})).item<float>(), 1);
    EXPECT_EQ(g(ones({size})).to_vector<float>()[0], static_cast<float>(size));
    EXPECT_EQ(h(ones({size})).to_vector<float>()[0], static_cast<float>(size));
    EXPECT_EQ(count(ones({size})).to_vector<float>()[0], static_cast<float>(size));
    EXPECT_EQ(compared(ones({size})).to_vector<float>()[0], size < 3 ? 2 : 3);
  }
  EXPECT_EQ(f.trace_count(), 4u);
  EXPECT_EQ(runs, 4); // each of them once
  const Lines lines = log.take();
  EXPECT_EQ(
      std::ranges::count(lines, "average: it needs to know these sizes; traced for them alone"), 1);
}

// A size is a value of the trace: shapes, bounds and arithmetic are for all sizes.
TEST(Retracing, SizesAreValues) {
  const auto padded = [](const Tensor &x) {
    const Size n = x.size(0);
    return concatenate({x, zeros({15 - (n + 15) % 16, x.size(1)})});
  };
  const auto mean = [](const Tensor &x) { return x.sum() / x.size(0) + 2 * x.size(-1); };
  const auto integers = [](const Tensor &x) { return cast(x, i32) * x.size(0); };
  const auto whole = [](const Tensor &x) { return reshape(x, {x.size(0) * x.size(1)}); };
  auto f = function(padded);
  auto open = function(padded, {.signature = {spec(f32, {unknown, unknown})}});
  auto g = function(mean);
  auto h = function(integers);
  auto k = function(whole);
  for (const std::int64_t size : {3, 16, 5, 1, 40}) {
    const Tensor x = ones({size, 2});
    EXPECT_EQ(f(x).shape(), (Shape{(size + 15) / 16 * 16, 2}));
    EXPECT_EQ(open(x).shape(), (Shape{(size + 15) / 16 * 16, 2}));
    EXPECT_EQ(g(x).to_vector<float>(), mean(x).to_vector<float>());
    EXPECT_EQ(h(x).dtype(), i32);
    EXPECT_EQ(h(x).to_vector<int>(), integers(x).to_vector<int>());
    EXPECT_EQ(k(x).size(), 2 * size);
  }
  for (const std::size_t count : {f.trace_count(), g.trace_count(), h.trace_count()})
    EXPECT_EQ(count, 3u); // and one for a size that is one
  EXPECT_EQ(open.trace_count(), 1u);
}

// Nobody knows the number where a signature leaves it open, or values decide.
TEST(Retracing, NumbersThatNobodyKnowsAreErrors) {
  auto f = function([](const Tensor &x) { return x * static_cast<std::int64_t>(x.size(0)); },
                    {.name = "step", .signature = {spec(f32, {unknown})}});
  EXPECT_THROWS(
      f(ones({3})), SymbolicSizeError,
      "step: the number of a size is asked for that is known only when the function runs: it "
      "is open in the signature, or depends on values; use it as a Size, in shapes, bounds and "
      "arithmetic, or as a tensor with cond and while_loop");
  auto g = function([](const Tensor &n) {
    const Tensor x = zeros({Size(n)});
    return x.size(0) > 3 ? x : x + 1;
  });
  EXPECT_THROW(g(tensor(std::int64_t{3})), SymbolicSizeError);
}

// The trace around knows what the sizes are in functions that are called, and in bodies as long as
// iterations keep them.
TEST(Retracing, NumbersOfSizesInside) {
  auto inner = function([](const Tensor &x) { return x * x.shape()[0]; });
  auto called =
      function([&](const Tensor &x) { return inner(x) + inner(x[{slice(1, {})}]).sum(); });
  auto looped = function([](const Tensor &x) {
    return for_loop(2, [](const Tensor &, const Tensor &s) { return s + s.shape()[0]; }, x);
  });
  auto grown = function([](const Tensor &x) {
    return for_loop(
        2, [](const Tensor &, const Tensor &s) { return concatenate({s, s + s.shape().rank()}); },
        x);
  });
  auto chosen = function([](const Tensor &x) {
    const Tensor y = cond(x.sum() > 0, [&] { return x * 2; }, [&] { return x; });
    return y * y.shape()[0];
  });
  auto pulled = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = cond(x.sum() > 0, [&] { return x * x.shape()[0]; }, [&] { return x; });
    return tape.gradient(y.sum(), {x})[0];
  });
  for (const std::int64_t size : {3, 5, 2, 5, 3}) {
    const Tensor x = ones({size});
    const auto n = static_cast<float>(size);
    EXPECT_EQ(called(x).to_vector<float>()[0], n + (n - 1) * (n - 1));
    EXPECT_EQ(looped(x).to_vector<float>()[0], 1 + 2 * n);
    EXPECT_EQ(grown(x).size(), 4 * size);
    EXPECT_EQ(chosen(x).to_vector<float>()[0], 2 * n);
    EXPECT_EQ(pulled(x).to_vector<float>()[0], n);
  }
}

// What is one in the call is repeated, though its axis is open.
TEST(Retracing, OpenSizesThatAreOneStretch) {
  const auto body = [](const Tensor &x, const Tensor &y) { return x[{slice(4, {})}] + y; };
  auto f = function(body);
  for (const std::int64_t size : {7, 5, 6, 5, 7}) {
    const Tensor x = ones({size}), y = ones({size == 5 ? 3 : size - 4});
    EXPECT_EQ(f(x, y).to_vector<float>(), body(x, y).to_vector<float>());
  }
}

// A slice ends at its stop or before, as the size says.
TEST(Retracing, SlicesEndBeforeTheirStop) {
  const auto head = [](const Tensor &x) { return x[{slice({}, 8)}]; };
  const auto middle = [](const Tensor &x) { return x[{slice(10, 20)}]; };
  auto f = function(head);
  auto g = function(middle);
  for (const std::int64_t size : {30, 16, 5, 25, 15, 3, 12}) {
    const Tensor x = ones({size});
    EXPECT_EQ(f(x).shape(), head(x).shape());
    EXPECT_EQ(g(x).shape(), middle(x).shape());
  }
  auto rest = function([](const Tensor &x) { return x[{slice(1, {})}]; });
  for (const std::int64_t size : {30, 16, 5, 2}) EXPECT_EQ(rest(ones({size})).size(), size - 1);
  EXPECT_EQ(rest.trace_count(), 2u);
}

// Nobody looked at a size but the library, for types that may leave it open.
TEST(Retracing, DerivativesOfControlFlowKeepSizesOpen) {
  const auto step = [](const Tensor &h, const Tensor &x) { return std::pair(h + x, h * x); };
  auto rows = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const auto [last, all] = scan(step, zeros({2}), x);
    return tape.gradient(sum(all) + sum(last), {x})[0];
  });
  auto chosen = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = cond(sum(x) > 0, [&] { return x * x; }, [&] { return x; });
    return tape.gradient(sum(y), {x})[0];
  });
  auto best = function([](const Tensor &x) { return top_k(x, 1).values; });
  for (const std::int64_t size : {3, 4, 5, 6}) {
    EXPECT_EQ(rows(ones({size, 2})).shape(), (Shape{size, 2}));
    EXPECT_EQ(chosen(ones({size, 2})).shape(), (Shape{size, 2}));
    EXPECT_EQ(best(ones({size, 2})).shape(), (Shape{size, 1}));
  }
  EXPECT_EQ(rows.trace_count(), 2u);
  EXPECT_EQ(chosen.trace_count(), 2u);
  EXPECT_EQ(best.trace_count(), 2u);
}

TEST(Retracing, WhatTheCallableThrowsIsNotTriedAgain) {
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    if (++runs == 2) throw std::runtime_error("mine");
    return x + 1;
  });
  f(ones({4}));
  EXPECT_THROW(f(ones({5})), std::runtime_error);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f(ones({5})).to_vector<float>()[4], 2);
}

TEST(Retracing, ErrorsNameTheSizesOfTheCall) {
  auto f = function([](const Tensor &x) { return reshape(x, {2, 2}); });
  f(ones({4}));
  EXPECT_THROW(f(ones({5})), ShapeError);
  EXPECT_EQ(f(ones({4})).type(), spec(f32, {2, 2}));
}

TEST(Retracing, CanBeExact) {
  auto f = function([](const Tensor &x) { return x * 2; }, {.reduce_retracing = false});
  for (std::int64_t size : {1, 2, 3, 4}) f(ones({size}));
  EXPECT_EQ(f.trace_count(), 4u);
}

/// Bytes of memory that may be executed and belong to no file.
std::size_t code_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    std::size_t low = 0, high = 0;
    char mode[5] = {};
    if (std::sscanf(line.c_str(), "%zx-%zx %4s", &low, &high, mode) == 3 && mode[2] == 'x' &&
        line.find('/') == std::string::npos)
      bytes += high - low;
  }
  return bytes;
}

TEST(Retracing, TheTraceUnusedForLongestGoesWithItsCode) {
  Logged log;
  int runs = 0;
  auto f = function(
      [&](const Tensor &x, int n) {
        ++runs;
        return x * sum(ones({n})); // a shape, which is part of the code
      },
      {.name = "many", .max_traces = 3});
  const Tensor x = ones({8});
  for (int n : {1, 2, 3}) f(x, n);
  f(x, 1);
  EXPECT_EQ(runs, 3);
  const std::size_t bytes = code_bytes();
  f(x, 4); // 2 goes
  EXPECT_EQ(log.take(), Lines{"many: more than 3 traces; the one unused for longest is dropped"});
  f(x, 1);
  f(x, 3);
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(f.explain(x, 2), "many: miss: argument 1: 3 became 2");
  for (int n = 5; n < 25; ++n) EXPECT_EQ(f(x, n).to_vector<float>()[7], static_cast<float>(n));
  EXPECT_EQ(f.trace_count(), 3u);
  EXPECT_LE(code_bytes(), bytes + bytes / 2);
  EXPECT_THROWS(function([] {}, {.name = "none", .max_traces = 0}), ValueError,
                "none: max_traces is 0, but a function keeps one trace at least");
}

TEST(Retracing, CapturedTensorsGoWithTheirTrace) {
  auto f =
      function([](const Tensor &x, int n) { return x + full({1 << 16}, n); }, {.max_traces = 1});
  const Tensor x = ones({1 << 16});
  f(x, 0);
  const std::size_t before = memory_stats().current;
  for (int n = 1; n < 5; ++n) f(x, n);
  EXPECT_EQ(memory_stats().current, before);
}

enum class Mode : std::uint8_t { train, test };

struct Point {
  Tensor x;
  int n;
  WEFT_FIELDS(Point, x, n)
};

TEST(Explain, SaysWhatDiffers) {
  auto f = function([](const auto &, const auto &...) { return ones({1}); },
                    {.name = "step", .reduce_retracing = false});
  const Tensor x = ones({32, 4});
  const auto first = [&](auto... args) {
    EXPECT_EQ(f.trace_count(), 0u);
    EXPECT_EQ(f.explain(args...), "step: miss: there is no trace yet");
  };
  first(x, 1);
  f(x, 1);
  EXPECT_EQ(f.explain(x, 1), "step: hit");
  EXPECT_EQ(f.explain(ones({31, 4}), 1), "step: miss: argument 0, dimension 0: 32 became 31");
  EXPECT_EQ(f.explain(ones({31, 5}), 2),
            "step: miss: argument 0, dimension 0: 32 became 31; argument 0, dimension 1: 4 became "
            "5; argument 1: 1 became 2");
  EXPECT_EQ(f.explain(ones({32, 4}, f64), 1),
            "step: miss: argument 0: f32(32, 4) became f64(32, 4)");
  EXPECT_EQ(f.explain(ones({32}), 1), "step: miss: argument 0: f32(32, 4) became f32(32,)");
  EXPECT_EQ(f.explain(x, 1.0), "step: miss: argument 1: i32 1 became f64 1.0");
  EXPECT_EQ(f.explain(x, true), "step: miss: argument 1: i32 1 became bool true");
  EXPECT_EQ(f.explain(x, std::string("a")), "step: miss: argument 1: i32 1 became text \"a\"");
  EXPECT_EQ(f.explain(x, x), "step: miss: argument 1: i32 1 became f32(32, 4)");
  EXPECT_EQ(f.explain(x), "step: miss: argument 1 is missing");
  EXPECT_EQ(f.explain(x, 1, 2), "step: miss: argument 2 is new");
  EXPECT_EQ(f.explain(std::vector{x, x}, 1),
            "step: miss: argument 0: f32(32, 4) became a sequence of 2");
  // Of many traces it is the nearest.
  f(ones({8, 4}), 2);
  EXPECT_EQ(f.explain(ones({8, 4}), 3), "step: miss: argument 1: 2 became 3");
  EXPECT_EQ(f.explain(ones({9, 4}), 1), "step: miss: argument 0, dimension 0: 32 became 9");
  EXPECT_EQ(f.trace_count(), 2u);
}

TEST(Explain, LooksIntoStructures) {
  auto f = function([](const auto &...) { return ones({1}); }, {.name = "step"});
  using Map = std::map<std::string, Tensor>;
  const Tensor x = ones({2}), y = ones({3});
  f(std::vector{Point{x, 1}, Point{x, 2}}, Map{{"a", x}, {"b", x}}, std::optional<int>(1));
  const auto why = [&](const auto &points, const auto &map, std::optional<int> last) {
    return f.explain(points, map, last);
  };
  EXPECT_EQ(why(std::vector{Point{x, 1}, Point{x, 3}}, Map{{"a", x}, {"b", x}}, 1),
            "step: miss: argument 0[1][1]: 2 became 3");
  EXPECT_EQ(why(std::vector{Point{x, 1}, Point{x, 2}}, Map{{"a", x}, {"b", y}}, 1),
            "step: miss: argument 1[\"b\"], dimension 0: 2 became 3");
  EXPECT_EQ(why(std::vector{Point{x, 1}, Point{x, 2}}, Map{{"a", x}, {"c", x}}, 1),
            "step: miss: argument 1, key 1: \"b\" became \"c\"");
  EXPECT_EQ(why(std::vector{Point{x, 1}}, Map{{"a", x}, {"b", x}}, 1),
            "step: miss: argument 0: a sequence of 2 became a sequence of 1");
  EXPECT_EQ(why(std::vector{Point{x, 1}, Point{x, 2}}, Map{{"a", x}, {"b", x}}, std::nullopt),
            "step: miss: argument 2: a sequence of 1 became nothing");
  auto g = function([](const auto &...) { return ones({1}); }, {.name = "vars"});
  const Variable v(1.f, "v"), w(ones({2}), "w"), u(2.f, "u");
  g(v, u, Mode::train);
  EXPECT_EQ(g.explain(v, v, Mode::train),
            "vars: miss: argument 1: variable 1 of the call became variable 0");
  EXPECT_EQ(g.explain(v, w, Mode::train),
            "vars: miss: argument 1: a variable f32() became a variable f32(2,)");
  EXPECT_EQ(g.explain(v, u, Mode::test), "vars: miss: argument 2: 0 became 1");
}

TEST(Explain, KnowsSignaturesAndOpenSizes) {
  auto f = function([](const Tensor &x) { return x * 2; },
                    {.name = "step", .signature = {spec(f32, {unknown, 2})}});
  f(ones({3, 2}));
  EXPECT_EQ(f.explain(ones({4, 2})), "step: hit");
  EXPECT_THROWS(f.explain(ones({4, 3})), ShapeError,
                "step: tensor 0 of the arguments is f32(4, 3), but the signature says f32(?, 2)");
  auto g = function([](const Tensor &x) { return x * 2; }, {.name = "open"});
  g(ones({2}));
  g(ones({3}));
  EXPECT_EQ(g.explain(ones({4})), "open: hit");
  EXPECT_EQ(g.explain(ones({1})), "open: miss: argument 0, dimension 0: ? became 1");
}

} // namespace
} // namespace weft
