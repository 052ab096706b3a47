// Host calls: C++ callables run by functions, eager and compiled alike, in the order of the
// program.
#include "../Testing.h"
#include "Printed.h"

#include <array>
#include <atomic>
#include <thread>

#include <weft/weft.h>

namespace weft {
namespace {

Tensor doubled(const Tensor &x) { return x * 2; }

/// A user's own error, which Weft knows nothing of.
struct Oops {
  int code;
};

TEST(HostCall, ValuesInAndOut) {
  const auto work = [](const Tensor &x, const Tensor &n) {
    const Tensor y = host_call(doubled, {.results = {spec(f32, {2, 3})}}, x + 1);
    const auto [z, some] =
        host_call([](const Tensor &a,
                     const Tensor &b) { return std::tuple(a.astype(f64) * b.item<int>(), b > 2); },
                  {.results = {spec(f64, {2, 3}), spec(boolean, {})}}, y, n);
    return std::tuple(y, z, some);
  };
  auto f = function(work);
  const Tensor x = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  for (int n : {2, 3}) {
    const auto [y, z, some] = work(x, tensor(n));
    const auto [cy, cz, csome] = f(x, tensor(n));
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4, 6, 8, 10, 12, 14}));
    EXPECT_EQ(cy.to_vector<float>(), y.to_vector<float>());
    EXPECT_EQ(cz.to_vector<double>(), z.to_vector<double>());
    EXPECT_EQ(csome.item<bool>(), n > 2);
    EXPECT_EQ(some.item<bool>(), n > 2);
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(HostCall, WhatACallableMayReturn) {
  const auto work = [](const Tensor &x) {
    const float before = 1;
    std::vector<Tensor> seen;
    host_call([](const Tensor &) {}, {}, x);
    const Tensor number = host_call([=] { return before + 1; }, {.results = {spec(f32, {})}});
    const std::vector<Tensor> list =
        host_call([](const Tensor &a) { return std::vector<Tensor>{a, a.astype(i32)}; },
                  {.results = {spec(f32, {2}), spec(i32, {2})}}, x);
    const std::array<Tensor, 2> pair =
        host_call([](const Tensor &a) { return std::array<Tensor, 2>{a, a}; },
                  {.results = {spec(f32, {2}), spec(f32, {2})}}, x);
    return std::tuple(number, list, pair[0] + pair[1]);
  };
  const Tensor x = tensor({1.5f, 2.5f});
  for (const auto &[number, list, sum] : {work(x), function(work)(x)}) {
    EXPECT_EQ(number.item<float>(), 2);
    EXPECT_EQ(list[0].to_vector<float>(), (std::vector<float>{1.5, 2.5}));
    EXPECT_EQ(list[1].to_vector<int>(), (std::vector<int>{1, 2}));
    EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{3, 5}));
  }
}

TEST(HostCall, OperandsAreScalarsAndVariablesToo) {
  const Variable v(tensor({1.f, 2.f}), "v");
  const auto work = [&](const Tensor &x) {
    return host_call([](const Tensor &a, const Tensor &b, const Tensor &c) { return a * b + c; },
                     {.results = {spec(f32, {2})}}, v, 10.f, reverse(x));
  };
  const Tensor x = tensor({5.f, 6.f});
  EXPECT_EQ(work(x).to_vector<float>(), (std::vector<float>{16, 25}));
  EXPECT_EQ(function(work)(x).to_vector<float>(), (std::vector<float>{16, 25}));
}

TEST(HostCall, SizesOfResultsMayBeUnknown) {
  // The positive elements: how many there are is known only when it runs.
  const auto positive = [](const Tensor &x) {
    std::vector<float> kept;
    for (const float value : x.to_vector<float>())
      if (value > 0) kept.push_back(value);
    return tensor(std::span<const float>(kept), {static_cast<std::int64_t>(kept.size())});
  };
  const auto work = [&](const Tensor &x) {
    const Tensor kept = host_call(positive, {.results = {spec(f32, {unknown})}}, x);
    return std::tuple(kept * 2, sum(kept), host_call(doubled, {.results = {kept.type()}}, kept));
  };
  auto f = function(work);
  for (const Tensor &x :
       {tensor({1.f, -2.f, 3.f}), tensor({-1.f, -2.f, -3.f}), tensor({1.f, 2.f, 3.f})}) {
    const auto [twice, total, again] = work(x);
    const auto [ctwice, ctotal, cagain] = f(x);
    EXPECT_EQ(ctwice.to_vector<float>(), twice.to_vector<float>());
    EXPECT_EQ(cagain.to_vector<float>(), twice.to_vector<float>());
    EXPECT_EQ(ctotal.item<float>(), total.item<float>());
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

// The sanitizers see what is copied.
TEST(HostCall, TensorsMayHaveNoElements) {
  const auto same = [](const Tensor &x) { return x; };
  const auto work = [&](const Tensor &x) {
    return host_call(same, {.results = {spec(f32, {unknown, 2})}}, x) * 2;
  };
  for (const Shape &known : {Shape{0, 2}, Shape{unknown, 2}})
    EXPECT_EQ(function(work, {.signature = {spec(f32, known)}})(zeros({0, 2})).shape(),
              (Shape{0, 2}));
}

TEST(HostCall, SizesOfOperandsMayBeUnknown) {
  auto f = function(
      [](const Tensor &x) {
        return host_call([](const Tensor &a) { return sum(a) + a.shape()[0]; },
                         {.results = {spec(f32, {})}}, exp(x));
      },
      {.signature = {spec(f32, {unknown, 2})}});
  EXPECT_EQ(f(zeros({3, 2})).item<float>(), 9);
  EXPECT_EQ(f(zeros({0, 2})).item<float>(), 0);
  EXPECT_EQ(f(zeros({1000, 2})).item<float>(), 3000);
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(HostCall, OneOrderWithPrintsAndChecks) {
  const Variable v(0.f, "v");
  const auto say = [](const std::string &what) {
    return [what](const Tensor &x) { print(what, x); };
  };
  const auto work = [&](const Tensor &n) {
    print("begins");
    host_call(say("first"), {}, n);
    v.assign_add(1);
    host_call(say("v is"), {}, v);
    for_loop(n, [&](const Tensor &i) {
      print("iteration", i);
      if_(
          i % 2 == 0, [&] { host_call(say("even"), {}, i); },
          [&] { host_call(say("odd"), {}, i); });
      v.assign_add(10);
      host_call(say("v is"), {}, v);
    });
    check(n < 3, "three is too many");
    host_call(say("last"), {}, n);
  };
  auto f = function(work);
  const auto lines = [&](auto &call, int n) {
    Printed printed;
    v.assign(0);
    try {
      call(tensor(n));
    } catch (const AssertionError &) {
      print("failed");
    }
    return printed.take();
  };
  EXPECT_EQ(lines(work, 2), (Lines{"begins", "first 2", "v is 1", "iteration 0", "even 0",
                                   "v is 11", "iteration 1", "odd 1", "v is 21", "last 2"}));
  for (int n : {0, 1, 2, 3, 2}) EXPECT_EQ(lines(f, n), lines(work, n)) << n;
}

TEST(HostCall, RunsOncePerCallThoughNobodyWantsItsResult) {
  int calls = 0, pure_calls = 0;
  auto f = function([&](const Tensor &x) {
    static_cast<void>(
        host_call([&](const Tensor &a) { return ++calls, a; }, {.results = {spec(f32, {})}}, x));
    const HostCallOptions pure{.results = {spec(f32, {})}, .name = "pure", .pure = true};
    static_cast<void>(host_call([&](const Tensor &a) { return ++pure_calls, a; }, pure, x));
    return x + 1;
  });
  for (int i = 1; i <= 3; ++i) {
    static_cast<void>(f(tensor(1.f)));
    EXPECT_EQ(calls, i);
  }
  EXPECT_EQ(pure_calls, 0);
}

TEST(HostCall, InConditionsAndNestedFunctions) {
  // The callable of a loop's condition, one of a function that is called twice, and one outside.
  int asked = 0;
  auto inner = function(
      [](const Tensor &x) {
        return host_call(doubled, {.results = {spec(i32, {})}, .name = "twice"}, x);
      },
      {.name = "inner"});
  const auto work = [&](const Tensor &x) {
    const Tensor large = while_loop(
        [&](const Tensor &n) {
          return host_call([&](const Tensor &now) { return ++asked, now < 100; },
                           {.results = {spec(boolean, {})}, .name = "twice"}, n);
        },
        [&](const Tensor &n) { return inner(n); }, x);
    return inner(large) + host_call([](const Tensor &n) { return -n; },
                                    {.results = {spec(i32, {})}, .name = "twice"}, x);
  };
  const int eager = work(tensor(3)).item<int>();
  EXPECT_EQ(eager, 3 * 64 * 2 - 3);
  EXPECT_EQ(asked, 7);
  auto f = function(work);
  EXPECT_EQ(f(tensor(3)).item<int>(), eager);
  EXPECT_EQ(asked, 14);
  EXPECT_EQ(f(tensor(50)).item<int>(), 100 * 2 - 50);
}

TEST(HostCall, FunctionsOfTheSameShapeKeepTheirCallables) {
  // They share machine code, where there is a code cache, but not what they call.
  const auto make = [](float by) {
    return function([by](const Tensor &x) {
      return host_call([by](const Tensor &a) { return a * by; }, {.results = {spec(f32, {})}}, x);
    });
  };
  auto two = make(2), three = make(3);
  EXPECT_EQ(two(tensor(5.f)).item<float>(), 10);
  EXPECT_EQ(three(tensor(5.f)).item<float>(), 15);
  EXPECT_EQ(two(tensor(6.f)).item<float>(), 12);
}

TEST(HostCall, MayRunWhateverCppCan) {
  // Ops, tapes, other traced functions, and the same one again, with callables of their own.
  std::function<Tensor(const Tensor &)> factorial;
  auto f = function([&](const Tensor &n) {
    return host_call(
        [&](const Tensor &now) {
          return now.item<int>() <= 1 ? tensor(1) : now * factorial(now - 1);
        },
        {.results = {spec(i32, {})}}, n);
  });
  factorial = f;
  EXPECT_EQ(f(tensor(6)).item<int>(), 720);

  auto slope = function([](const Tensor &x) {
    return host_call(
        [](const Tensor &at) {
          GradientTape tape;
          tape.watch(at);
          const Tensor y = at * at * at;
          return tape.gradient(y, {at})[0];
        },
        {.results = {spec(f32, {})}}, x);
  });
  EXPECT_EQ(slope(tensor(2.f)).item<float>(), 12);
}

TEST(HostCall, TheCallableMayKeepWhatItIsGiven) {
  std::vector<Tensor> kept;
  auto f = function([&](const Tensor &x) {
    for_loop(3, [&](const Tensor &i) {
      host_call([&](const Tensor &value) { kept.push_back(value); }, {}, x + i.astype(f32));
    });
  });
  f(tensor({1.f, 2.f}));
  f(tensor({10.f, 20.f}));
  ASSERT_EQ(kept.size(), 6u);
  EXPECT_EQ(kept[0].to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(kept[2].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(kept[5].to_vector<float>(), (std::vector<float>{12, 22}));
}

TEST(HostCall, TheFunctionKeepsTheCallable) {
  auto alive = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = alive;
  {
    auto f = function([&](const Tensor &x) {
      return host_call([seven = alive](const Tensor &a) { return a + *seven; },
                       {.results = {spec(i32, {})}}, x);
    });
    EXPECT_EQ(f(tensor(1)).item<int>(), 8);
    alive.reset();
    EXPECT_EQ(f(tensor(2)).item<int>(), 9);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(HostCall, FromManyThreads) {
  std::atomic<int> calls = 0;
  auto f = function([&](const Tensor &x) {
    return host_call([&](const Tensor &a) { return ++calls, a + 1; },
                     {.results = {spec(f32, {100})}}, x * 2);
  });
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        right += f(full({100}, static_cast<float>(t)))[99].item<float>() == 2 * t + 1;
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(right, 200);
  EXPECT_EQ(calls, 200);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

TEST(HostCallGradients, NonePassesThrough) {
  const auto work = [](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = host_call(doubled, {.results = {spec(f32, {})}}, stop_gradient(x));
    // An operand that is given back is a value like any other.
    const Tensor z = host_call([](const Tensor &a) { return a; }, {.results = {spec(f32, {})}}, x);
    return tape.gradient(x * y + stop_gradient(z), {x})[0];
  };
  EXPECT_EQ(work(tensor(3.f)).item<float>(), 6);
  EXPECT_EQ(function(work)(tensor(3.f)).item<float>(), 6);
  const auto in_a_branch = [](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    if_(x > 0, [&] { host_call([](const Tensor &) {}, {}, x); });
    return tape.gradient(x * x, {x})[0];
  };
  EXPECT_EQ(function(in_a_branch)(tensor(3.f)).item<float>(), 6);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(HostCallErrors, WhatTheCallableThrowsReachesTheCaller) {
  const Variable v(0.f, "v");
  const auto work = [&](const Tensor &x) {
    v.assign_add(1);
    const Tensor big = broadcast(x, {300, 300}) * 3;
    host_call(
        [](const Tensor &value) {
          if (value.item<float>() == 1) throw std::out_of_range("one is out of range");
          if (value.item<float>() == 2) throw Oops{42};
          if (value.item<float>() == 3) check(value < 0, "three");
        },
        {.name = "picky"}, x);
    return sum(big);
  };
  auto f = function(work);
  const auto both = [&](const Tensor &x) {
    return std::array<std::function<Tensor()>, 2>{[&, x] { return work(x); },
                                                  [&, x] { return f(x); }};
  };
  for (int round = 0; round < 2; ++round) {
    for (const auto &call : both(tensor(1.f)))
      EXPECT_THROWS(call(), std::out_of_range, "one is out of range");
    for (const auto &call : both(tensor(2.f))) {
      try {
        static_cast<void>(call());
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Oops &oops) {
        EXPECT_EQ(oops.code, 42);
      }
    }
    for (const auto &call : both(tensor(3.f)))
      EXPECT_THROWS(call(), AssertionError, "assertion failed: three");
    for (const auto &call : both(tensor(4.f))) EXPECT_EQ(call().item<float>(), 4 * 3 * 90000);
  }
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(HostCallErrors, VariablesHoldWhatWasWrittenBeforeIt) {
  const auto outcome = [](bool traced, int iteration) {
    const Variable v(tensor({1.f, 2.f}), "v"), n(0, "n");
    const auto step = [&](const Tensor &bad) {
      v.assign(v * 2);
      const Tensor seen = for_loop(
          4,
          [&](const Tensor &i, const Tensor &sum) {
            n.assign_add(1);
            const Tensor given = host_call(
                [](const Tensor &at, const Tensor &value, const Tensor &last) {
                  if (at.item<int>() == last.item<int>()) throw Oops{at.item<int>()};
                  return value;
                },
                {.results = {spec(f32, {2})}}, i, v, bad);
            v.assign(given + 1);
            return sum + given;
          },
          zeros({2}));
      n.assign_add(100);
      return seen;
    };
    auto f = function(step);
    std::vector<float> values;
    // A step that fails, and one after it that does not.
    for (const int bad : {iteration, 7}) {
      try {
        const Tensor seen = traced ? f(tensor(bad)) : step(tensor(bad));
        EXPECT_EQ(bad, 7);
        values.push_back(seen[1].item<float>());
      } catch (const Oops &oops) {
        EXPECT_EQ(oops.code, bad);
      }
      for (const float value : v.value().to_vector<float>()) values.push_back(value);
      values.push_back(n.value().astype(f32).item<float>());
    }
    return values;
  };
  for (const int iteration : {0, 1, 3})
    EXPECT_EQ(outcome(true, iteration), outcome(false, iteration)) << iteration;
  EXPECT_EQ(outcome(true, 1), (std::vector<float>{3, 5, 2, 46, 10, 14, 106}));
}

TEST(HostCallErrors, AnAssertBeforeItFailsFirst) {
  int calls = 0;
  const auto work = [&](bool pure) {
    return [&calls, pure](const Tensor &x) {
      check(x > 0, "not positive");
      return host_call(
          [&](const Tensor &a) {
            ++calls;
            if (a.item<float>() <= 0) throw Oops{1};
            return a;
          },
          {.results = {spec(f32, {})}, .pure = pure}, x);
    };
  };
  for (const bool pure : {false, true}) {
    auto f = function(work(pure), {.name = "careful"});
    EXPECT_EQ(f(tensor(1.f)).item<float>(), 1);
    const int before = calls;
    EXPECT_THROWS(f(tensor(-1.f)), AssertionError, "assertion failed in careful: not positive");
    EXPECT_THROWS(work(pure)(tensor(-1.f)), AssertionError, "assertion failed: not positive");
    EXPECT_EQ(calls, before);
  }
}

TEST(HostCallErrors, ResultsOfAnotherType) {
  struct Case {
    std::function<Tensor(const Tensor &)> callable;
    TensorType promised;
    ErrorKind kind;
    std::string words;
  };
  const auto floats = [](const Tensor &) { return zeros({2, 3}); };
  const auto undefined = [](const Tensor &) { return Tensor(); };
  const std::vector<Case> cases = {
      {floats, spec(f32, {3, 2}), ErrorKind::shape,
       "result 0 must be f32(3, 2), but the callable gave f32(2, 3)"},
      {floats, spec(f32, {6}), ErrorKind::shape,
       "result 0 must be f32(6,), but the callable gave f32(2, 3)"},
      {floats, spec(f32, {unknown, 2}), ErrorKind::shape,
       "result 0 must be f32(?, 2), but the callable gave f32(2, 3)"},
      {floats, spec(i32, {2, 3}), ErrorKind::dtype,
       "result 0 must be i32(2, 3), but the callable gave f32(2, 3)"},
      {undefined, spec(f32, {2, 3}), ErrorKind::value, "result 0 is an undefined tensor"},
  };
  for (const std::string name : {"", "norm"}) {
    for (const Case &one : cases) {
      const auto work = [&](const Tensor &x) {
        return host_call(one.callable, {.results = {one.promised}, .name = name}, x);
      };
      auto f = function(work);
      const std::string words = (name.empty() ? "host_call: " : "host_call norm: ") + one.words;
      for (int i = 0; i < 2; ++i) {
        for (const auto &call : {std::function<Tensor(const Tensor &)>(work),
                                 std::function<Tensor(const Tensor &)>(f)})
          try {
            static_cast<void>(call(tensor(1.f)));
            ADD_FAILURE() << one.words << " was not thrown";
          } catch (const Error &error) {
            EXPECT_EQ(error.kind(), one.kind) << error.what();
            EXPECT_EQ(error.message(), words);
          }
      }
    }
  }
}

TEST(HostCallErrors, ResultsOfAnotherNumber) {
  const auto two = [](const Tensor &x) { return std::vector<Tensor>{x, x}; };
  const auto work = [&](const Tensor &x) {
    return host_call(two, {.results = {x.type()}, .name = "pair"}, x);
  };
  const std::string words =
      "host_call pair: the callable must give 1 tensor, but it gave 2 tensors";
  EXPECT_THROWS(work(tensor(1.f)), ValueError, words);
  auto f = function(work);
  EXPECT_THROWS(f(tensor(1.f)), ValueError, words);
  // Where the C++ type says it, the call itself is refused, also in a trace.
  const auto one = [](const Tensor &x) {
    return host_call(doubled, {.results = {x.type(), x.type()}}, x);
  };
  EXPECT_THROWS(function(one)(tensor(1.f)), ValueError,
                "host_call: the callable returns 1 tensor, but there are 2 types of results");
  EXPECT_THROWS(one(tensor(1.f)), ValueError,
                "host_call: the callable returns 1 tensor, but there are 2 types of results");
}

TEST(HostCallErrors, TypesThatCannotBe) {
  const auto call = [](const TensorType &type) {
    return host_call(doubled, {.results = {type}, .name = "f"}, 1.f);
  };
  EXPECT_THROWS(call(spec(f32, {-3})), ShapeError,
                "host_call f: result 0 is said to be f32(-3,), which has a negative size");
  EXPECT_THROWS(
      function([&](const Tensor &x) { return x + call(spec(f32, any_rank)); })(tensor(1.f)),
      ShapeError,
      "host_call f: result 0 is said to be f32(...), but in a trace its rank must be known");
  EXPECT_EQ(call(spec(f32, any_rank)).item<float>(), 2);
  EXPECT_THROW(call(spec(f32, {1ll << 40, 1ll << 40})), ShapeError);
  auto f = function([&](const Tensor &x) { return x + call(spec(f32, {-3})); });
  EXPECT_THROWS(f(tensor(1.f)), ShapeError,
                "host_call f: result 0 is said to be f32(-3,), which has a negative size");
  EXPECT_THROWS(host_call(doubled, {.results = {spec(f32, {})}}, Tensor()), StateError,
                "host_call: operand 0 is undefined");
}

TEST(HostCallErrors, TensorsOfATraceHaveNoValue) {
  auto f = function(
      [](const Tensor &x) {
        return host_call([x](const Tensor &) { return x; }, {.results = {x.type()}}, x);
      },
      {.name = "f"});
  EXPECT_THROWS(f(tensor(1.f)), StateError,
                "host_call: result 0 is a tensor of a trace: a callable gives values");
  auto g = function(
      [](const Tensor &x) {
        return host_call([x](const Tensor &y) { return x + y; }, {.results = {x.type()}}, x);
      },
      {.name = "g"});
  EXPECT_THROW(g(tensor(1.f)), StateError);
}

TEST(HostCallErrors, VariablesThatTheFunctionUpdatesAreOutOfReach) {
  const Variable v(tensor({1.f, 2.f}), "v"), other(5.f, "other");
  const auto with = [&](std::function<void()> callable) {
    return function([&v, callable](const Tensor &x) {
      v.assign_add(x);
      host_call([callable](const Tensor &) { callable(); }, {}, x);
      v.assign_add(x);
    });
  };
  const std::string assigned = "the variable 'v' is assigned by a host call inside of a compiled "
                               "function that uses it: let the function assign what the callable "
                               "of a host call returns";
  const Tensor x = tensor({1.f, 1.f});
  EXPECT_THROWS(with([&] { static_cast<void>(v.value()); })(x), StateError,
                "the variable 'v' is read by a host call inside of a function that updates it: let "
                "the function hand its value to the callable");
  EXPECT_THROWS(with([&] { v.assign({0.f, 0.f}); })(x), StateError, "assign: " + assigned);
  EXPECT_THROWS(with([&] { v.assign_add({1.f, 1.f}); })(x), StateError, "assign_add: " + assigned);
  auto update = function([&] { v.assign_add({1.f, 1.f}); });
  update();
  EXPECT_THROWS(with([&] { update(); })(x), StateError,
                "the variable 'v' is updated by a call inside of another call that updates it");
  // Others are in reach, and this one is again afterwards.
  with([&] { other.assign_add(1); })(x);
  EXPECT_EQ(other.value().item<float>(), 6);
  v.assign({1.f, 2.f});
  with([] {})(x);
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{3, 4}));
}

// Its value was read when the call began; eagerly, a host call before the read would change it.
TEST(HostCallErrors, VariablesThatTheFunctionReadsMayNotBeAssigned) {
  const Variable v(1.f, "v"), other(5.f, "other"), unused(5.f, "unused");
  const auto with = [&](std::function<void()> callable) {
    return function([&v, callable](const Tensor &x) {
      const Tensor before = v.value();
      host_call([callable](const Tensor &) { callable(); }, {}, x);
      return before + v.value();
    });
  };
  const Tensor x = tensor(3.f);
  const std::string assigned = "the variable 'v' is assigned by a host call inside of a compiled "
                               "function that uses it: let the function assign what the callable "
                               "of a host call returns";
  EXPECT_THROWS(with([&] { v.assign(x); })(x), StateError, "assign: " + assigned);
  EXPECT_THROWS(with([&] { v.assign_add(x); })(x), StateError, "assign_add: " + assigned);
  EXPECT_THROWS(with([&] { v.assign_sub(x); })(x), StateError, "assign_sub: " + assigned);
  // Also by a function called inside, which writes in place, and one further inside.
  auto update = function([&] { v.assign_add(1.f); });
  EXPECT_THROWS(with([&] { update(); })(x), StateError,
                "the variable 'v' is updated by a call inside of another call that reads it");
  auto harmless = function([&](const Tensor &y) {
    host_call([&](const Tensor &) { v.assign(x); }, {}, y);
    return y + 1;
  });
  EXPECT_THROWS(with([&] { harmless(x); })(x), StateError, "assign: " + assigned);
  // A generator is a variable, too.
  const random::Generator generator(3);
  auto draws = function([&](const Tensor &y) {
    const Tensor state = generator.state();
    host_call([&](const Tensor &) { static_cast<void>(generator.uniform({2})); }, {}, y);
    return state;
  });
  EXPECT_THROW(draws(x), StateError);
  EXPECT_EQ(v.value().item<float>(), 1);
  // Reads are as good as the function's own, and others are in reach.
  EXPECT_EQ(with([&] { other.assign(v); })(x).item<float>(), 2);
  EXPECT_EQ(other.value().item<float>(), 1);
  EXPECT_EQ(harmless(x).item<float>(), 4);
  EXPECT_EQ(v.value().item<float>(), 3);
  // Another thread's assign is not seen, as the function sees the value at the time of the call.
  EXPECT_EQ(with([&] { std::thread([&] { v.assign(7.f); }).join(); })(x).item<float>(), 6);
  EXPECT_EQ(v.value().item<float>(), 7);
}

TEST(HostCallErrors, SinksMayNotAssignEither) {
  const Variable v(1.f, "v"), count(0, "count");
  auto f = function([&](const Tensor &x) {
    print("x is", x);
    return x + v;
  });
  bool assigns = false;
  const PrintSink before = set_print_sink([&](std::string_view) {
    count.assign_add(1);
    if (assigns) v.assign(2.f);
  });
  EXPECT_EQ(f(tensor(1.f)).item<float>(), 2);
  assigns = true;
  EXPECT_THROWS(f(tensor(1.f)), StateError,
                "assign: the variable 'v' is assigned by the sink of a print inside of a compiled "
                "function that uses it: let the function assign what the callable of a host call "
                "returns");
  set_print_sink(before);
  EXPECT_EQ(count.value().item<int>(), 2);
}

} // namespace
} // namespace weft
