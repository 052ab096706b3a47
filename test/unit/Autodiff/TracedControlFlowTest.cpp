// Gradients through control flow inside traced functions: equal to those of the same source on
// values, where the tape sees every op, and to closed forms.
#include "../Function/Printed.h"
#include "../Testing.h"

#include <algorithm>
#include <cmath>

#include "Near.h"
#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

/// The gradient of the sum of f(x), eager; expects the same of the traced function, also where
/// sizes are unknown.
template <class F>
Doubles slope(const F &f, const Tensor &x) {
  const auto by_x = [&](const Tensor &at) {
    return grad([&](const Tensor &t) { return sum(f(t)); })(at);
  };
  const Doubles eager = by_x(x).template to_vector<double>();
  expect_near(function(by_x)(x), eager);
  const TensorType open{f64, Shape(Ints(x.shape().size(), unknown))};
  expect_near(function(by_x, {.signature = {open}})(x), eager);
  return eager;
}

TEST(TracedGradient, G6_Branches) {
  const auto step = [](const Tensor &x, const Tensor &a, const Tensor &b) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(a);
    tape.watch(b);
    const Tensor r = cond(x > 0, [&] { return a * 1; }, [&] { return b * b; });
    const auto [dx, da, db] = tape.gradient(r, {x, a, b}, {.unconnected = Unconnected::zero});
    return std::tuple(dx, da, db);
  };
  const auto traced = function(step);
  for (const double sign : {1.0, -1.0}) {
    const auto [dx, da, db] = traced(tensor(sign), tensor(2.0), tensor(2.0));
    EXPECT_EQ(dx.item<double>(), 0);
    EXPECT_EQ(da.item<double>(), sign > 0 ? 1 : 0);
    EXPECT_EQ(db.item<double>(), sign > 0 ? 0 : 4);
  }
}

TEST(TracedGradient, BudgetsKeepLessAndChangeNoBit) {
  const auto slope_of = [](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &t) {
      return sum(std::get<1>(while_loop(
          [&](const Tensor &i, const Tensor &) { return i < n; },
          [&](const Tensor &i, const Tensor &h) { return std::tuple(i + 1, sin(h * t) * t); }, 0,
          t)));
    })(x);
  };
  const Tensor x = tensor({0.9, 1.3});
  const auto all = function(slope_of);
  const auto has = [&](const CompileReport &report, SavedNote::Form form) {
    return std::ranges::any_of(report.saved,
                               [&](const SavedNote &note) { return note.form == form; });
  };
  EXPECT_TRUE(has(all.report(x, tensor(3)), SavedNote::Form::stack));
  EXPECT_FALSE(has(all.report(x, tensor(3)), SavedNote::Form::snapshot));
  for (const char *budget : {"sqrt", "binomial<1>", "binomial<4>", "bytes<40>"}) {
    SCOPED_TRACE(budget);
    const auto kept = function(slope_of, {.checkpoint = budget});
    const CompileReport report = kept.report(x, tensor(3));
    EXPECT_TRUE(has(report, SavedNote::Form::snapshot)) << report.saved_text();
    for (const int iterations : {0, 1, 2, 3, 50})
      EXPECT_EQ(kept(x, tensor(iterations)).to_vector<double>(),
                all(x, tensor(iterations)).to_vector<double>());
  }
}

TEST(TracedGradient, UnknownBudgets) {
  const auto f = [](const Tensor &x) { return x; };
  const auto words = [](const std::string &budget, const std::string &why) {
    return "f: the checkpoint budget \"" + budget + "\" " + why;
  };
  EXPECT_THROWS(static_cast<void>(function(f, {.name = "f", .checkpoint = "Sqrt"})), ValueError,
                words("Sqrt", "is unknown: there are none, sqrt, binomial<k> and bytes<n>"));
  const auto refused = [&](const std::string &budget, const std::string &why) {
    EXPECT_THROWS(static_cast<void>(function(f, {.name = "f", .checkpoint = budget})), ValueError,
                  words(budget, why));
  };
  refused("binomial", "is unknown: there are none, sqrt, binomial<k> and bytes<n>");
  refused("binomial<0>", "must be at least 1");
  refused("binomial<3", "is unknown: there are none, sqrt, binomial<k> and bytes<n>");
  refused("binomial<2.5>", "needs a whole number between < and >");
  refused("binomial<>", "needs a whole number between < and >");
  refused("bytes<-1>", "must be at least 1");
  refused("bytes<inf>", "is no finite number; to keep everything, say none");
  refused("bytes<-Infinity>", "is no finite number; to keep everything, say none");
  refused("bytes<nan>", "is no finite number; to keep everything, say none");
  refused("bytes<9223372036854775808>", "does not fit 64 bits; to keep everything, say none");
  refused("bytes<1e9>", "needs a whole number between < and >");
}

TEST(TracedGradient, Switches) {
  const auto f = [](const Tensor &x) {
    return switch_case(
        x[0].astype(i32), [&] { return x * x; }, [&] { return exp(x); }, [&] { return x; });
  };
  EXPECT_EQ(slope(f, tensor({0.5, 3.0})), (Doubles{1, 6}));
  EXPECT_EQ(slope(f, tensor({1.0, 0.0})), (Doubles{std::exp(1.0), 1}));
  EXPECT_EQ(slope(f, tensor({7.0, 3.0})), (Doubles{1, 1}));
}

TEST(TracedGradient, G15_While) {
  const auto f = [](const Tensor &x) {
    return std::get<1>(while_loop(
        [](const Tensor &i, const Tensor &) { return i < 3; },
        [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y * y); }, tensor(0), x));
  };
  EXPECT_EQ(slope(f, tensor({2.0})), (Doubles{1024}));
}

TEST(TracedGradient, G16_TripsAtRunTime) {
  const auto by_x = [](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &t) {
      return for_loop(n, [&](const Tensor &, const Tensor &y) { return y * t; }, t);
    })(x);
  };
  const auto traced = function(by_x);
  for (const int n : {0, 1, 5, 20})
    expect_near(traced(tensor(1.5), tensor(n)), {(n + 1) * std::pow(1.5, n)});
  EXPECT_EQ(traced.trace_count(), 1U);
}

TEST(TracedGradient, G17_NestedLoops) {
  const auto f = [](const Tensor &x) {
    return for_loop(
        3,
        [&](const Tensor &i, const Tensor &y) {
          return while_loop([](const Tensor &z) { return sum(abs(z)) < 50; },
                            [&](const Tensor &z) { return z * x + sin(z); }, y + i.astype(f64) * x);
        },
        x);
  };
  slope(f, tensor({1.5, 1.25}));
  slope(f, tensor({100.0, 1.0}));
}

TEST(TracedGradient, G17_SecondOrder) {
  const auto f = [](const Tensor &x) {
    return for_loop(3, [](const Tensor &, const Tensor &y) { return y * y; }, x);
  };
  const auto second = [&](const Tensor &x) {
    return grad([&](const Tensor &t) { return grad(f)(t); })(x);
  };
  expect_near(second(tensor(1.5)), {56 * std::pow(1.5, 6)});
  expect_near(function(second)(tensor(1.5)), {56 * std::pow(1.5, 6)});
}

TEST(TracedGradient, G18_BranchesOfOtherShapes) {
  const auto f = [](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return x * x; }, [&] { return sum(x, {.keepdims = true}) * 3; });
  };
  EXPECT_EQ(slope(f, tensor({1.0, 2.0})), (Doubles{2, 4}));
  EXPECT_EQ(slope(f, tensor({-1.0, -2.0})), (Doubles{3, 3}));
}

TEST(TracedGradient, ScanOfARecurrentCell) {
  const Variable w(tensor({{0.5, -0.25}, {0.125, 0.75}}), "w"), u(tensor({{1.0, 0.5}}), "u");
  const auto loss = [&](const Tensor &xs) {
    const auto cell = [&](const Tensor &h, const Tensor &x) {
      const Tensor next = tanh(matmul(h, w) + matmul(reshape(x, {1, 1}), u));
      return std::pair(next, sum(next));
    };
    const auto [last, all] = scan(cell, zeros({1, 2}, f64), xs);
    return sum(square(last)) + sum(all);
  };
  const auto step = [&](const Tensor &xs) {
    GradientTape tape;
    const auto [dw, du] = tape.gradient(loss(xs), {w, u});
    return std::pair(dw, du);
  };
  const Tensor xs = tensor({0.5, -1.0, 2.0, 0.25, 1.0});
  const auto [dw, du] = step(xs);
  const auto [traced_dw, traced_du] = function(step)(xs);
  expect_near(traced_dw, dw.to_vector<double>());
  expect_near(traced_du, du.to_vector<double>());
}

// Variables read inside, and assigned around.
TEST(TracedGradient, VariablesInLoops) {
  const Variable v(tensor(3.0), "v");
  const auto step = [&](const Tensor &x) {
    GradientTape tape;
    const Tensor y = for_loop(2, [&](const Tensor &, const Tensor &z) { return z * v; }, x);
    v.assign(10.0);
    const Tensor z = y * v;
    const Tensor slope = tape.gradient(z, {v})[0];
    v.assign(3.0);
    return slope;
  };
  // z = x v^2 w, by both reads: 2 x v w + x v^2.
  EXPECT_EQ(step(tensor(1.0)).item<double>(), 69);
  EXPECT_EQ(function(step)(tensor(1.0)).item<double>(), 69);
  const auto assigns = [&](const Tensor &x) {
    GradientTape tape;
    const Tensor y =
        for_loop(2, [&](const Tensor &, const Tensor &z) { return v.assign_add(1.0), z * v; }, x);
    return tape.gradient(y, {v})[0];
  };
  EXPECT_THROWS(function(assigns)(tensor(1.0)), StateError,
                "GradientTape: for_loop reads and assigns the variable 'v', which is watched; "
                "carry its value through as state and assign it afterwards, or stop recording");
}

// Effects of the loop happen once, and those of its derivative never.
TEST(TracedGradient, EffectsHappenOnce) {
  const Variable iterations(tensor(0), "iterations");
  const auto f = [&](const Tensor &x) {
    return while_loop([](const Tensor &y) { return y < 20; },
                      [&](const Tensor &y) {
                        iterations.assign_add(1);
                        print("y is", y);
                        check(y > 0, "y is positive");
                        return y * y;
                      },
                      x);
  };
  const auto by_x = function(grad(f));
  Printed printed;
  EXPECT_EQ(by_x(tensor(2.0)).item<double>(), 1024);
  EXPECT_EQ(printed.take(), (Lines{"y is 2", "y is 4", "y is 16"}));
  EXPECT_EQ(iterations.value().item<int>(), 3);
  EXPECT_THROW(by_x(tensor(-1.0)), AssertionError);
  EXPECT_EQ(iterations.value().item<int>(), 4);
}

// A second derivative runs the loop again, which must not be seen.
TEST(TracedGradient, SecondDerivativesRepeatNoEffects) {
  const Variable iterations(tensor(0), "iterations");
  const auto count = function([&] { iterations.assign_add(1); });
  const auto f = [&](const Tensor &x) {
    return for_loop(
        2,
        [&](const Tensor &i, const Tensor &y) {
          check(y > 0, "y is positive");
          cond(i == 1, [&] { print("y is", y), count(); }, [] {});
          return y * y;
        },
        x);
  };
  const auto second = function(grad(grad(f)));
  const auto third = function(grad(grad(grad(f))));
  Printed printed;
  EXPECT_EQ(second(tensor(2.0)).item<double>(), 48); // of x^4
  EXPECT_EQ(printed.take(), (Lines{"y is 4"}));
  EXPECT_EQ(iterations.value().item<int>(), 1);
  EXPECT_EQ(third(tensor(2.0)).item<double>(), 48);
  EXPECT_EQ(printed.take(), (Lines{"y is 4"}));
  EXPECT_EQ(iterations.value().item<int>(), 2);
  EXPECT_THROW(second(tensor(-1.0)), AssertionError);
  EXPECT_EQ(iterations.value().item<int>(), 2);

  // What it reads and assigns it cannot have twice.
  const Variable scale(tensor(1.0), "scale", /*trainable=*/false);
  const auto g = [&](const Tensor &x) {
    return for_loop(
        2, [&](const Tensor &, const Tensor &y) { return scale.assign_add(1.0), y * y * scale; },
        x);
  };
  EXPECT_THROWS(function(grad(grad(g)))(tensor(2.0)), StateError,
                "GradientTape: a second derivative in a traced function runs for_loop again, and "
                "so its assign_add; move that out of it, or differentiate on values");
}

// A second derivative has the values that variables had when the loop ran first, whether the tapes
// watch them or not.
TEST(TracedGradient, SecondDerivativesOfWhatIsAssignedLater) {
  const Variable w(tensor(2.0), "w"), v(tensor(2.0), "v", /*trainable=*/false), n(tensor(3), "n");
  const auto scaled = function([&](const Tensor &z) { return z * v; });
  for (const bool calls : {false, true}) {
    SCOPED_TRACE(calls ? "by a traced function" : "directly");
    const auto step = [&](const Tensor &x) {
      for (const Variable &each : {w, v}) each.assign(2.0);
      n.assign(3);
      GradientTape outer, inner;
      outer.watch(x);
      inner.watch(x);
      const Tensor y = for_loop(
          n, [&](const Tensor &, const Tensor &z) { return (calls ? scaled(z) : z * v) * w * x; },
          x);
      for (const Variable &each : {w, v}) each.assign(5.0);
      n.assign(1);
      const auto [dx, dw] = inner.gradient(y, {x, w});
      return std::tuple(y, dx, dw, outer.gradient(dx + dw, {x})[0]);
    };
    const auto expect = [](const auto &results) {
      const auto &[y, dx, dw, second] = results; // y = x^4 (v w)^3
      EXPECT_EQ(y.template item<double>(), 64);
      EXPECT_EQ(dx.template item<double>(), 256);
      EXPECT_EQ(dw.template item<double>(), 96);
      EXPECT_EQ(second.template item<double>(), 768 + 384);
    };
    expect(step(tensor(1.0)));
    expect(function(step)(tensor(1.0)));
  }
}

// A gradient inside of a loop by what the loop gets from around it, which is differentiated too.
TEST(TracedGradient, GradientsInsideLoops) {
  const auto cubes = [](const Tensor &z) { return sum(z * z * z); };
  const auto f = [&](const Tensor &x) {
    return for_loop(2, [&](const Tensor &, const Tensor &y) { return y + grad(cubes)(x); }, x * 0);
  };
  EXPECT_EQ(slope(f, tensor({1.0, 2.0})), (Doubles{12, 24}));
  const auto g = [&](const Tensor &x) {
    return cond(
        sum(x) > 0, [&] { return grad([&](const Tensor &z) { return sum(sin(x * z)); })(x); },
        [&] { return x; });
  };
  slope(g, tensor({0.5, 1.25}));
  // By a tensor that the trace captures.
  const Tensor held = tensor({0.5, 1.25});
  const auto h = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(held);
    const Tensor y =
        for_loop(2, [&](const Tensor &, const Tensor &y) { return y * grad(cubes)(held); }, x);
    return tape.gradient(y, {held})[0];
  };
  const Tensor x = tensor({1.0, 2.0});
  expect_near(function(h)(x), h(x).to_vector<double>());
}

// What iterations keep is of two sizes that are known at run time only.
TEST(TracedGradient, MatricesOfUnknownSizes) {
  const auto f = [](const Tensor &x) {
    return for_loop(3, [&](const Tensor &, const Tensor &y) { return sin(matmul(y, y)) * x; }, x);
  };
  slope(f, tensor({{0.5, 1.5}, {-0.25, 1.0}}));
}

// A training step over a loop, with the tape around it and others reading the same values.
TEST(TracedGradient, PersistentAndNestedTapes) {
  const auto f = [](const Tensor &x) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor y = for_loop(3, [&](const Tensor &, const Tensor &z) { return z * x; }, x);
    const Tensor z = y * y;
    const Tensor dy = tape.gradient(y, {x})[0];
    const Tensor dz = tape.gradient(z, {x})[0];
    return std::pair(dy, dz);
  };
  const auto [dy, dz] = function(f)(tensor(2.0));
  EXPECT_EQ(dy.item<double>(), 32);
  EXPECT_EQ(dz.item<double>(), 8 * 128);
}

TEST(TracedGradient, OfStopGradientAndIntegers) {
  const auto f = [](const Tensor &x) {
    return for_loop(
        2,
        [](const Tensor &, const Tensor &y) {
          return y * stop_gradient(y) + floor(y).astype(i32).astype(f64);
        },
        x);
  };
  slope(f, tensor({1.5, 2.5}));
}

// What is behind a slice is zeros, of a number that nobody may know yet (found by ./x fuzz grad,
// seed 33758).
TEST(TracedGradient, SlicesOfUnknownSizes) {
  const Tensor x = reshape(iota(f64, {20}) / 10, {4, 5});
  const auto f = [](const Tensor &t) {
    return square(slice(t, {1, 0}, {3, 5}, {1, 2})) + slice(sin(t), {0, 1}, {2, 4}, {1, 1});
  };
  slope(f, x);
  slope([&](const Tensor &t) { return grad([&](const Tensor &u) { return sum(f(u)); })(t); }, x);
  slope([](const Tensor &t) { return exp(slice(t, {1}, {1}, {1})); }, tensor({1.0, 2.0}));
}

// Where a part begins, ends, or what a row was, only run time knows (concatenate found by ./x fuzz
// grad, seed 102342).
TEST(TracedGradient, PartsOfUnknownSizes) {
  const Tensor x = reshape(iota(f64, {24}) / 10, {4, 6}), cube = reshape(x, {2, 3, 4});
  slope([](const Tensor &t) { return square(concatenate({t, sin(t), exp(t)}, {.axis = 1})); }, x);
  slope([](const Tensor &t) { return square(concatenate({ones({1, 6}, f64), t, t * t})); }, x);
  slope([](const Tensor &t) { return square(reshape(sin(t), {-1, 2})) * tensor({2.0, 3.0}); }, x);
  slope([](const Tensor &t) { return exp(reshape(t, {-1})) * iota(f64, {24}); }, cube);
  slope([](const Tensor &t) { return sin(pad(t, 1.5, {1, 0}, {2, 1}, {0, 2})); }, x);
  slope([](const Tensor &t) { return square(matmul(t, iota(f64, {4}))); }, cube);
  slope([](const Tensor &t) { return square(matmul(iota(f64, {3}), t)); }, cube);
  slope([](const Tensor &t) { return sum(reshape(t, {-1})) + sum(matmul(t, ones({2}, f64))); },
        zeros({3, 0, 2}, f64));
  slope(
      [](const Tensor &t) {
        return grad([](const Tensor &u) {
          return sum(sin(concatenate({reshape(u, {-1}), reshape(u * u, {-1})})));
        })(t);
      },
      x);
}

// A step against the gradient, by less and less until the value falls by rate times its square.
TEST(TracedGradient, G21_LineSearch) {
  const auto step_of = [](const auto &f) {
    return [=](const Tensor &x) {
      const auto [value, slope] = value_and_grad(f)(x);
      const Tensor start = value, direction = slope, norm = direction * direction;
      return while_loop([&](const Tensor &, const Tensor &at,
                            const Tensor &rate) { return at > start - rate * norm; },
                        [&](const Tensor &, const Tensor &, const Tensor &rate) {
                          const Tensor next = x - rate * direction;
                          return std::tuple(next, f(next), rate / 2);
                        },
                        x, start, 1.0);
    };
  };
  const auto expect = [](const auto &step, Doubles expected) {
    for (const bool traced : {false, true}) {
      SCOPED_TRACE(traced);
      const auto [x, value, rate] = traced ? function(step)(tensor(1.0)) : step(tensor(1.0));
      EXPECT_EQ((Doubles{x.template item<double>(), value.template item<double>(),
                         rate.template item<double>()}),
                expected);
    }
  };
  expect(step_of([](const Tensor &x) { return x * x; }), {0, 0, 0.25});
  // Where the gradient is 0 the loop does not run.
  expect(step_of([](const Tensor &x) { return square(x - 1); }), {1, 0, 1});
}

// A tape that is used once has no gradient inside a branch that it records as a whole: both
// branches are traced, and more than once.
TEST(TracedGradient, OfATapeInABranch) {
  const auto step = [](TapeOptions options) {
    return [=](const Tensor &x) {
      GradientTape tape(options);
      tape.watch(x);
      const Tensor y = x * x;
      return cond(x > 0, [&] { return tape.gradient(y, {x})[0]; }, [&] { return x; });
    };
  };
  EXPECT_EQ(step({})(tensor(3.0)).item<double>(), 6);
  EXPECT_THROWS(function(step({}))(tensor(3.0)), StateError,
                "GradientTape: gradient of a tape that is not persistent was called inside cond of "
                "a traced function, which the tape records as a whole; call it behind cond, or "
                "create the tape inside");
  EXPECT_EQ(function(step({.persistent = true}))(tensor(3.0)).item<double>(), 6);
  const auto stopped = [](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return while_loop([](const Tensor &y) { return y < 10; },
                      [&](const Tensor &y) {
                        tape.stop();
                        return y + x;
                      },
                      x);
  };
  EXPECT_THROW(function(stopped)(tensor(3.0)), StateError);
  const auto begun_anew = [](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return cond(x > 0, [&] { return tape.reset(), x * x; }, [&] { return x; });
  };
  EXPECT_THROW(function(begun_anew)(tensor(3.0)), StateError);
}

TEST(TracedGradient, NewtonsMethodAdjusts) {
  // The root of y^2 = x by Newton's method to convergence has the derivative 1 / (2 sqrt(x)).
  const auto root = [](const Tensor &x) {
    return while_loop([&](const Tensor &y) { return abs(y * y - x) > 1e-14; },
                      [&](const Tensor &y) { return (y + x / y) / 2; }, x);
  };
  const auto by_x = function(grad(root));
  for (const double x : {2.0, 9.0, 0.25})
    EXPECT_NEAR(by_x(tensor(x)).item<double>(), 1 / (2 * std::sqrt(x)), 1e-12);
}

} // namespace
} // namespace weft
