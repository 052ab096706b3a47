// Custom gradients and recomputation in traced functions: in control flow that the compiler
// differentiates, and in compiled functions under tapes.
#include "../Testing.h"
#include "Near.h"

#include <cmath>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

/// The derivative of a sum, on values; expects the same of the traced derivative, of the compiled
/// function under a tape, and where sizes are unknown.
template <class F>
Doubles slope(const F &f, const Tensor &x) {
  const auto total = [&](const Tensor &t) { return sum(f(t)); };
  const Doubles eager = grad(total)(x).template to_vector<double>();
  expect_near(function(grad(total))(x), eager);
  expect_near(grad(function(total))(x), eager);
  const TensorType open{f64, Shape(Ints(x.shape().size(), unknown))};
  expect_near(function(grad(total), {.signature = {open}})(x), eager);
  expect_near(grad(function(total, {.signature = {open}}))(x), eager);
  return eager;
}

/// The second derivative of the sum of f's, the same.
template <class F>
Doubles curvature(const F &f, const Tensor &x) {
  return slope(grad([&](const Tensor &t) { return sum(f(t)); }), x);
}

const auto log1pexp = custom_gradient([](const Tensor &x) {
  const Tensor e = exp(x);
  return Pullback{log(1 + e), [=](const Tensor &dy) { return dy * (1 - 1 / (1 + e)); }};
});

/// It has twice its derivative, so that one can tell whether it is asked.
const auto doubling = custom_gradient([](const Tensor &x) {
  return Pullback{sin(x), [x](const Tensor &dy) { return dy * 2 * cos(x); }};
});

TEST(TracedCustomGradient, InLoopsAndBranches) {
  const auto chain = [](const Tensor &x) {
    return for_loop(3, [](const Tensor &, const Tensor &y) { return doubling(y); }, x);
  };
  const double a = 0.7, b = std::sin(a), c = std::sin(b);
  EXPECT_NEAR(slope(chain, tensor({a}))[0], 8 * std::cos(a) * std::cos(b) * std::cos(c), 1e-12);
  curvature(chain, tensor({a, -0.3}));

  const auto nested = [](const Tensor &x) {
    return while_loop([](const Tensor &y) { return sum(y) < 10; },
                      [](const Tensor &y) {
                        return cond(
                            sum(y) > 4, [&] { return doubling(y) + y + 1; },
                            [&] { return square(doubling(y)) + y * 2; });
                      },
                      x);
  };
  slope(nested, tensor({0.4, 0.9}));
  curvature(nested, tensor({0.4, 0.9}));
}

// e^710 is infinite, and the derivative by the ops would be nan.
TEST(TracedCustomGradient, UsesWhatWasComputedInside) {
  const auto f = [](const Tensor &x) {
    return for_loop(2, [](const Tensor &, const Tensor &y) { return log1pexp(y) - y / 2; }, x);
  };
  slope(f, tensor({1.0, -3.0}));
  const auto once = [](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return log1pexp(x); }, [&] { return x; });
  };
  EXPECT_EQ(slope(once, tensor({710.0})), Doubles{1});
}

TEST(TracedCustomGradient, SeveralResultsAndNone) {
  const auto f = custom_gradient([](const Tensor &x, const Tensor &y, const Tensor &n) {
    return Pullback{std::tuple(x * y, n + 1, y),
                    [](const Tensor &d, const Tensor &, const Tensor &e) {
                      return std::tuple(d * 3 + sum(e), Tensor(), Tensor());
                    }};
  });
  const auto g = [&](const Tensor &x) {
    return std::get<0>(for_loop(
        3,
        [&](const Tensor &, const Tensor &s, const Tensor &n) {
          const auto [p, m, q] = f(s, s * 2, n);
          return std::tuple(p + q + m.astype(f64), m);
        },
        x, tensor(0)));
  };
  slope(g, tensor({0.1, 0.2}));
}

TEST(TracedCustomGradient, OfVariables) {
  const Variable w(tensor(3.0), "w");
  const auto f = custom_gradient(
      [&](const Tensor &x) {
        const Tensor v = w.value();
        return Pullback{x * v,
                        [=](const Tensor &dy) { return std::tuple(dy * v, sum(dy * x) * 10); }};
      },
      {.variables = {w}});
  const auto by_both = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = for_loop(2, [&](const Tensor &, const Tensor &t) { return f(t); }, x);
    const auto [dx, dw] = tape.gradient(sum(y), {x, w});
    return std::pair(dx, dw);
  };
  const Tensor x = tensor({1.0, 2.0});
  const auto [dx, dw] = by_both(x);
  EXPECT_EQ(dx.to_vector<double>(), (Doubles{9, 9}));
  EXPECT_EQ(dw.item<double>(), 10 * (3 + 6) + 10 * 3 * (1 + 2));
  const auto [tx, tw] = function(by_both)(x);
  EXPECT_EQ(tx.to_vector<double>(), dx.to_vector<double>());
  EXPECT_EQ(tw.item<double>(), dw.item<double>());
}

TEST(TracedCustomGradient, IsPartOfACompiledFunctionUnderATape) {
  int runs = 0, pulls = 0;
  const auto twice = custom_gradient([&](const Tensor &x) {
    return Pullback{x * 1, [&](const Tensor &dy) { return ++pulls, dy * 2; }};
  });
  const auto f = function([&](const Tensor &x) { return ++runs, twice(x) * x; });
  for (const double x : {1.0, 2.0, 3.0}) EXPECT_EQ(grad(f)(tensor(x)).item<double>(), 3 * x);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(pulls, 1);
  // By the ops it is 2 * dy: the factor 2 once more where the gradient goes through it.
  EXPECT_EQ(grad(grad(f))(tensor(5.0)).item<double>(),
            grad(grad([&](const Tensor &x) { return twice(x) * x; }))(tensor(5.0)).item<double>());
}

TEST(TracedCustomGradient, EffectsHappenWhereItIsPulled) {
  const Variable pulls(tensor(0.0), "pulls", false), factor(tensor(2.0), "factor", false);
  const auto counted = [](const Variable &count, const Variable &by) {
    return custom_gradient([=](const Tensor &x) {
      return Pullback{x * by / by, [=](const Tensor &dy) {
                        count.assign_add(1.0);
                        return dy * by;
                      }};
    });
  };
  const auto check_with = [&](const auto &call) {
    pulls.assign(0.0);
    factor.assign(2.0);
    const Tensor x = tensor(1.0);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = call(x);
    EXPECT_EQ(pulls.value().item<double>(), 0);
    factor.assign(5.0);
    EXPECT_EQ(tape.gradient(y, {x})[0].template item<double>(), 125);
    EXPECT_EQ(pulls.value().item<double>(), 3);
  };
  const auto thrice = [&](const Tensor &x, const Variable &count, const Variable &by) {
    const auto f = counted(count, by);
    return for_loop(2, [&](const Tensor &, const Tensor &y) { return f(y); }, f(x));
  };
  check_with([&](const Tensor &x) { return thrice(x, pulls, factor); });
  const auto captured = function([&](const Tensor &x) { return thrice(x, pulls, factor); });
  check_with([&](const Tensor &x) { return captured(x); });
  const auto passed = function(thrice);
  check_with([&](const Tensor &x) { return passed(x, pulls, factor); });
  // Without a tape the pullback is nothing.
  EXPECT_EQ(captured(tensor(1.5)).item<double>(), 1.5);
  EXPECT_EQ(passed(tensor(1.5), pulls, factor).item<double>(), 1.5);
  EXPECT_EQ(pulls.value().item<double>(), 3);
}

// Second derivatives see the variables that a pullback reads.
TEST(TracedCustomGradient, DerivativesOfThePullback) {
  const Variable w(tensor(3.0), "w");
  const auto f = custom_gradient([&](const Tensor &x) {
    return Pullback{x * 1, [&](const Tensor &dy) { return dy * w * w; }};
  });
  const auto mixed = [&](const Tensor &x) {
    GradientTape outer;
    GradientTape inner;
    inner.watch(x);
    const Tensor y = for_loop(2, [&](const Tensor &, const Tensor &t) { return f(t); }, x);
    const Tensor dx = inner.gradient(sum(y), {x})[0];
    return outer.gradient(sum(dx), {w})[0];
  };
  EXPECT_EQ(mixed(tensor(1.0)).item<double>(), 4 * 27);
  EXPECT_EQ(function(mixed)(tensor(1.0)).item<double>(), 4 * 27);
}

TEST(TracedCustomGradient, RefusesWrongGradientsWhenTraced) {
  const auto f = custom_gradient(
      [](const Tensor &x) {
        return Pullback{x * 2, [](const Tensor &dy) { return std::tuple(dy, dy); }};
      },
      {.name = "twice"});
  EXPECT_THROWS(function([&](const Tensor &x) { return f(x); })(tensor(1.0)), ValueError,
                "twice: the pullback must give 1 gradient, but it gave 2");
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

TEST(TracedRecompute, IsThePlainGradient) {
  const auto block = [](const Tensor &x) { return sin(exp(x / 2) * x); };
  const auto loop = [](const auto &step) {
    return [&](const Tensor &x) {
      return for_loop(3, [&](const Tensor &, const Tensor &y) { return step(y); }, x);
    };
  };
  const auto again = recompute(block);
  const Tensor x = tensor({0.3, -0.8});
  EXPECT_EQ(slope(again, x), slope(block, x));
  EXPECT_EQ(slope(loop(again), x), slope(loop(block), x));
  const Doubles found = curvature(loop(again), x), expected = curvature(loop(block), x);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-10);
}

// A chain of products, each of which the plain derivative keeps: the compiler runs none again.
TEST(TracedRecompute, KeepsNothingButTheArguments) {
  const auto chain = [](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 8; ++i) y = tanh(matmul(y, x) / 64);
    return y;
  };
  const Tensor x = ones({64, 64}, f64) / 64;
  constexpr std::size_t each = 64 * 64 * 8;
  // Four such chains one behind the other: the peak of the plain derivative holds all products.
  const auto stages = [](const auto &stage) {
    return [&](const Tensor &t) { return sum(stage(stage(stage(stage(t))))); };
  };
  const auto plain = function(grad(stages(chain)));
  const auto cheap = function(grad(stages(recompute(chain))));
  expect_near(cheap(x), plain(x).to_vector<double>());
  EXPECT_GT(plain.report(x).arena_bytes, 28 * each);
  EXPECT_LE(cheap.report(x).arena_bytes, 20 * each);

  // In a loop.
  const auto iterations = [](const auto &stage) {
    return [&](const Tensor &t) {
      return sum(for_loop(4, [&](const Tensor &, const Tensor &y) { return stage(y); }, t));
    };
  };
  const auto kept = [](const CompileReport &report) {
    std::int64_t bytes = 0;
    for (const SavedNote &note : report.saved)
      if (note.form == SavedNote::Form::stack) bytes += note.bytes; // of an iteration
    return bytes;
  };
  const auto all = function(grad(iterations(chain)));
  const auto few = function(grad(iterations(recompute(chain))));
  expect_near(few(x), all(x).to_vector<double>());
  EXPECT_GE(kept(all.report(x)), static_cast<std::int64_t>(8 * each));
  EXPECT_LE(kept(few.report(x)), static_cast<std::int64_t>(each));

  // Under a tape: what the forward half saves.
  const auto entry = function(recompute(chain));
  GradientTape tape;
  tape.watch(x);
  const std::size_t before = memory_stats().current;
  const Tensor y = entry(x);
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_LE(memory_stats().current - before, 2 * each);
}

// Gradients go to what it captured as well, also where a trace cannot tell what that will be.
TEST(TracedRecompute, Captures) {
  const auto f = [](const Tensor &x, const Tensor &w) {
    const auto again = recompute([&](const Tensor &y) { return sin(y * w) + w * w; });
    return std::pair(
        sum(again(x) * x),
        sum(for_loop(2, [&](const Tensor &, const Tensor &y) { return again(y); }, x)));
  };
  const auto by_both = [&](const Tensor &x, const Tensor &w) {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    tape.watch(w);
    const auto [straight, looped] = f(x, w);
    const auto [sx, sw] = tape.gradient(straight, {x, w});
    const auto [lx, lw] = tape.gradient(looped, {x, w});
    return std::tuple(sx, sw, lx, lw);
  };
  const Tensor x = tensor({0.3, 0.9}), w = tensor({1.5, -0.4});
  const auto [sx, sw, lx, lw] = by_both(x, w);
  for (std::size_t i = 0; i < 2; ++i) {
    const double a = x[{static_cast<std::int64_t>(i)}].item<double>(),
                 b = w[{static_cast<std::int64_t>(i)}].item<double>();
    EXPECT_NEAR(sw.to_vector<double>()[i], a * (a * std::cos(a * b) + 2 * b), 1e-12);
    EXPECT_NEAR(sx.to_vector<double>()[i], std::sin(a * b) + b * b + a * b * std::cos(a * b),
                1e-12);
    const double y = std::sin(a * b) + b * b;
    EXPECT_NEAR(lw.to_vector<double>()[i],
                std::cos(y * b) * (y + b * (a * std::cos(a * b) + 2 * b)) + 2 * b, 1e-12);
  }
  const auto [tx, tw, ux, uw] = function(by_both)(x, w);
  expect_near(tx, sx.to_vector<double>());
  expect_near(tw, sw.to_vector<double>());
  expect_near(ux, lx.to_vector<double>());
  expect_near(uw, lw.to_vector<double>());
  const auto entry = function(f);
  GradientTape tape;
  tape.watch(w);
  expect_near(tape.gradient(entry(x, w).second, {w})[0], lw.to_vector<double>());
}

// There is nothing to pull.
TEST(TracedRecompute, OfWholeNumbers) {
  const auto count = [](const Tensor &x) { return sum((x > 0).astype(i32)); };
  EXPECT_EQ(function(recompute(count))(tensor({1.0, -1.0, 2.0})).item<std::int32_t>(), 2);
}

// The states that the first run drew are operands of the second.
TEST(TracedRecompute, DrawsTheSameNumbersAgain) {
  const random::Generator generator(7);
  const auto drop = [&](const Tensor &x) { return nn::dropout(x * 2, 0.5, generator); };
  const auto twice = [&](const Tensor &x) { return recompute(drop)(drop(x)); };
  const auto with_slope = [](const auto &f) {
    return function([f](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = f(x);
      return std::pair(y, tape.gradient(y, {x})[0]);
    });
  };
  const auto expect_one_mask = [&](const auto &f) {
    const auto compiled = with_slope(f);
    const Tensor x = ones({32}, f64);
    std::vector<Doubles> drawn;
    for (int run = 0; run < 3; ++run) {
      const auto [y, dx] = compiled(x);
      EXPECT_EQ(y.template to_vector<double>(), dx.template to_vector<double>());
      drawn.push_back(y.template to_vector<double>());
    }
    EXPECT_NE(drawn[0], drawn[1]);
    EXPECT_NE(drawn[1], drawn[2]);
  };
  expect_one_mask(recompute(drop));
  expect_one_mask(recompute(twice));
  expect_one_mask([&](const Tensor &x) {
    return for_loop(2, [&](const Tensor &, const Tensor &y) { return recompute(twice)(y); }, x);
  });

  // What is drawn in a loop has no state that the second run could have.
  const auto looped = recompute([&](const Tensor &x) {
    return for_loop(2, [&](const Tensor &, const Tensor &y) { return drop(y); }, x);
  });
  EXPECT_THROWS(with_slope(looped)(ones({4}, f64)), StateError,
                "dropout: recompute: the function draws random numbers in control flow of a traced "
                "function, and they would be others when it runs again for its gradient: draw them "
                "in front of it, or recompute what its body does");
}

TEST(TracedRecompute, ReadsVariables) {
  const Variable v(tensor(3.0), "v");
  const auto f = recompute([&](const Tensor &x) { return x * v * v; });
  const auto by_both = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = for_loop(2, [&](const Tensor &, const Tensor &t) { return f(t); }, x);
    const auto [dx, dv] = tape.gradient(y, {x, v});
    return std::pair(dx, dv);
  };
  const auto [dx, dv] = function(by_both)(tensor(2.0));
  EXPECT_EQ(dx.item<double>(), 81);
  EXPECT_EQ(dv.item<double>(), 2 * 4 * 27);
}

// A tape inside of a construct that records another construct: it read the variable anew there, so
// that the outer tape never saw it (found by ./x fuzz grad, seed 2115).
TEST(TracedGradient, OfVariablesReadInRecordsOfInnerTapes) {
  const Variable q(tensor(3.0), "q");
  const auto f = [&](const Tensor &x) {
    GradientTape outer;
    const Tensor y = cond(
        x > 0,
        [&] {
          GradientTape inner({.watch_accessed_variables = false});
          inner.watch(x);
          const Tensor z = sin(x * cond(x > 1, [&] { return q.value(); }, [&] { return x; }));
          return inner.gradient(z, {x})[0];
        },
        [&] { return x; });
    return outer.gradient(y, {q})[0];
  };
  const double slope = std::cos(6.0) - 6 * std::sin(6.0);
  EXPECT_NEAR(f(tensor(2.0)).item<double>(), slope, 1e-12);
  EXPECT_NEAR(function(f)(tensor(2.0)).item<double>(), slope, 1e-12);
}

} // namespace
} // namespace weft
