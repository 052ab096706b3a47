// Cases C1 to C25, by which TensorFlow's automatic control dependencies are known: the same numbers
// on values and traced. test/Effects has the same cases as programs in text, with their tokens.
//
// C8 and C9 are about the order alone, so here they check what it comes to: that loops, branches
// and calls see the writes before them, and are seen by what comes after. C21, a function that
// returns an op and not a tensor, has no counterpart: what a C++ function returns without a value
// is void, and its effects run (C21 below).
#include "../Testing.h"
#include "Printed.h"

#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

/// Both ways to run a program: on values, and traced.
class EffectCases : public ::testing::TestWithParam<bool> {
protected:
  /// Calls `f` in the way that is tested. A traced function is kept by the caller where it is
  /// called more than once.
  template <class F>
  auto way(F f) const {
    auto traced = function(f);
    return [f, traced, is_traced = GetParam()](const auto &...args) mutable {
      return is_traced ? traced(args...) : f(args...);
    };
  }

  const Variable v{1.f, "v"};
};

INSTANTIATE_TEST_SUITE_P(, EffectCases, ::testing::Values(false, true),
                         [](const auto &info) { return info.param ? "Traced" : "Eager"; });

float value(const Tensor &tensor) { return tensor.item<float>(); }
float value(const Variable &variable) { return value(variable.value()); }

//===----------------------------------------------------------------------===//
// Straight lines
//===----------------------------------------------------------------------===//

TEST_P(EffectCases, C1EachStepSeesTheOneBefore) {
  auto f = way([this] {
    v.assign(v + 1);
    v.assign(v * 2);
    return v.value();
  });
  EXPECT_EQ(value(f()), 4);
  EXPECT_EQ(value(f()), 10);
}

TEST_P(EffectCases, C2ReadsBeforeAWrite) {
  auto f = way([this](const Tensor &x) {
    const Tensor first = v.value(), second = v * 10;
    v.assign(x);
    return std::pair(first, second);
  });
  const auto [first, second] = f(tensor(7.f));
  EXPECT_EQ(value(first), 1);
  EXPECT_EQ(value(second), 10);
  EXPECT_EQ(value(v), 7);
}

TEST_P(EffectCases, C3ReadsAfterAWrite) {
  auto f = way([this](const Tensor &x) {
    v.assign(x);
    return std::pair(v.value(), v * 10);
  });
  const auto [first, second] = f(tensor(7.f));
  EXPECT_EQ(value(first), 7);
  EXPECT_EQ(value(second), 70);
}

TEST_P(EffectCases, C4ReadsAndWritesInIterations) {
  auto f = way([this] {
    std::vector<Tensor> reads = {v.value(), v.value()};
    v.assign_add(1);
    v.assign_add(reads[0] + reads[1]);
    reads.push_back(v.value());
    reads.push_back(v.value());
    v.assign_add(1);
    v.assign_add(reads[2] - 1);
    return reads;
  });
  std::vector<float> reads;
  for (const Tensor &read : f()) reads.push_back(value(read));
  EXPECT_EQ(reads, (std::vector<float>{1, 1, 4, 4}));
  EXPECT_EQ(value(v), 8); // the last write, which nothing reads
}

TEST_P(EffectCases, C5TwoHandlesOfOneVariable) {
  const Variable same = v;
  auto f = way([this, same] {
    v.assign_add(1);
    same.assign_add(1);
    return v.value();
  });
  EXPECT_EQ(value(f()), 3);
  EXPECT_EQ(value(same), 3);
}

TEST_P(EffectCases, C6AReadThatNobodyWants) {
  auto f = way([this](const Tensor &x) {
    static_cast<void>(v.value());
    static_cast<void>(v * 2);
    v.assign(x);
  });
  f(tensor(7.f));
  EXPECT_EQ(value(v), 7);
}

TEST_P(EffectCases, C7WhatAPersonSeesHappensThoughNothingUsesIt) {
  int calls = 0;
  auto f = way([&] {
    print("sent");
    host_call([&] { ++calls; }, {});
  });
  Printed printed;
  f();
  EXPECT_EQ(printed.take(), (Lines{"sent"}));
  EXPECT_EQ(calls, 1);
}

//===----------------------------------------------------------------------===//
// Regions and calls
//===----------------------------------------------------------------------===//

/// What stands for F in read1; F; read2; assign.
using Middle = std::function<Tensor(const Variable &, const Tensor &)>;

/// F in each form of the table. `once` is what F does; it gives a scalar.
std::vector<std::pair<std::string, Middle>> middles(const Middle &once) {
  auto called = function(once, {.name = "called"});
  auto caller = function([called](const Variable &v, const Tensor &x) { return called(v, x); },
                         {.name = "caller"});
  const Middle in_while = [once](const Variable &v, const Tensor &x) {
    return std::get<1>(while_loop(
        [](const Tensor &i, const Tensor &) { return i < 2; },
        [&](const Tensor &i, const Tensor &s) { return std::tuple(i + 1, s + once(v, x)); }, 0,
        zeros({})));
  };
  const Middle in_if = [once](const Variable &v, const Tensor &x) {
    return cond(x > 0, [&] { return once(v, x); }, [&] { return x; });
  };
  return {
      {"while", in_while},
      {"if, true branch", in_if},
      {"if, false branch",
       [once](const Variable &v, const Tensor &x) {
         return cond(x < 0, [&] { return x; }, [&] { return once(v, x); });
       }},
      {"case 0",
       [once](const Variable &v, const Tensor &x) {
         return switch_case(x.astype(i32) - 7, [&] { return once(v, x); }, [&] { return x; });
       }},
      {"case 1",
       [once](const Variable &v, const Tensor &x) {
         return switch_case(x.astype(i32), [&] { return x; }, [&] { return once(v, x); });
       }},
      {"call", called},
      {"call in call", caller},
      {"while in a called function", function(in_while, {.name = "loops"})},
      {"if in a called function", function(in_if, {.name = "chooses"})},
  };
}

TEST_P(EffectCases, C8RegionsAndCallsThatRead) {
  const Middle reads = [](const Variable &v, const Tensor &x) { return v * x; };
  for (const auto &[name, middle] : middles(reads)) {
    SCOPED_TRACE(name);
    v.assign(3);
    auto f = way([this, middle](const Tensor &x) {
      const Tensor first = v.value();
      const Tensor between = middle(v, x);
      const Tensor second = v.value();
      v.assign(x);
      return std::tuple(first, between, second);
    });
    const auto [first, between, second] = f(tensor(7.f));
    EXPECT_EQ(value(first), 3);
    EXPECT_EQ(value(between), name.starts_with("while") ? 42 : 21);
    EXPECT_EQ(value(second), 3);
    EXPECT_EQ(value(v), 7);
  }
}

TEST_P(EffectCases, C9RegionsAndCallsThatWrite) {
  const Middle writes = [](const Variable &v, const Tensor &x) {
    v.assign(v * x);
    return v.value();
  };
  for (const auto &[name, middle] : middles(writes)) {
    SCOPED_TRACE(name);
    v.assign(3);
    auto f = way([this, middle](const Tensor &x) {
      const Tensor first = v.value();
      const Tensor between = middle(v, x);
      const Tensor second = v.value();
      v.assign(second + 1);
      return std::tuple(first, between, second);
    });
    const auto [first, between, second] = f(tensor(7.f));
    const bool twice = name.starts_with("while");
    EXPECT_EQ(value(first), 3);
    EXPECT_EQ(value(between), twice ? 21 + 147 : 21);
    EXPECT_EQ(value(second), twice ? 147 : 21);
    EXPECT_EQ(value(v), twice ? 148 : 22);
  }
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

TEST_P(EffectCases, C10BranchesAssign) {
  auto step = way([this](const Tensor &p) {
    if_(p, [&] { v.assign_add(1); }, [&] { v.assign_add(4); });
    return v.value();
  });
  EXPECT_EQ(value(step(tensor(false))), 5);
  EXPECT_EQ(value(step(tensor(true))), 6);
}

TEST_P(EffectCases, C11BranchesRunThoughNobodyWantsTheirResult) {
  auto step = way([this](const Tensor &p) {
    if_(p, [&] { v.assign_add(1); }, [&] { v.assign_add(4); });
    return tensor(3.f);
  });
  EXPECT_EQ(value(step(tensor(false))), 3);
  EXPECT_EQ(value(v), 5);
  EXPECT_EQ(value(step(tensor(true))), 3);
  EXPECT_EQ(value(v), 6);
}

TEST_P(EffectCases, C12AssignsInNestedBranches) {
  auto step = way([this](const Tensor &p, const Tensor &q) {
    if_(
        p, [&] { v.assign_add(1); },
        [&] { if_(q, [&] { v.assign(v * 2); }, [&] { v.assign(v * 3); }); });
    return v.value();
  });
  const auto call = [&](bool p, bool q) { return value(step(tensor(p), tensor(q))); };
  EXPECT_EQ(call(false, false), 3);
  EXPECT_EQ(call(false, true), 6);
  EXPECT_EQ(call(true, true), 7);
  EXPECT_EQ(call(true, false), 8);
}

TEST_P(EffectCases, C13ToC15OneBranchAssigns) {
  // C14 has a write before the branch, C15 one after it.
  struct Case {
    bool before, after;
    float no, yes;
  };
  for (const Case &one : {Case{false, false, 5, 5}, {true, false, 6, 12}, {false, true, 10, 20}}) {
    v.assign(1);
    auto step = way([this, one](const Tensor &p) {
      if (one.before) v.assign(v * 2);
      if_(p, [] {}, [&] { v.assign_add(4); });
      if (one.after) v.assign(v * 2);
      return v.value();
    });
    EXPECT_EQ(value(step(tensor(false))), one.no);
    EXPECT_EQ(value(step(tensor(true))), one.yes);
  }
}

//===----------------------------------------------------------------------===//
// Loops and aliases
//===----------------------------------------------------------------------===//

TEST_P(EffectCases, C16WhileUsesCapturedTensors) {
  const Tensor one = tensor({1, 1, 1});
  auto f = way([&](const Tensor &x) {
    return while_loop([](const Tensor &i, const Tensor &) { return i < 3; },
                      [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y + one); },
                      0, x);
  });
  const auto [i, x] = f(tensor({0, 1, 2}));
  EXPECT_EQ(i.template item<int>(), 3);
  EXPECT_EQ(x.template to_vector<int>(), (std::vector<int>{3, 4, 5}));
}

TEST_P(EffectCases, C17OneVariableTwiceAmongTheArguments) {
  auto inner = function([](const Variable &a, const Variable &b) { return a + b; });
  auto f = way([&] { return inner(v, v); });
  EXPECT_EQ(value(f()), 2);
  // A write through one of them is seen through the other.
  auto writes = function([](const Variable &a, const Variable &b) {
    a.assign(5);
    return b.value();
  });
  auto g = way([&] { return writes(v, v); });
  EXPECT_EQ(value(g()), 5);
}

TEST_P(EffectCases, C18AStepOfMomentum) {
  for (const bool returns : {false, true}) {
    v.assign(1);
    // Stochastic gradient descent with rate 1 and momentum 1, on v * v.
    const Variable momentum(0.f, "momentum");
    const auto step = [&] {
      GradientTape tape;
      const Tensor loss = square(v);
      momentum.assign_add(tape.gradient(loss, {v})[0]);
      v.assign_sub(momentum.value());
    };
    if (returns) {
      auto f = way([&] {
        step();
        return v.value();
      });
      EXPECT_EQ(value(f()), -1);
    } else {
      auto f = way(step);
      f();
    }
    EXPECT_EQ(value(v), -1);
  }
}

TEST_P(EffectCases, C19TheLaterOfTwoWritesWins) {
  // TensorFlow may be told that they are independent; here there is one order.
  auto f = way([this] {
    v.assign(1);
    v.assign(2);
    return v.value();
  });
  EXPECT_EQ(value(f()), 2);
  EXPECT_EQ(value(v), 2);
}

//===----------------------------------------------------------------------===//
// Prints, asserts and host calls
//===----------------------------------------------------------------------===//

TEST_P(EffectCases, C20TwoHostCallsBothRunInOrder) {
  std::string seen;
  auto f = way([&](const Tensor &x) {
    host_call([&](const Tensor &) { seen += 'a'; }, {}, x);
    host_call([&](const Tensor &) { seen += 'b'; }, {}, x);
  });
  f(tensor(1.f));
  f(tensor(2.f));
  EXPECT_EQ(seen, "abab");
}

TEST_P(EffectCases, C21AFunctionWithoutAResultRunsForItsEffects) {
  auto f = way([this] { v.assign_add(1); });
  static_assert(std::is_void_v<decltype(f())>);
  f();
  f();
  EXPECT_EQ(value(v), 3);
}

TEST_P(EffectCases, C22DifferentVariables) {
  const Variable a(1.f, "a"), b(1.f, "b");
  auto f = way([&] {
    a.assign(2);
    b.assign(3);
    return a + b;
  });
  EXPECT_EQ(value(f()), 5);
}

TEST_P(EffectCases, C23FindNextOdd) {
  const Variable n(5, "n");
  auto next = way([&] {
    n.assign_add(1);
    if_(n.value() % 2 == 0, [&] { n.assign_add(1); });
    return n.value();
  });
  EXPECT_EQ(next().template item<int>(), 7);
}

TEST_P(EffectCases, C24PrintsInOrder) {
  const Variable n(5, "n");
  auto work = way([&] {
    print("1:", n.value());
    n.assign_add(1);
    print("2:", n.value());
    if_(n.value() % 2 == 0, [&] {
      n.assign_add(1);
      print("3:", n.value());
    });
  });
  Printed printed;
  work();
  EXPECT_EQ(printed.take(), (Lines{"1: 5", "2: 6", "3: 7"}));
}

TEST_P(EffectCases, C25AnAssertPrecedesWhatItGuards) {
  auto f = way([](const Tensor &x) {
    check(x > 0, "x is positive");
    return log(x);
  });
  EXPECT_THROW(static_cast<void>(f(tensor(-1.f))), AssertionError);
  EXPECT_EQ(value(f(tensor(1.f))), 0);
  // What would fail by itself: a gather, and a callable.
  auto g = way([](const Tensor &x, const Tensor &i) {
    check(i >= 0, "i is an index");
    return gather(x, i);
  });
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_THROW(static_cast<void>(g(x, tensor(-1))), AssertionError);
  EXPECT_THROW(static_cast<void>(g(x, tensor(2))), IndexError);
  EXPECT_EQ(value(g(x, tensor(1))), 2);
  auto h = way([](const Tensor &i) {
    check(i >= 0, "i is an index");
    const auto look_up = [](const Tensor &at) {
      return std::vector<float>{1, 2}.at(static_cast<std::size_t>(at.item<int>()));
    };
    return host_call(look_up, {.results = {spec(f32, {})}, .pure = true}, i);
  });
  EXPECT_THROW(static_cast<void>(h(tensor(-1))), AssertionError);
  EXPECT_THROW(static_cast<void>(h(tensor(2))), std::out_of_range);
  EXPECT_EQ(value(h(tensor(1))), 2);
}

} // namespace
} // namespace weft
