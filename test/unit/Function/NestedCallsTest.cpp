// Traced functions that call traced functions: one trace and one copy of the code's source each.
#include "../Testing.h"

#include <optional>
#include <thread>

#include "Printed.h"
#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(NestedCalls, AreCallsInTheTrace) {
  int runs = 0;
  auto inner = function(
      [&](const Tensor &x, int n) {
        ++runs;
        return std::pair{x * n, x + n};
      },
      {.name = "inner"});
  auto outer = function(
      [&](const Tensor &x) {
        const auto [a, b] = inner(x, 2);
        const auto [c, d] = inner(b, 2);
        return std::vector{a, b, c, d, inner(x, 3).first};
      },
      {.name = "outer"});
  const std::string text = outer.ir(tensor({1.f, 2.f}), Phase::trace);
  EXPECT_NE(text.find("func.func private @inner("), std::string::npos) << text;
  EXPECT_NE(text.find("func.func private @inner_1("), std::string::npos) << text;
  EXPECT_EQ(text.find("@inner_2"), std::string::npos) << text;
  EXPECT_NE(text.find("call @inner("), std::string::npos) << text;
  EXPECT_EQ(outer.ir(tensor({1.f, 2.f}), Phase::simplify).find("@inner"), std::string::npos);
  const std::vector<Tensor> all = outer(tensor({1.f, 2.f}));
  EXPECT_EQ(all[0].to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(all[1].to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(all[2].to_vector<float>(), (Floats{6, 8}));
  EXPECT_EQ(all[3].to_vector<float>(), (Floats{5, 6}));
  EXPECT_EQ(all[4].to_vector<float>(), (Floats{3, 6}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(inner.trace_count(), 2u);
}

TEST(NestedCalls, CaptureTensorsAndVariables) {
  const Tensor table = tensor({10.f, 20.f}), one = tensor(1.f);
  const Variable count(0.f, "count"), other(5.f, "other");
  auto inner = function([&](const Tensor &x, const Variable &v) {
    v.assign_add(1.f);
    count.assign_add(v);
    return x + table * one + count;
  });
  auto outer = function([&](const Tensor &x, const Variable &v) {
    const Tensor y = inner(x, v);
    v.assign_add(10.f);
    return std::pair{y, inner(y, other)};
  });
  const Variable mine(1.f, "mine");
  const auto [a, b] = outer(zeros({2}), mine);
  EXPECT_EQ(a.to_vector<float>(), (Floats{12, 22}));
  EXPECT_EQ(b.to_vector<float>(), (Floats{30, 50}));
  EXPECT_EQ(mine.value().item<float>(), 12);
  EXPECT_EQ(other.value().item<float>(), 6);
  EXPECT_EQ(count.value().item<float>(), 8);
  EXPECT_EQ(inner.trace_count(), 1u);
  // The captured variable itself as the argument, of the inner and of the outer function.
  count.assign(0.f);
  const auto [c, d] = outer(zeros({2}), count);
  EXPECT_EQ(c.to_vector<float>(), (Floats{12, 22}));
  EXPECT_EQ(d.to_vector<float>(), (Floats{41, 61}));
  EXPECT_EQ(count.value().item<float>(), 19);
}

TEST(NestedCalls, InsideControlFlow) {
  int runs = 0;
  const Tensor step = tensor({1.f, 2.f});
  auto inner = function([&](const Tensor &x) {
    ++runs;
    return x + step;
  });
  auto f = function([&](const Tensor &x, const Tensor &n) {
    const Tensor y = for_loop(n, [&](const Tensor &, const Tensor &s) { return inner(s); }, x);
    return cond(y.sum() > 10, [&] { return inner(y); }, [&] { return y; });
  });
  EXPECT_EQ(f(zeros({2}), tensor(2)).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(f(zeros({2}), tensor(4)).to_vector<float>(), (Floats{5, 10}));
  EXPECT_EQ(runs, 1);
  auto looping = function([&](const Tensor &x) {
    return while_loop([](const Tensor &s) { return s < 100; },
                      [](const Tensor &s) { return s * 2; }, x);
  });
  auto g = function([&](const Tensor &x) { return looping(x) + looping(x + 1); });
  EXPECT_EQ(g(tensor(1.f)).item<float>(), 256);
}

TEST(NestedCalls, KeepTheOrderOfEffects) {
  Printed printed;
  auto say = function([](const Tensor &x) { print("x is {}", x); }, {.name = "say"});
  auto f = function([&](const Tensor &x) {
    print("first");
    say(x);
    print("then");
    say(x + 1);
  });
  f(tensor(1));
  EXPECT_EQ(printed.take(), (Lines{"first", "x is 1", "then", "x is 2"}));
}

TEST(NestedCalls, MayUseTensorsOfTheTraceAround) {
  int runs = 0;
  auto outer = function([&](const Tensor &x) {
    const Tensor twice = x * 2;
    auto inner = function([&](const Tensor &y) {
      ++runs;
      auto innermost = function([&](const Tensor &z) { return z + twice + y; });
      return innermost(y) + twice;
    });
    return inner(x) + inner(x + 1);
  });
  EXPECT_EQ(outer(tensor({1.f})).item<float>(), 6 + 8);
  EXPECT_EQ(runs, 2);
}

TEST(NestedCalls, MakeVariablesOnce) {
  std::optional<Variable> v;
  auto inner = function([&](const Tensor &x) {
    if (!v) v.emplace(ones({2}) + 1, "v");
    v->assign_add(x);
    return v->value();
  });
  auto outer = function([&](const Tensor &x) { return inner(x) + inner(x); });
  EXPECT_EQ(outer(ones({2})).to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(outer(ones({2})).to_vector<float>(), (Floats{11, 11}));
  EXPECT_EQ(inner(ones({2})).to_vector<float>(), (Floats{7, 7}));
}

TEST(NestedCalls, UnderATapeHaveGradients) {
  auto inner = function([](const Tensor &x) { return x * x; });
  auto outer = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = inner(x).sum();
    auto [dx] = tape.gradient(y, {x});
    return dx + inner(x);
  });
  EXPECT_EQ(outer(tensor({3.f})).item<float>(), 15);
}

TEST(NestedCalls, WithSignatures) {
  auto inner = function([](const Tensor &x) { return x * 2; },
                        {.name = "inner", .signature = {spec(f32, {unknown})}});
  auto outer = function([&](const Tensor &x) { return inner(x) + x; });
  EXPECT_EQ(outer(ones({3})).to_vector<float>(), (Floats{3, 3, 3}));
  EXPECT_EQ(outer(ones({5})).to_vector<float>(), (Floats{3, 3, 3, 3, 3}));
  EXPECT_EQ(outer(ones({6})).to_vector<float>(), Floats(6, 3.f));
  EXPECT_EQ(inner.trace_count(), 1u);
  auto wrong = function([&](const Tensor &x) { return inner(x.astype(f64)); });
  EXPECT_THROWS(wrong(ones({2})), DTypeError,
                "inner: tensor 0 of the arguments is f64(2,), but the signature says f32(?,)");
}

TEST(NestedCalls, RecursionThatEnds) {
  std::function<Tensor(const Tensor &, int)> power =
      function([&](const Tensor &x, int n) { return n == 0 ? ones({2}) : power(x, n - 1) * x; },
               {.name = "power"});
  EXPECT_EQ(power(tensor({2.f, 3.f}), 5).to_vector<float>(), (Floats{32, 243}));
}

TEST(NestedCalls, EndlessRecursion) {
  std::function<Tensor(const Tensor &)> f, g;
  f = function([&](const Tensor &x) { return g(x); }, {.name = "f"});
  g = function([&](const Tensor &x) { return f(x + 1); }, {.name = "g"});
  EXPECT_THROWS(f(tensor(1.f)), StateError,
                "f: endless recursion: f -> g -> f with arguments of the same signature; a trace "
                "cannot decide by values whether to go on: use while_loop, or count down a C++ "
                "number");
  std::function<Tensor(const Tensor &, int)> up =
      function([&](const Tensor &x, int n) { return up(x, n + 1); }, {.name = "up"});
  EXPECT_THROWS(up(tensor(1.f), 0), StateError,
                "up: endless recursion: traced functions call each other more than 128 deep, at "
                "last up -> up -> up -> up; a trace cannot decide by values whether to go on: use "
                "while_loop, or count down a C++ number");
  // Under a tape there is no call, only the callable.
  std::function<Tensor(const Tensor &)> taped = function(
      [&](const Tensor &x) {
        GradientTape tape;
        return taped(x);
      },
      {.name = "taped"});
  EXPECT_THROW(taped(tensor(1.f)), StateError);
  EXPECT_EQ((tensor(1.f) + 1).item<float>(), 2);
}

TEST(NestedCalls, TracedFromManyThreads) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> inner_runs = 0, wrong = 0;
    auto inner = function([&](const Tensor &x) {
      ++inner_runs;
      return x * 2;
    });
    auto f = function([&](const Tensor &x) { return inner(x) + 1; });
    auto g = function([&](const Tensor &x) { return inner(x) + 2; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const Tensor x = full({3}, i);
          const Tensor y = t % 3 == 0 ? f(x) : t % 3 == 1 ? g(x) : inner(x);
          wrong += y.to_vector<float>()[2] != static_cast<float>(2 * i + (t % 3 + 1) % 3);
        }
      });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(inner_runs, 1);
  }
}

} // namespace
} // namespace weft
