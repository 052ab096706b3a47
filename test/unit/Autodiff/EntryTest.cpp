// Compiled functions called under tapes: one entry each, whose derivative is compiled as well.
#include "../Function/Printed.h"
#include "../Testing.h"

#include <atomic>
#include <cmath>
#include <thread>

#include "Autodiff/Tape.h"
#include "Near.h"
#include "Ops/Interpreter.h"
#include "Samples.h"
#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

Tensor gradient_by_one(GradientTape &tape, const GradientTargets &targets,
                       const GradientSource &source, const GradientOptions &options = {}) {
  return tape.gradient(targets, {source}, options)[0];
}

Tensor jacobian_by_one(GradientTape &tape, const Tensor &target, const GradientSource &source,
                       const JacobianOptions &options = {}) {
  return tape.jacobian(target, {source}, options)[0];
}

TEST(EntryGradient, TheCallableIsTracedOnceAndNotRunByTheTape) {
  int runs = 0;
  const auto f = function([&runs](const Tensor &x, const Tensor &w) {
    ++runs;
    return sum(tanh(matmul(x, w)));
  });
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}), w = tensor({{0.5}, {-0.1}});
  for (int i = 0; i < 3; ++i) {
    GradientTape tape;
    tape.watch(w);
    const auto dw = gradient_by_one(tape, f(x + i, w), w);
    GradientTape direct;
    direct.watch(w);
    expect_near(dw, gradient_by_one(direct, sum(tanh(matmul(x + i, w))), w).to_vector<double>());
  }
  EXPECT_EQ(runs, 1);
}

TEST(EntryGradient, OfWhatIsWatchedOnly) {
  int runs = 0;
  const auto f = function([&runs](const Tensor &x, const Tensor &y) {
    ++runs;
    return x * x * y;
  });
  const Tensor x = tensor(3.0), y = tensor(5.0);
  {
    GradientTape tape; // watches nothing
    EXPECT_EQ(f(x, y).item<double>(), 45);
  }
  GradientTape tape;
  tape.watch(x);
  const Tensor r = f(x, y);
  const auto [dx, dy] = tape.gradient(r, {x, y});
  EXPECT_EQ(dx.item<double>(), 30);
  EXPECT_FALSE(dy.defined());
  GradientTape both;
  both.watch(x);
  both.watch(y);
  const auto [bx, by] = both.gradient(f(x, y), {x, y});
  EXPECT_EQ(bx.item<double>(), 30);
  EXPECT_EQ(by.item<double>(), 9);
  EXPECT_EQ(runs, 1);
}

TEST(EntryGradient, AnOperandThatOnlyOtherResultsDependOnIsUnconnected) {
  const auto f = function([](const Tensor &x, const Tensor &y) {
    return std::tuple(x * 2, y * 3, cast(x, i32), stop_gradient(y) * x);
  });
  const Tensor x = tensor(1.0), y = tensor(2.0);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  const auto [a, b, c, d] = f(x, y);
  EXPECT_EQ(gradient_by_one(tape, a, x).item<double>(), 2);
  EXPECT_FALSE(gradient_by_one(tape, a, y).defined());
  EXPECT_FALSE(gradient_by_one(tape, b, x).defined());
  EXPECT_EQ(gradient_by_one(tape, b, y).item<double>(), 3);
  EXPECT_FALSE(gradient_by_one(tape, c, x).defined());
  EXPECT_EQ(gradient_by_one(tape, d, x).item<double>(), 2);
  EXPECT_FALSE(gradient_by_one(tape, d, y).defined());
  EXPECT_EQ(gradient_by_one(tape, a, y, {.unconnected = Unconnected::zero}).item<double>(), 0);
  // Several targets meet in one pullback.
  const auto [dx, dy] = tape.gradient({a, b, d}, {x, y});
  EXPECT_EQ(dx.item<double>(), 4);
  EXPECT_EQ(dy.item<double>(), 3);
}

TEST(EntryGradient, ByVariablesWhereverTheyAreRead) {
  int runs = 0;
  const Variable v(tensor({2.0, 3.0}), "v"), fixed(tensor(7.0), "fixed", /*trainable=*/false);
  const auto inner = function([v](const Tensor &x) { return x * v; });
  const auto f = function([&runs, v, fixed, inner](const Tensor &x) {
    ++runs;
    return sum(inner(x) * v * fixed);
  });
  const Tensor x = tensor({1.0, 10.0});
  GradientTape tape;
  const Tensor y = f(x) + sum(v.value());
  // 7 x v^2 + v, and the assignment comes too late to change that.
  v.assign(tensor({0.0, 0.0}));
  expect_near(gradient_by_one(tape, y, v), {29, 421});
  GradientTape unwatched;
  EXPECT_FALSE(gradient_by_one(unwatched, f(x), fixed).defined());
  EXPECT_EQ(runs, 1);
}

TEST(EntryGradient, ByVariablesOfTheArguments) {
  const auto f = function([](const Variable &a, const Variable &b) { return a * a * b; });
  const Variable p(tensor(3.0), "p"), q(tensor(5.0), "q");
  GradientTape tape({.persistent = true});
  const Tensor one = f(p, q), other = f(q, p), same = f(p, p);
  expect_near(gradient_by_one(tape, one, p), {30});
  expect_near(gradient_by_one(tape, one, q), {9});
  expect_near(gradient_by_one(tape, other, p), {25});
  expect_near(gradient_by_one(tape, same, p), {27});
}

TEST(EntryGradient, EffectsHappenOnceAndInTheForwardPart) {
  const Variable calls(tensor(0.0), "calls"), w(tensor(3.0), "w");
  const auto f = function([calls, w](const Tensor &x) {
    calls.assign_add(1.0);
    print("x is {}", x);
    const Tensor y = w * w * x;
    w.assign(w + 1.0); // what is assigned has no gradient; what is read later does
    return y + w;
  });
  GradientTape tape;
  const Tensor x = tensor(2.0);
  tape.watch(x);
  Printed printed;
  const Tensor y = f(x);
  EXPECT_EQ(printed.take(), (Lines{"x is 2"}));
  EXPECT_EQ(y.item<double>(), 22);
  const auto [dx, dw] = tape.gradient(y, {x, w});
  EXPECT_EQ(dx.item<double>(), 9);
  EXPECT_EQ(dw.item<double>(), 13); // 2 w x + 1
  EXPECT_EQ(printed.take(), Lines());
  EXPECT_EQ(calls.value().item<double>(), 1);
  EXPECT_EQ(w.value().item<double>(), 4);
}

TEST(EntryGradient, ControlFlowWithUnknownIterationsAndSizes) {
  int runs = 0;
  const auto f = function(
      [&runs](const Tensor &x, const Tensor &n) {
        ++runs;
        const Tensor last = std::get<1>(while_loop(
            [&](const Tensor &i, const Tensor &) { return i < n; },
            [](const Tensor &i, const Tensor &h) {
              return std::tuple(i + 1,
                                cond(i % 2 == 0, [&] { return sin(h); }, [&] { return h * h; }));
            },
            cast(0, i64), x));
        return sum(last);
      },
      {.signature = {spec(f64, {unknown}), spec(i64, {})}});
  for (const int size : {1, 3}) {
    for (const int iterations : {0, 1, 5}) {
      const Tensor x = test::values({size}, 0.5, 1.5, size);
      GradientTape tape;
      tape.watch(x);
      const Tensor dx = gradient_by_one(tape, f(x, tensor<std::int64_t>(iterations)), x);
      GradientTape direct;
      direct.watch(x);
      Tensor h = x * 1;
      for (int i = 0; i < iterations; ++i) h = i % 2 == 0 ? sin(h) : h * h;
      expect_near(dx, gradient_by_one(direct, sum(h), x).to_vector<double>());
    }
  }
  EXPECT_EQ(runs, 1);
}

TEST(EntryGradient, LoopsKeepWhatTheFunctionAsksFor) {
  const Tensor x = tensor({0.5, 1.5});
  const auto slope = [&](const std::string &checkpoint) {
    const auto f = function(
        [](const Tensor &start) {
          return for_loop(100, [](const Tensor &, const Tensor &h) { return sin(h) * 1.1; }, start);
        },
        {.checkpoint = checkpoint});
    GradientTape tape;
    tape.watch(x);
    return gradient_by_one(tape, f(x), x).to_vector<double>();
  };
  const Doubles all = slope("none");
  for (const char *checkpoint : {"sqrt", "binomial<3>", "bytes<64>"})
    EXPECT_EQ(slope(checkpoint), all) << checkpoint;
}

TEST(EntryGradient, HigherOrders) {
  int runs = 0;
  const auto f = function([&runs](const Tensor &x) {
    ++runs;
    return x * x * x * x;
  });
  const Tensor x = tensor(2.0);
  EXPECT_EQ(grad(f)(x).item<double>(), 32);
  EXPECT_EQ(grad(grad(f))(x).item<double>(), 48);
  EXPECT_EQ(grad(grad(grad(f)))(x).item<double>(), 48);
  EXPECT_EQ(runs, 1);
  // Through a gradient that is used in a function again.
  EXPECT_EQ(grad(function([&](const Tensor &t) { return grad(f)(t) * t; }))(x).item<double>(), 128);

  const auto g = function([](const Tensor &t) { return sum(exp(t) * cumsum(t)); });
  const auto direct = [](const Tensor &t) { return sum(exp(t) * cumsum(t)); };
  const Tensor t = tensor({0.5, -1.0, 2.0}), v = tensor({1.0, 2.0, -1.0});
  expect_near(hessian(g)(t), hessian(direct)(t).to_vector<double>());
  const auto [value, tangent] = jvp(grad(g), std::tuple(t), std::tuple(v));
  const auto [same_value, same_tangent] = jvp(grad(direct), std::tuple(t), std::tuple(v));
  expect_near(value, same_value.to_vector<double>());
  expect_near(tangent, same_tangent.to_vector<double>());
}

TEST(EntryGradient, SecondDerivativesByVariablesSeeTheOps) {
  const Variable v(tensor(3.0), "v");
  const auto f = function([v](const Tensor &x) { return v * v * v * x; });
  GradientTape outer;
  Tensor slope;
  {
    GradientTape inner;
    slope = gradient_by_one(inner, f(tensor(2.0)), v);
  }
  EXPECT_EQ(slope.item<double>(), 54);
  EXPECT_EQ(gradient_by_one(outer, slope, v).item<double>(), 36);
}

TEST(EntryGradient, Jacobians) {
  const auto f = function([](const Tensor &x) { return std::tuple(x * x, cumsum(x)); });
  const Tensor x = tensor({1.0, 2.0, 3.0});
  for (const bool vectorize : {true, false}) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const auto [squares, sums] = f(x);
    expect_near(jacobian_by_one(tape, squares, x, {.vectorize = vectorize}),
                {2, 0, 0, 0, 4, 0, 0, 0, 6});
    expect_near(jacobian_by_one(tape, sums, x, {.vectorize = vectorize}),
                {1, 0, 0, 1, 1, 0, 1, 1, 1});
  }
}

TEST(EntryGradient, CapturedTensorsCount) {
  int runs = 0;
  const Tensor large = tensor({1.0, 2.0}), scalar = tensor(3.0);
  const auto f = function([&runs, large, scalar](const Tensor &x) {
    ++runs;
    return sum(x * large * scalar * scalar);
  });
  const Tensor x = tensor({5.0, 7.0});
  GradientTape tape({.persistent = true});
  tape.watch(large);
  expect_near(gradient_by_one(tape, f(x), large), {45, 63});
  EXPECT_EQ(runs, 1);
  // A scalar is a constant in the code: its derivative needs the ops.
  tape.watch(scalar);
  expect_near(gradient_by_one(tape, f(x), scalar), {114});
  EXPECT_EQ(runs, 2);
}

TEST(EntryGradient, GradientsOfItsOwnInside) {
  const auto clipped = custom_gradient([](const Tensor &x) {
    return Pullback{x * 1, [](const Tensor &d) { return minimum(d, 1.0); }};
  });
  const auto f = function([&](const Tensor &x) { return clipped(x) * 10; });
  const auto around = function([&](const Tensor &x) { return f(x) + x; });
  EXPECT_EQ(grad(f)(tensor(1.0)).item<double>(), 1);
  EXPECT_EQ(grad(around)(tensor(1.0)).item<double>(), 2);
  const auto again = function(recompute([](const Tensor &x) { return x * x; }));
  EXPECT_EQ(grad(again)(tensor(3.0)).item<double>(), 6);
}

TEST(EntryGradient, AFailedCallLeavesNothing) {
  const Variable v(tensor(1.0), "v");
  const auto f = function([v](const Tensor &x) {
    v.assign_add(1.0);
    check(x > 0, "x must be positive");
    v.assign_add(10.0);
    return x * v;
  });
  GradientTape tape;
  EXPECT_THROWS(f(tensor(-1.0)), AssertionError,
                "assertion failed in function: x must be positive");
  EXPECT_EQ(v.value().item<double>(), 2);
  EXPECT_EQ(gradient_by_one(tape, f(tensor(3.0)), v).item<double>(), 3);
}

TEST(EntryGradient, ASecondDerivativeThatComesTooLateIsRefused) {
  const auto f = function([](const Tensor &x) { return x * x; });
  const Tensor x = tensor({3.0}), u = tensor({1.0});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  GradientTape late;
  late.watch(u);
  EXPECT_THROWS(gradient_by_one(tape, y, x, {.output_gradients = {u}}), StateError,
                "function: a tape watches the cotangents of a call that it did not see; make that "
                "tape before the call, and let the function neither use variables nor have "
                "effects");
}

TEST(EntryGradient, StoppedTapesRunThePlainCode) {
  const auto f = function([](const Tensor &x) { return x * x; });
  const Tensor x = tensor(3.0);
  GradientTape tape;
  tape.watch(x);
  const Tensor unseen = [&] {
    const auto stopped = tape.stop_recording();
    return f(x);
  }();
  const Tensor seen = f(x);
  EXPECT_EQ(gradient_by_one(tape, unseen + seen, x).item<double>(), 6);
}

TEST(EntryGradient, FromManyThreads) {
  std::atomic<int> runs = 0;
  const Variable w(tensor({1.0, 2.0}), "w");
  const auto f = function([&runs, w](const Tensor &x) {
    ++runs;
    return sum(x * w * w);
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        GradientTape tape;
        const double a = t * 100 + i;
        const Doubles dw = gradient_by_one(tape, f(tensor({a, a})), w).to_vector<double>();
        wrong += dw != Doubles{2 * a, 4 * a};
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(runs, 1);
}

//===----------------------------------------------------------------------===//
// Every op
//===----------------------------------------------------------------------===//

class EntryOps : public testing::TestWithParam<test::Sample> {};

/// The gradients of the op's weighted result by its floating operands.
template <class F>
std::vector<Tensor> gradients(const test::Sample &sample, const F &f) {
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const Tensor &operand : sample.operands)
    if (is_floating(operand.dtype())) {
      tape.watch(operand);
      sources.push_back(operand);
    }
  const Tensor y = f(sample.operands);
  const Tensor weights = test::values(y.shape(), 0.5, 1.5, 7);
  return tape.gradient(y, sources,
                       {.output_gradients = {weights}, .unconnected = Unconnected::zero});
}

TEST_P(EntryOps, GradientsAreThoseOfTheTape) {
  const test::Sample &sample = GetParam();
  int runs = 0;
  const auto op = [&](const std::vector<Tensor> &operands) {
    ++runs;
    return dispatch_all(sample.op, operands, sample.attrs).front();
  };
  const std::vector<Tensor> direct = gradients(sample, op),
                            compiled = gradients(sample, function(op));
  EXPECT_EQ(runs, 2);
  for (std::size_t i = 0; i < direct.size(); ++i)
    expect_near(compiled[i], direct[i].to_vector<double>());
}

INSTANTIATE_TEST_SUITE_P(All, EntryOps, testing::ValuesIn(test::differentiable_samples()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace weft
