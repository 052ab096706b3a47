// Control flow from C++: the same source on values and traced gives the same results and effects.
#include "../Testing.h"
#include "Both.h"
#include "Printed.h"

#include <weft/weft.h>

#include <map>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(ControlFlow, CondPicksABranch) {
  const auto f = [](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return x * 2; }, [&] { return -x; });
  };
  EXPECT_EQ(both(f, tensor({1.f, 2.f})).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(both(f, tensor({-1.f, -2.f})).to_vector<float>(), (Floats{1, 2}));
  // One trace holds both branches.
  auto traced = function(f);
  static_cast<void>(traced(tensor({1.f})));
  EXPECT_EQ(traced(tensor({-3.f})).item<float>(), 3);
  EXPECT_EQ(traced.trace_count(), 1u);
}

TEST(ControlFlow, BranchesMayDifferInSizes) {
  const auto f = [](const Tensor &x) {
    const Tensor y = cond(sum(x) > 0, [&] { return x; }, [&] { return concatenate({x, x, x}); });
    return y * 2;
  };
  EXPECT_EQ(both(f, tensor({1.f, 2.f})).shape(), (Shape{2}));
  EXPECT_EQ(both(f, tensor({-1.f, 0.f})).shape(), (Shape{6}));
}

TEST(ControlFlow, BranchesReturnStructures) {
  using Named = std::map<std::string, std::pair<Tensor, Tensor>>;
  const auto f = [](const Tensor &p, const Tensor &x) {
    const Named result = cond(
        p, [&] { return Named{{"a", {x, x + 1}}, {"b", {x + 2, x + 3}}}; },
        [&] { return Named{{"a", {x * 0, x}}, {"b", {x, x * 2}}}; });
    return result.at("a").second * 10 + result.at("b").second;
  };
  EXPECT_EQ(both(f, tensor(true), tensor(1)).item<int>(), 24);
  EXPECT_EQ(both(f, tensor(false), tensor(1)).item<int>(), 12);
}

TEST(ControlFlow, CondsNest) {
  const auto f = [](const Tensor &p, const Tensor &q) {
    return cond(
        p, [&] { return cond(q, [] { return 1; }, [] { return 2; }); },
        [&] { return cond(q, [] { return 3; }, [] { return 4; }); });
  };
  for (const bool p : {false, true})
    for (const bool q : {false, true})
      EXPECT_EQ(both(f, tensor(p), tensor(q)).item<int>(), 4 - 2 * p - q);
}

TEST(ControlFlow, KnownPredicatesChooseAtOnce) {
  auto f = function([](const Tensor &x, bool twice) {
    return cond(twice, [&] { return x + x; }, [&] { return x; });
  });
  EXPECT_EQ(f(tensor(3), true).item<int>(), 6);
  EXPECT_EQ(f(tensor(3), false).item<int>(), 3);
  EXPECT_EQ(f.ir(tensor(3), true, Phase::trace).find("scf.if"), std::string::npos);
}

TEST(ControlFlow, SwitchTakesTheLastCaseForAllOthers) {
  const auto f = [](const Tensor &i, const Tensor &x) {
    return switch_case(i, [&] { return x; }, [&] { return x * 10; }, [&] { return -x; });
  };
  const int expected[] = {-7, 7, 70, -7, -7};
  for (int i = -1; i <= 3; ++i)
    EXPECT_EQ(both(f, tensor(i), tensor(7)).item<int>(), expected[i + 1]);
}

TEST(ControlFlow, WhileRunsUntilItsConditionFails) {
  const auto f = [](const Tensor &n) {
    return std::get<1>(while_loop(
        [&](const Tensor &i, const Tensor &) { return i < n; },
        [](const Tensor &i, const Tensor &s) { return std::tuple(i + 1, s + i); }, 0, 0));
  };
  EXPECT_EQ(both(f, tensor(5)).item<int>(), 10);
  EXPECT_EQ(both(f, tensor(0)).item<int>(), 0);
}

// g-func's next_collatz, the loop of a single state.
TEST(ControlFlow, Collatz) {
  const auto f = [](const Tensor &start) {
    return while_loop([](const Tensor &n) { return n > 4; },
                      [](const Tensor &n) {
                        return cond(
                            n % 2 == 0, [&] { return cast(floor(n / 2), i32); },
                            [&] { return n * 3 + 1; });
                      },
                      start);
  };
  for (const int n : {1, 3, 7, 27}) EXPECT_LE(both(f, tensor(n)).item<int>(), 4);
}

TEST(ControlFlow, LoopsNest) {
  const auto f = [](const Tensor &n) {
    return for_loop(
        n,
        [&](const Tensor &i, const Tensor &s) {
          return for_loop(i + 1, [&](const Tensor &j, const Tensor &t) { return t + i * j; }, s);
        },
        0);
  };
  int expected = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) expected += i * j;
  EXPECT_EQ(both(f, tensor(6)).item<int>(), expected);
}

TEST(ControlFlow, ForCountsInAnyStep) {
  struct Case {
    int start, stop, step;
  };
  for (const auto [start, stop, step] :
       {Case{0, 5, 1}, {2, 20, 3}, {5, 0, -1}, {5, -6, -4}, {3, 3, 1}, {4, 3, 1}, {3, 4, -1}}) {
    const auto f = [&, step = step](const Tensor &from, const Tensor &to) {
      return for_loop(
          {from, to, step}, [](const Tensor &i, const Tensor &s) { return s * 3 + i; }, 1);
    };
    int expected = 1;
    for (int i = start; step > 0 ? i < stop : i > stop; i += step) expected = expected * 3 + i;
    EXPECT_EQ(both(f, tensor(start), tensor(stop)).item<int>(), expected);
  }
}

TEST(ControlFlow, TheNumberHasTheBoundsDType) {
  for (const DType dtype : {i32, i64}) {
    const auto f = [](const Tensor &n) {
      return for_loop(n, [](const Tensor &i, const Tensor &) { return i; }, cast(n, n.dtype()));
    };
    EXPECT_EQ(both(f, full({}, 3, dtype)).dtype(), dtype);
  }
  const Tensor last = for_loop(
      {4'999'999'998, 5'000'000'000}, [](const Tensor &i, const Tensor &) { return i; },
      tensor(std::int64_t{1}));
  EXPECT_EQ(last.item<std::int64_t>(), 4'999'999'999);
}

// A loop variable whose size changes is of unknown size in the trace.
TEST(ControlFlow, SizesOfLoopVariablesMayChange) {
  const auto f = [](const Tensor &n, const Tensor &x) {
    return for_loop(n, [](const Tensor &, const Tensor &y) { return concatenate({y, y}); }, x);
  };
  EXPECT_EQ(both(f, tensor(3), tensor({1.f, 2.f})).shape(), (Shape{16}));
  EXPECT_EQ(both(f, tensor(0), tensor({1.f, 2.f})).shape(), (Shape{2}));
}

struct Particle {
  Tensor position, speed;
  int kind = 0;
  WEFT_FIELDS(Particle, position, speed, kind)
};

TEST(ControlFlow, StateIsAnyStructure) {
  const auto f = [](const Tensor &x) {
    const auto [particles, iterations] =
        while_loop([](const std::vector<Particle> &, const Tensor &i) { return i < 4; },
                   [](std::vector<Particle> particles, const Tensor &i) {
                     for (Particle &p : particles) {
                       p.speed = p.speed - p.position * 0.5;
                       p.position = p.position + p.speed;
                     }
                     return std::tuple(particles, i + 1);
                   },
                   std::vector<Particle>{{x, x * 0, 1}, {x * 2, x, 2}}, 0);
    return particles[0].position + particles[1].speed * 10 + iterations;
  };
  static_cast<void>(both(f, tensor({1.f, -2.f})));
}

TEST(ControlFlow, BodiesUseWhatIsAround) {
  const Variable v(tensor({1.f, 2.f}), "v");
  const Tensor outside = tensor({10.f, 20.f});
  const auto f = [&](const Tensor &x) {
    const Tensor y = x + 1;
    return for_loop(3, [&](const Tensor &, const Tensor &s) { return s + y * v + outside; }, x);
  };
  EXPECT_EQ(both(f, tensor({0.f, 1.f})).to_vector<float>(), (Floats{33, 73}));
}

TEST(Scan, SumsAlongAnAxis) {
  for (const bool reverse : {false, true}) {
    const auto f = [&](const Tensor &xs) {
      const auto [total, sums] =
          scan([](const Tensor &sum, const Tensor &x) { return std::pair(sum + x, sum + x); },
               zeros({2}), xs, {.reverse = reverse});
      return concatenate({total.reshape({1, 2}), sums});
    };
    const Tensor xs = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    EXPECT_EQ(both(f, xs).to_vector<float>(),
              reverse ? (Floats{9, 12, 9, 12, 8, 10, 5, 6}) : (Floats{9, 12, 1, 2, 4, 6, 9, 12}));
    EXPECT_EQ(both(f, zeros({0, 2})).shape(), (Shape{1, 2}));
    // Of unknown length: one trace for all.
    auto any = function(f, {.signature = {spec(f32, {unknown, 2})}});
    EXPECT_EQ(to_string(any(xs)), to_string(f(xs)));
    EXPECT_EQ(to_string(any(zeros({0, 2}))), to_string(f(zeros({0, 2}))));
    EXPECT_EQ(any.trace_count(), 1u);
  }
}

TEST(Scan, CarriesAndSlicesAreStructures) {
  struct Step {
    Tensor gain, offset;
    WEFT_FIELDS(Step, gain, offset)
  };
  const auto f = [](const Tensor &gains, const Tensor &offsets) {
    const auto [last, ys] = scan(
        [](const std::vector<Tensor> &c, const Step &s) {
          const Tensor y = c[0] * s.gain + s.offset;
          return std::tuple(std::vector{y, c[1] + 1}, std::map<std::string, Tensor>{{"y", y}});
        },
        std::vector{tensor(1.f), tensor(0)}, Step{gains, offsets});
    return ys.at("y") + last[0] + cast(last[1], f32);
  };
  EXPECT_EQ(both(f, tensor({2.f, 3.f}), tensor({1.f, -1.f})).to_vector<float>(), (Floats{13, 18}));
}

TEST(Scan, Errors) {
  const auto add = [](const Tensor &c, const Tensor &x) { return std::pair(c + x, c); };
  EXPECT_THROWS(scan(add, 0.f, tensor(1.f)), ShapeError,
                "scan: tensor 0 of what it goes along is a scalar");
  const auto pairs = [](const Tensor &c, const std::pair<Tensor, Tensor> &x) {
    return std::pair(c + x.first, c);
  };
  EXPECT_THROWS(scan(pairs, 0.f, std::pair(zeros({2}), zeros({3}))), ShapeError,
                "scan: the first sizes differ: tensor 1 has shape (3,), but another has 2 slices");
  EXPECT_THROWS(
      scan(add, 0, zeros({2})), DTypeError,
      "scan: loop variable 0 is i32() before the loop, but f32() after an iteration: it must "
      "keep its dtype");
}

/// Branches and loops in each other, deeper than one function holds while buffers are assigned.
Tensor deep(const Tensor &x, const Variable &v, int depth) {
  if (depth == 0) return x * 2;
  return cond(
      sum(x) > depth,
      [&] {
        return for_loop(
            2,
            [&](const Tensor &i, const Tensor &y) {
              v.assign_add(i);
              print("depth", depth, "iteration", i);
              return deep(y + 1, v, depth - 1);
            },
            x);
      },
      [&] { return x - 1; });
}

TEST(ControlFlow, DeepNests) {
  Lines lines[2];
  for (const bool traced : {false, true}) {
    const Variable v(0, "v");
    const auto f = [&](const Tensor &x) { return deep(x, v, 7); };
    Printed printed;
    const Tensor y = traced ? function(f)(tensor({3.f, 5.f})) : f(tensor({3.f, 5.f}));
    EXPECT_EQ(v.value().item<int>(), 127);
    EXPECT_GT(sum(y).item<float>(), 1e30f);
    lines[traced] = printed.take();
  }
  EXPECT_EQ(lines[0].size(), 254u);
  EXPECT_EQ(lines[0], lines[1]);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

// EffectCasesTest.cpp has more.
TEST(ControlFlowEffects, LoopsAssignAndPrintInEveryIteration) {
  for (const bool traced : {false, true}) {
    const Variable v(0, "v");
    const auto work = [&](const Tensor &n) {
      for_loop(n, [&](const Tensor &i) {
        v.assign_add(i);
        if_(i % 2 == 1, [&] { print("iteration", i, "sum", v.value()); });
      });
      while_loop([&] { return v.value() < 100; }, [&] { v.assign(v * 2); });
      return v.value();
    };
    Printed printed;
    const Tensor result = traced ? function(work)(tensor(6)) : work(tensor(6));
    EXPECT_EQ(result.item<int>(), 120);
    EXPECT_EQ(printed.take(),
              (Lines{"iteration 1 sum 1", "iteration 3 sum 6", "iteration 5 sum 15"}));
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Expects the same error from values and from a trace.
#define EXPECT_BOTH_THROW(f, Type, words, ...)                                                     \
  EXPECT_THROWS(static_cast<void>(f(__VA_ARGS__)), Type, words);                                   \
  EXPECT_THROWS(static_cast<void>(function(f)(__VA_ARGS__)), Type, words)

TEST(ControlFlowErrors, ConditionsAreBoolScalars) {
  const auto number = [](const Tensor &x) { return cond(x, [] { return 1; }, [] { return 2; }); };
  EXPECT_BOTH_THROW(number, DTypeError,
                    "cond: the condition must be a bool scalar, but it is f32()", tensor(1.f));
  const auto many = [](const Tensor &x) { if_(x > 0, [] {}); };
  EXPECT_BOTH_THROW(many, ShapeError,
                    "if_: the condition must be a bool scalar, but it is bool(2,)",
                    tensor({1.f, 2.f}));
  const auto loop = [](const Tensor &x) {
    return while_loop([](const Tensor &s) { return s; }, [](const Tensor &s) { return s + 1; }, x);
  };
  EXPECT_BOTH_THROW(loop, DTypeError,
                    "while_loop: the condition must be a bool scalar, but it is i32()", tensor(1));
}

TEST(ControlFlowErrors, IndicesAndBoundsAreIntegerScalars) {
  const auto pick = [](const Tensor &i) {
    return switch_case(i, [] { return 1; }, [] { return 2; });
  };
  EXPECT_BOTH_THROW(pick, DTypeError,
                    "switch_case: the index must be an integer scalar, but it is f32()",
                    tensor(1.f));
  const auto iterations = [](const Tensor &n) {
    return for_loop(n, [](const Tensor &, const Tensor &s) { return s; }, 0);
  };
  EXPECT_BOTH_THROW(iterations, ShapeError,
                    "for_loop: the stop must be an integer scalar, but it is i32(2,)",
                    tensor({1, 2}));
  EXPECT_THROWS(for_loop({0, 5, 0}, [](const Tensor &) {}), ValueError, "for_loop: the step is 0");
}

TEST(ControlFlowErrors, BranchesAgreeInDTypeAndRank) {
  auto dtypes = function([](const Tensor &p, const Tensor &x) {
    return cond(p, [&] { return x; }, [&] { return cast(x, i32); });
  });
  EXPECT_THROWS(static_cast<void>(dtypes(tensor(true), tensor({1.f}))), DTypeError,
                "cond: tensor 0 of the result is f32(1,) in branch 0, but i32(1,) in branch 1: "
                "branches must agree in dtype");
  auto ranks = function([](const Tensor &p, const Tensor &x) {
    return cond(p, [&] { return x; }, [&] { return sum(x); });
  });
  EXPECT_THROWS(static_cast<void>(ranks(tensor(true), tensor({1.f}))), ShapeError,
                "cond: tensor 0 of the result is f32(1,) in branch 0, but f32() in branch 1: "
                "branches may differ in sizes, not in rank");
  auto structures = function([](const Tensor &p, const Tensor &x) {
    return cond(p, [&] { return std::vector{x}; }, [&] { return std::vector{x, x}; });
  });
  EXPECT_THROWS(static_cast<void>(structures(tensor(true), tensor({1.f}))), ValueError,
                "cond: a branch returns another structure than before: the same containers and "
                "keys, as many tensors, and the same other values are wanted");
}

TEST(ControlFlowErrors, LoopVariablesKeepDTypeAndRank) {
  const auto dtypes = [](const Tensor &x) {
    return for_loop(3, [](const Tensor &, const Tensor &s) { return s * 0.5; }, x);
  };
  EXPECT_BOTH_THROW(
      dtypes, DTypeError,
      "for_loop: loop variable 0 is i32() before the loop, but f32() after an iteration: it "
      "must keep its dtype",
      tensor(1));
  const auto ranks = [](const Tensor &x) {
    return while_loop([](const Tensor &s, const Tensor &) { return sum(s) < 9; },
                      [](const Tensor &s, const Tensor &t) { return std::tuple(s + 1, s); }, x,
                      1.f);
  };
  EXPECT_BOTH_THROW(ranks, ShapeError,
                    "while_loop: loop variable 1 is f32() before the loop, but f32(2,) after an "
                    "iteration: it may change in sizes, not in rank",
                    tensor({1.f, 2.f}));
  const auto structures = [](const Tensor &x) {
    return for_loop(
        2, [](const Tensor &, std::vector<Tensor> s) { return s.push_back(s[0]), s; },
        std::vector{x});
  };
  EXPECT_BOTH_THROW(structures, ValueError,
                    "for_loop: the body returns another structure than before: the same containers "
                    "and keys, as many tensors, and the same other values are wanted",
                    tensor(1));
}

TEST(ControlFlowErrors, TensorsOfABodyStayInIt) {
  auto f = function([](const Tensor &x) {
    Tensor leaked;
    if_(sum(x) > 0, [&] { leaked = x + 1; });
    return leaked + 1;
  });
  EXPECT_THROWS(
      static_cast<void>(f(tensor({1.f}))), StateError,
      "function: a tensor created inside a branch or a loop's body is used outside of it; "
      "return it from there instead");
}

//===----------------------------------------------------------------------===//
// Under a tape
//===----------------------------------------------------------------------===//

TEST(ControlFlowGradients, ValuesAreRecordedThroughControlFlow) {
  GradientTape tape;
  const Tensor x = tensor(3.f);
  tape.watch(x);
  const Tensor y = for_loop(3, [&](const Tensor &, const Tensor &s) { return s * x; }, 1.f);
  EXPECT_EQ(tape.gradient(y, {x})[0].item<float>(), 27);
}

TEST(ControlFlowGradients, EffectsUnderATapeInATrace) {
  const Variable w(2.f, "w");
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    const Tensor loss = square(w * x);
    if_(loss > 10, [&] { print("loss", loss); });
    return tape.gradient(loss, {w})[0];
  });
  Printed printed;
  EXPECT_EQ(step(tensor(3.f)).item<float>(), 36);
  EXPECT_EQ(step(tensor(1.f)).item<float>(), 4);
  EXPECT_EQ(printed.take(), (Lines{"loss 36"}));
}

TEST(ControlFlow, NothingThatIsUndefinedComesOutOfBodies) {
  const Tensor x = ones({2});
  const auto refused = [](std::string_view name, const auto &run) {
    const std::string words = std::string(name) + ": a tensor that a body returns is undefined";
    EXPECT_THROWS(static_cast<void>(run(ones({2}))), ValueError, words);
    EXPECT_THROWS(static_cast<void>(function(run)(ones({2}))), ValueError, words);
  };
  refused("cond",
          [](Tensor t) { return cond(sum(t) > 0, [] { return Tensor(); }, [&] { return t; }); });
  refused("switch_case",
          [](Tensor t) { return switch_case(0, [] { return Tensor(); }, [&] { return t; }); });
  refused("scan", [](Tensor t) {
    return scan([](Tensor c, Tensor) { return std::pair(c, Tensor()); }, 0.F, t).first;
  });
}

// The first power of two above n: the loop has no condition of its own.
TEST(ControlFlow, WhileLoopsBreak) {
  const auto f = [](const Tensor &n) {
    auto [power, steps] = while_loop([](const Tensor &, const Tensor &) { return true; },
                                     [&](const Tensor &power, const Tensor &steps) {
                                       return break_if(power * 2 > n, power * 2, steps + 1);
                                     },
                                     1, 0);
    return power * 100 + steps;
  };
  EXPECT_EQ(both(f, tensor(1)).item<int>(), 201);
  EXPECT_EQ(both(f, tensor(100)).item<int>(), 12807);
}

TEST(ControlFlow, ABrokenLoopDoesNotAskItsConditionAgain) {
  const auto f = [](const Tensor &x) {
    Variable asked(tensor(0));
    const Tensor y = while_loop(
        [&](const Tensor &y) {
          asked.assign_add(1);
          return y < 10;
        },
        [](const Tensor &y) { return break_if(y + 1 >= 3, y + 1); }, x);
    return y * 100 + asked;
  };
  EXPECT_EQ(f(tensor(0)).item<int>(), 303);
  EXPECT_EQ(f(tensor(20)).item<int>(), 2001);
}

TEST(ControlFlow, ForLoopsBreakAndContinue) {
  // The sum of the odd numbers below n, until it exceeds 20.
  const auto f = [](const Tensor &n) {
    return for_loop(
        n,
        [](const Tensor &i, const Tensor &sum) {
          return cond(
              i % 2 == 0, [&] { return break_if(false, sum); },
              [&] { return break_if(sum + i > 20, sum + i); });
        },
        0);
  };
  for (const int n : {0, 1, 4, 9, 10, 30}) {
    int expected = 0;
    for (int i = 0; i < n; ++i) {
      if (i % 2 == 0) continue;
      expected += i;
      if (expected > 20) break;
    }
    EXPECT_EQ(both(f, tensor(n)).item<int>(), expected) << n;
  }
}

TEST(ControlFlow, BreakingLoopsCountToTheEndsOfI64) {
  for (const bool stop : {false, true}) {
    const auto count = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
      const auto f = [&](const Tensor &x) {
        return for_loop(
            {from, to, step},
            [&](const Tensor &, const Tensor &n) { return break_if(stop, n + 1); }, x);
      };
      return both(f, tensor(0)).item<int>();
    };
    const int all = stop ? 1 : 2;
    EXPECT_EQ(count(INT64_MAX - 5, INT64_MAX, 3), all);
    EXPECT_EQ(count(INT64_MIN + 5, INT64_MIN, -3), all);
    EXPECT_EQ(count(INT64_MIN, INT64_MIN + 2, 1), all);
    EXPECT_EQ(count(INT64_MIN, INT64_MAX, INT64_MAX), stop ? 1 : 3);
    EXPECT_EQ(count(3, 3, 1), 0);
  }
}

TEST(ControlFlow, LoopsThatBreakAreDifferentiated) {
  // x^(2^k), the first that is at least 100.
  const auto f = [](const Tensor &x) {
    return for_loop(
        50, [](const Tensor &, const Tensor &y) { return break_if(y * y >= 100, y * y); }, x);
  };
  const Tensor x = tensor(2.0);
  EXPECT_EQ(grad(f)(x).item<double>(), 8 * 128.0);
  EXPECT_EQ(grad(function(f))(x).item<double>(), 8 * 128.0);
  EXPECT_EQ(function(grad(f))(x).item<double>(), 8 * 128.0);
}

TEST(ControlFlow, BreakIfWantsABool) {
  const auto f = [](const Tensor &x) {
    return for_loop(3, [](const Tensor &i, const Tensor &y) { return break_if(i, y); }, x);
  };
  EXPECT_THROWS(f(tensor(1)), DTypeError,
                "break_if: the condition must be a bool scalar, but it is i32()");
  EXPECT_THROWS(function(f)(tensor(1)), DTypeError,
                "break_if: the condition must be a bool scalar, but it is i32()");
}

} // namespace
} // namespace weft
