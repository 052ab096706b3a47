// Custom gradients and recomputation: eager, to second order, in forward mode, and traced.
#include "../Testing.h"

#include <cmath>
#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

Tensor plain_log1pexp(const Tensor &x) { return log(1 + exp(x)); }

const auto log1pexp = custom_gradient([](Tensor x) {
  const Tensor e = exp(x);
  return Pullback{log(1 + e), [=](const Tensor &dy) { return dy * (1 - 1 / (1 + e)); }};
});

TEST(CustomGradient, G14_LogOneExp) {
  EXPECT_EQ(grad(plain_log1pexp)(0.f).item<float>(), 0.5f);
  EXPECT_TRUE(std::isnan(grad(plain_log1pexp)(100.f).item<float>()));
  EXPECT_EQ(log1pexp(0.f).item<float>(), plain_log1pexp(tensor(0.f)).item<float>());
  EXPECT_EQ(grad(log1pexp)(0.f).item<float>(), 0.5f);
  EXPECT_EQ(grad(log1pexp)(100.f).item<float>(), 1.f);
  EXPECT_EQ(function(grad(log1pexp))(tensor(100.f)).item<float>(), 1.f);
}

// The pullback is differentiated by what it does.
TEST(CustomGradient, SecondOrder) {
  const double e = std::exp(0.5), slope = e / (1 + e);
  EXPECT_DOUBLE_EQ(grad(grad(log1pexp))(tensor(0.5)).item<double>(), slope * (1 - slope));
  EXPECT_DOUBLE_EQ(jvp(log1pexp, tensor(0.5), tensor(2.0)).second.item<double>(), 2 * slope);
  EXPECT_DOUBLE_EQ(jvp(grad(log1pexp), tensor(0.5), tensor(1.0)).second.item<double>(),
                   slope * (1 - slope));
  const auto traced = function([](const Tensor &x) { return grad(grad(log1pexp))(x); });
  EXPECT_NEAR(traced(tensor(0.5)).item<double>(), slope * (1 - slope), 1e-15);
}

TEST(CustomGradient, G8_ClipsWithoutGradientByTheNorm) {
  const auto clip = custom_gradient([](const Tensor &x, const Tensor &norm) {
    return Pullback{x, [norm](const Tensor &dy) {
                      const Tensor scale = minimum(1, norm / sqrt(sum(dy * dy)));
                      return std::tuple(dy * scale, Tensor());
                    }};
  });
  const Variable v(tensor(2.0), "v");
  GradientTape tape;
  const Tensor norm = tensor(0.5);
  tape.watch(norm);
  const Tensor y = clip(v * v, norm);
  EXPECT_EQ(y.item<double>(), 4);
  const auto [dv, dn] = tape.gradient(y, {v, norm});
  EXPECT_EQ(dv.item<double>(), 2);
  EXPECT_FALSE(dn.defined());
}

TEST(CustomGradient, SeveralResults) {
  const auto f = custom_gradient([](const Tensor &x) {
    return Pullback{std::tuple(x * 2, argmax(x), x * 3),
                    [](const Tensor &a, const Tensor &i, const Tensor &b) {
                      EXPECT_FALSE(i.defined());
                      return a * 10 + b * 100;
                    }};
  });
  const auto loss = [&](const Tensor &x) {
    const auto [a, i, b] = f(x);
    return sum(a) + 2 * sum(b);
  };
  EXPECT_EQ(grad(loss)(tensor({1.0, 2.0})).to_vector<double>(), (Doubles{210, 210}));
  // Where no cotangent comes, zeros do.
  const auto first = [&](const Tensor &x) { return sum(std::get<0>(f(x))); };
  EXPECT_EQ(grad(first)(tensor({1.0, 2.0})).to_vector<double>(), (Doubles{10, 10}));
}

TEST(CustomGradient, Variables) {
  const Variable w(tensor(3.0), "w");
  const auto f = custom_gradient(
      [&](const Tensor &x) {
        const Tensor weight = w.value();
        return Pullback{x * weight, [=](const Tensor &dy) {
                          return std::pair(dy * weight * 10, std::vector{dy * x * 100});
                        }};
      },
      {.variables = {w}});
  GradientTape tape;
  const Tensor x = tensor(2.0);
  tape.watch(x);
  const Tensor y = f(x);
  const auto [dx, dw] = tape.gradient(y, {x, w});
  EXPECT_EQ(dx.item<double>(), 30);
  EXPECT_EQ(dw.item<double>(), 200);

  const auto forgetful = custom_gradient(
      [&](const Tensor &t) { return Pullback{t * w, [](const Tensor &dy) { return dy; }}; });
  EXPECT_THROWS(forgetful(x), StateError,
                "custom_gradient: the function reads the variable 'w', whose gradient its pullback "
                "must give: list it in .variables, or make it untrainable");
}

TEST(CustomGradient, RefusesWrongGradients) {
  const auto gradient_of = [](const auto &pull) {
    const auto f =
        custom_gradient([&](const Tensor &x) { return Pullback{x * 2, pull}; }, {.name = "twice"});
    return grad([&](const Tensor &x) { return sum(f(x)); })(tensor({1.0, 2.0}));
  };
  EXPECT_THROWS(gradient_of([](const Tensor &dy) { return std::tuple(dy, dy); }), ValueError,
                "twice: the pullback must give 1 gradient, but it gave 2");
  EXPECT_THROWS(gradient_of([](const Tensor &dy) { return sum(dy); }), ShapeError,
                "twice: gradient 0 of the pullback is f64(), but its argument is f64"
                "(2,)");
  EXPECT_THROWS(gradient_of([](const Tensor &dy) { return dy.astype(f32); }), DTypeError,
                "twice: gradient 0 of the pullback is f32(2,), but its argument is f64"
                "(2,)");
  EXPECT_EQ(gradient_of([](const Tensor &dy) { return dy * 5; }).to_vector<double>(),
            (Doubles{5, 5}));
}

// Without a tape there is nothing but the function.
TEST(CustomGradient, CostsNothingUnwatched) {
  int pulls = 0;
  const auto f = custom_gradient([&](const Tensor &x) {
    return Pullback{x + 1, [&](const Tensor &dy) { return ++pulls, dy; }};
  });
  EXPECT_EQ(f(1.f).item<float>(), 2);
  GradientTape tape;
  EXPECT_EQ(f(1.f).item<float>(), 2);
  EXPECT_EQ(pulls, 0);
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

TEST(Recompute, G22_IsThePlainGradient) {
  const Variable w(tensor({{1.0, 2.0}, {3.0, 4.0}}), "w");
  const auto block = [&](const Tensor &x) { return tanh(matmul(x, w)) * exp(-x); };
  const auto plain = [&](const Tensor &x) { return sum(square(block(block(x)))); };
  const auto saving = [&](const Tensor &x) {
    const auto cheap = recompute(block);
    return sum(square(cheap(cheap(x))));
  };
  const Tensor x = tensor({{0.1, -0.2}, {0.3, 0.5}});
  const auto slopes = [&](const auto &f) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    const auto [dx, dw] = tape.gradient(y, {x, w});
    return std::pair(dx.template to_vector<double>(), dw.template to_vector<double>());
  };
  EXPECT_EQ(slopes(plain), slopes(saving));
  const auto curvature = [&](const auto &f) {
    return grad([&](const Tensor &t) { return sum(square(grad(f)(t))); })(x);
  };
  const Doubles expected = curvature(plain).to_vector<double>(),
                found = curvature(saving).to_vector<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

TEST(Recompute, G22_KeepsNothingButTheArguments) {
  const auto chain = [](Tensor x) {
    for (int i = 0; i < 100; ++i) x = sin(x);
    return x;
  };
  const Tensor x = ones({10000}, f64);
  const auto kept = [&](const auto &f) {
    GradientTape tape;
    tape.watch(x);
    const std::size_t before = memory_stats().current;
    const Tensor y = f(x);
    return memory_stats().current - before;
  };
  EXPECT_GT(kept(chain), 99U * 80000);
  EXPECT_LT(kept(recompute(chain)), 3U * 100000);
}

// A jacobian pulls many cotangents at once, for which the function runs again once.
TEST(Recompute, RunsAgainOnceForAJacobian) {
  int runs = 0;
  const auto f = recompute([&](const Tensor &x) { return ++runs, sin(x) * sum(x); });
  const Tensor x = tensor({0.5, 1.5, -0.5});
  GradientTape tape;
  tape.watch(x);
  const Doubles found = tape.jacobian(f(x), {x})[0].to_vector<double>();
  EXPECT_EQ(runs, 2);
  const Doubles values = x.to_vector<double>();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(found[3 * i + j], std::sin(values[i]) + (i == j ? std::cos(values[i]) * 1.5 : 0),
                  1e-14);
}

TEST(Recompute, ReadsVariablesAsTheyWere) {
  const Variable v(tensor(3.0), "v");
  const auto f = recompute([&](const Tensor &x) { return x * v * v; });
  GradientTape tape;
  const Tensor x = tensor(2.0);
  tape.watch(x);
  const Tensor y = f(x);
  v.assign(100.0);
  const auto [dx, dv] = tape.gradient(y, {x, v});
  EXPECT_EQ(dx.item<double>(), 9);
  EXPECT_EQ(dv.item<double>(), 12);
}

TEST(Recompute, RefusesChanges) {
  const Variable count(tensor(0), "count", false);
  const auto f = recompute([&](const Tensor &x) { return count.assign_add(1), x * 2; });
  EXPECT_THROWS(f(tensor(1.0)), StateError,
                "recompute: the function changes the variable 'count', which would happen again "
                "when its gradient is asked");
}

/// What the mask let through and the slope there are the same numbers.
void expect_one_mask(const std::function<Tensor(const Tensor &)> &f) {
  const Tensor x = ones({32}, f64);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(y.to_vector<double>(), tape.gradient(y, {x})[0].to_vector<double>());
}

// The second run drew a mask of its own, so that gradients were those of other numbers.
TEST(Recompute, DrawsTheSameNumbersAgain) {
  const random::Generator generator(7);
  const auto drop = [&](const Tensor &x) { return nn::dropout(x, 0.5, generator); };
  const auto twice = [&](const Tensor &x) { return drop(recompute(drop)(x)); };
  const auto in_loop = [&](const Tensor &x) {
    return for_loop(3, [&](const Tensor &, const Tensor &y) { return drop(y); }, x);
  };
  for (int run = 0; run < 3; ++run) {
    expect_one_mask(recompute(drop));
    expect_one_mask(recompute(twice));
    expect_one_mask(recompute(in_loop));
    expect_one_mask(recompute(function(drop)));
    expect_one_mask(function(recompute(drop)));
    expect_one_mask(function(recompute(twice)));
  }

  // The generator moves on by what the first run drew, and by nothing when the gradient is asked.
  const auto streams = [&] { return generator.state().value()[1].item<std::int64_t>(); };
  const Tensor x = ones({4});
  const auto normals = recompute([&](const Tensor &y) { return y * generator.normal({4}); });
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const std::int64_t before = streams();
  const Tensor y = normals(x);
  EXPECT_EQ(streams(), before + 2);
  const auto drawn = y.to_vector<float>();
  for (int pull = 0; pull < 2; ++pull)
    EXPECT_EQ(tape.gradient(y, {x})[0].to_vector<float>(), drawn);
  EXPECT_EQ(streams(), before + 2);
  EXPECT_NE(generator.normal({4}).to_vector<float>(), drawn);
}

TEST(Recompute, RefusesOtherDrawsThanBefore) {
  const random::Generator generator(7);
  const Tensor x = ones({4});
  int run = 0, draws = 0, again = 0;
  const auto f = recompute([&](const Tensor &y) {
    Tensor z = y;
    for (int i = 0; i < (run == 0 ? draws : again); ++i) z = z * generator.uniform({4});
    return ++run, z;
  });
  const std::string way = ": it must draw the same way each time, and layers that draw their "
                          "first weights must be built before";
  const auto expect = [&](int first, int second, const std::string &where, const std::string &how) {
    run = 0, draws = first, again = second;
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    EXPECT_THROWS(tape.gradient(y, {x}), StateError,
                  where + "recompute: the function drew random numbers " + std::to_string(first) +
                      (first == 1 ? " time" : " times") +
                      " and, when it ran again for its gradient, " + how + way);
  };
  expect(1, 2, "random::uniform: ", "more often");
  expect(2, 1, "", "1");
  const auto other = recompute([&](const Tensor &y) {
    return y * (++run % 2 == 1 ? generator.uniform({4}) : generator.normal({4}));
  });
  run = 0;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = other(x);
  EXPECT_THROWS(tape.gradient(y, {x}), StateError,
                "random::normal: recompute: the function drew random numbers 1 time and, when it "
                "ran again for its gradient, others at draw 1" +
                    way);
  EXPECT_THROWS(recompute([&](const Tensor &t) { return generator.reset(1), t; })(x), StateError,
                "recompute: the function changes the variable '" + generator.state().name() +
                    "', which would happen again when its gradient is asked");
}

// First weights are drawn once, and a layer that is built by the first run is there for the second.
TEST(Recompute, BuildsLayers) {
  const nn::Dense dense(3);
  const nn::Dropout dropout(0.5);
  const auto f = recompute([&](const Tensor &x) { return dropout(dense(x), {.training = true}); });
  GradientTape tape;
  const Tensor x = ones({2, 4});
  tape.watch(x);
  EXPECT_EQ(tape.gradient(f(x), {x})[0].shape(), x.shape());
}

// Tensors without a value reached the tape, which looks at dtypes.
TEST(Recompute, RefusesUndefinedTensorsAndOtherResultsThanBefore) {
  const Tensor x = tensor(1.0);
  const auto none = recompute([](const Tensor &) { return Tensor(); });
  EXPECT_THROWS(none(x), StateError, "recompute: a result is undefined");
  EXPECT_THROWS(function(none)(x), StateError, "recompute: a result is undefined");
  EXPECT_THROWS(recompute([](const Tensor &) { return 1; })(Tensor()), StateError,
                "recompute: an argument is undefined");
  GradientTape tape({.persistent = true});
  tape.watch(x);
  EXPECT_THROWS(none(x), StateError, "recompute: a result is undefined");
  int runs = 0;
  const auto fewer = recompute([&](const Tensor &y) { // one at its third run
    return ++runs < 3 ? std::vector<Tensor>{y * 2, runs == 1 ? y : Tensor()} : std::vector{y};
  });
  const Tensor y = fewer(x)[0];
  EXPECT_THROWS(tape.gradient(y, {x}), StateError, "recompute: a result is undefined");
  EXPECT_THROWS(tape.gradient(y, {x}), StateError,
                "recompute: the function gave 2 tensors and, when it ran again for its gradient, "
                "1");
}

} // namespace
} // namespace weft
