// Forward mode inside traced functions, through control flow: equal to eager, and to closed forms.
#include "../Function/Printed.h"
#include "../Testing.h"

#include <cmath>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

/// The tangent of `f` at x along v, eager; expects the same of the traced function, also where
/// sizes are unknown.
template <class F>
Doubles tangent(const F &f, const Tensor &x, const Tensor &v) {
  const auto pushed = [&](const Tensor &at, const Tensor &along) {
    return jvp(f, at, along).second;
  };
  const Doubles eager = pushed(x, v).template to_vector<double>();
  const auto expect_same = [&](const Tensor &traced) {
    const Doubles found = traced.to_vector<double>();
    EXPECT_EQ(found.size(), eager.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], eager[i], 1e-13 * (1 + std::abs(eager[i])));
  };
  expect_same(function(pushed)(x, v));
  const TensorType open{f64, Shape(Ints(x.shape().size(), unknown))};
  expect_same(function(pushed, {.signature = {open, open}})(x, v));
  return eager;
}

// Of what a shape is compared with, the sizes count alone: a tangent of it is no zero that meets an
// infinity.
TEST(TracedForward, ComparedShapesHaveNoTangent) {
  const Tensor x = tensor({0.5, -3.0, HUGE_VAL});
  const auto scaled = [](const Tensor &t) { return match_shape(ones({3}, f64), t) * t; };
  EXPECT_EQ(tangent(scaled, x, ones_like(x)), (Doubles{1, 1, 1}));
  const auto pulled = [](const Tensor &t) {
    return vjp([](const Tensor &y) { return y * y; }, t).second(ones_like(t));
  };
  EXPECT_EQ(tangent(pulled, x, ones_like(x)), (Doubles{2, 2, 2}));
}

TEST(TracedForward, Branches) {
  const auto f = [](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return x * x; }, [&] { return zeros({2}, f64); });
  };
  EXPECT_EQ(tangent(f, tensor({1.0, 2.0}), tensor({1.0, 10.0})), (Doubles{2, 40}));
  EXPECT_EQ(tangent(f, tensor({-1.0, -2.0}), tensor({1.0, 10.0})), (Doubles{0, 0}));
  const auto g = [](const Tensor &x) {
    return switch_case(
        sum(x).astype(i32), [&] { return x; }, [&] { return exp(x); }, [&] { return x * 3; });
  };
  EXPECT_EQ(tangent(g, tensor({0.5, 0.0}), tensor({1.0, 10.0})), (Doubles{1, 10}));
  EXPECT_EQ(tangent(g, tensor({1.0, 0.0}), tensor({1.0, 10.0})), (Doubles{std::exp(1.0), 10}));
}

// State that is constant at the start becomes active in the second iteration, and another in the
// third.
TEST(TracedForward, StateThatBecomesActive) {
  const auto f = [](const Tensor &x) {
    const auto [a, b, n] = for_loop(
        3,
        [&](const Tensor &i, const Tensor &a, const Tensor &b, const Tensor &n) {
          return std::tuple(a + b, b + x, n + i);
        },
        zeros({2}, f64), zeros({2}, f64), tensor(0));
    return a * n.astype(f64);
  };
  EXPECT_EQ(tangent(f, tensor({1.0, 2.0}), tensor({1.0, 10.0})), (Doubles{9, 90}));
}

TEST(TracedForward, G15_Loops) {
  const auto f = [](const Tensor &x) {
    return std::get<1>(while_loop(
        [](const Tensor &i, const Tensor &) { return i < 3; },
        [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y * y); }, tensor(0), x));
  };
  EXPECT_EQ(tangent(f, tensor({2.0}), tensor({1.0})), (Doubles{1024}));
  const auto nested = [](const Tensor &x) {
    return for_loop(
        2,
        [&](const Tensor &, const Tensor &y) {
          return while_loop([](const Tensor &z) { return sum(z) < 100; },
                            [&](const Tensor &z) { return z * x; }, y + x);
        },
        x);
  };
  // x + x = 2 x, times x until it is over 100: 2 x^6 = 128; plus x, once more not: d = 12 x^5 + 1.
  EXPECT_EQ(tangent(nested, tensor({2.0}), tensor({1.0})), (Doubles{385}));
}

TEST(TracedForward, Scans) {
  const auto f = [](const Tensor &x) {
    const auto body = [](const Tensor &carry, const Tensor &slice) {
      return std::pair(carry * slice, carry + slice);
    };
    const auto [last, all] = scan(body, tensor(1.0), x);
    return all * last;
  };
  // all = [1 + a, a + b], last = a b
  EXPECT_EQ(tangent(f, tensor({2.0, 3.0}), tensor({1.0, 0.0})), (Doubles{3 * 3 + 6, 5 * 3 + 6}));
}

TEST(TracedForward, SecondOrder) {
  const auto f = [](const Tensor &x) {
    return sum(for_loop(3, [](const Tensor &, const Tensor &y) { return y * y; }, x));
  };
  const Tensor v = tensor({1.0, 10.0});
  const auto twice = [&](const Tensor &x) { return jvp(f, x, v).second; };
  // x^8: 56 x^6 v^2
  EXPECT_EQ(tangent(twice, tensor({1.0, 2.0}), v), (Doubles{56 + 56 * 64 * 100}));
}

// The outer tape records the loop that forward mode has doubled as a program of its own.
TEST(TracedForward, ReverseOverForwardThroughControlFlow) {
  const Tensor v = tensor({1.0, 10.0});
  const auto slope_of_push = [&](const auto &f) {
    return [&, f](const Tensor &x) {
      return grad([&](const Tensor &t) { return jvp(f, t, v).second; })(x);
    };
  };
  const auto expect_same = [&](const auto &f) {
    const auto g = slope_of_push(f);
    const Tensor x = tensor({0.5, 1.5});
    const Doubles eager = g(x).template to_vector<double>(),
                  traced = function(g)(x).template to_vector<double>();
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(traced[i], eager[i], 1e-13 * (1 + std::abs(eager[i])));
    return eager;
  };
  // The sum of x^4 has the Hessian 12 x^2.
  EXPECT_EQ(expect_same([](const Tensor &x) {
              return sum(for_loop(2, [](const Tensor &, const Tensor &y) { return y * y; }, x));
            }),
            (Doubles{3, 270}));
  expect_same([](const Tensor &x) {
    return sum(while_loop(
        [](const Tensor &y) { return sum(y) < 20; },
        [&](const Tensor &y) {
          return cond(sum(y) > 4, [&] { return y * y * x; }, [&] { return y + sin(x * y); });
        },
        x));
  });
  expect_same([](const Tensor &x) {
    return sum(switch_case(
        sum(x).astype(i32), [&] { return x; }, [&] { return x; }, [&] { return exp(x) * x; }));
  });
}

// A tangent whose size is known, of a value whose size is not.
TEST(TracedForward, CustomGradientsOfUnknownSizes) {
  const auto f = custom_gradient([](const Tensor &x) {
    return Pullback{sin(x), [x](const Tensor &dy) { return dy * cos(x); }};
  });
  const Tensor x = tensor({0.5, 1.5}), v = tensor({1.0, 10.0});
  const auto pushed = function([&](const Tensor &at) { return jvp(f, at, v).second; },
                               {.signature = {spec(f64, {unknown})}});
  const Doubles found = pushed(x).to_vector<double>();
  EXPECT_NEAR(found[0], std::cos(0.5), 1e-15);
  EXPECT_NEAR(found[1], 10 * std::cos(1.5), 1e-15);
}

TEST(TracedForward, ReverseInsideFunctions) {
  const auto f = [](const Tensor &x) { return sum(sin(x) * x); };
  const Tensor x = tensor({0.5, 1.5}), v = tensor({1.0, 2.0});
  const auto hvp = [&](const Tensor &at, const Tensor &along) {
    return jvp(grad(f), at, along).second;
  };
  const Doubles eager = hvp(x, v).to_vector<double>(),
                traced = function(hvp)(x, v).to_vector<double>();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(traced[i], eager[i], 1e-14);
  const auto pulled = [&](const Tensor &at, const Tensor &dy) {
    return vjp([](const Tensor &t) { return t * t * t; }, at).second(dy);
  };
  EXPECT_EQ(function(pulled)(tensor({1.0, 2.0}), v).to_vector<double>(), (Doubles{3, 24}));
}

//===----------------------------------------------------------------------===//
// Forward mode over tapes: what these record is a program that is called with tangents
//===----------------------------------------------------------------------===//

/// Elements of what a function of x and a direction gives, on values; expects the same traced.
template <class F>
Doubles along(const F &f, const Tensor &x, const Tensor &v) {
  const Doubles eager = f(x, v).template to_vector<double>();
  const auto same = [&](const Tensor &found) {
    const Doubles values = found.to_vector<double>();
    ASSERT_EQ(values.size(), eager.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], eager[i], 1e-10 * (1 + std::abs(eager[i]))) << "element " << i;
  };
  same(function(f)(x, v));
  const TensorType open{f64, Shape(Ints(x.shape().size(), unknown))};
  same(function(f, {.signature = {open, open}})(x, v));
  return eager;
}

const auto iterations = [](const Tensor &x) {
  return sum(while_loop([](const Tensor &y) { return sum(y) < 20; },
                        [&](const Tensor &y) {
                          return cond(
                              sum(y) > 4, [&] { return y * x * 1.5; },
                              [&] { return y + square(x) + sin(y); });
                        },
                        x));
};

TEST(TracedForward, OverGradientsOfControlFlow) {
  const Tensor x = tensor({1.1, 1.7}), v = tensor({1.0, -0.5});
  const auto hvp = [](const auto &f) {
    return [f](const Tensor &at, const Tensor &to) { return jvp(grad(f), at, to).second; };
  };
  const Doubles product = along(hvp(iterations), x, v);
  const Doubles rows = hessian(iterations)(x).to_vector<double>();
  EXPECT_NEAR(product[0], rows[0] - 0.5 * rows[1], 1e-8);
  EXPECT_NEAR(product[1], rows[2] - 0.5 * rows[3], 1e-8);
  // Third derivatives, in every order of modes that has forward mode over reverse in it.
  const auto slope_of = [](const Tensor &t) { return sum(square(grad(iterations)(t))); };
  along(hvp(slope_of), x, v);
  along(
      [](const Tensor &at, const Tensor &to) {
        return grad([&](const Tensor &t) { return sum(jvp(grad(iterations), t, to).second); })(at);
      },
      x, v);
  along(
      [](const Tensor &at, const Tensor &to) {
        return jvp([&](const Tensor &t) { return jvp(grad(iterations), t, to).second; }, at, to)
            .second;
      },
      x, v);
  // The value and cotangents that move as well.
  along(
      [](const Tensor &at, const Tensor &to) {
        return jvp(
                   [](const Tensor &t) {
                     const auto [y, pull] = vjp(iterations, t);
                     return pull(y * y) * y;
                   },
                   at, to)
            .second;
      },
      x, v);
}

TEST(TracedForward, OverGradientsWithVariables) {
  const Variable w(tensor({0.5, 1.5}), "w");
  const auto f = [&](const Variable &by, const Tensor &direction) {
    return jvp(
               [](const Variable &u) {
                 GradientTape tape;
                 const Tensor y = sum(for_loop(
                     3, [&](const Tensor &, const Tensor &t) { return sin(t * u) + u; },
                     tensor({1.0, 2.0})));
                 return tape.gradient(y, {u})[0];
               },
               by, direction)
        .second;
  };
  const Tensor v = tensor({1.0, -2.0});
  const Doubles eager = f(w, v).to_vector<double>(), traced = function(f)(w, v).to_vector<double>();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(traced[i], eager[i], 1e-12);
  // By differences of the gradient.
  const auto slope_at = [&](double step) {
    const Variable moved(w.value() + v * step, "moved");
    GradientTape tape;
    const Tensor y = sum(for_loop(
        3, [&](const Tensor &, const Tensor &t) { return sin(t * moved) + moved; },
        tensor({1.0, 2.0})));
    return tape.gradient(y, {moved})[0].to_vector<double>();
  };
  const Doubles up = slope_at(1e-5), down = slope_at(-1e-5);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(eager[i], (up[i] - down[i]) / 2e-5, 1e-6);
}

// The tangent of a gradient runs the loop again: without what would be seen, and with the values
// that variables had.
TEST(TracedForward, OverGradientsRepeatsNoEffects) {
  const Variable v(tensor(2.0), "v", /*trainable=*/false);
  const auto f = [&](const Tensor &x) {
    const Tensor y = for_loop(
        2, [&](const Tensor &, const Tensor &z) { return print("z is", z), z * z * v; }, x);
    v.assign(5.0);
    return y;
  };
  const auto second = [&](const Tensor &x) {
    v.assign(2.0);
    return jvp(grad(f), x, tensor(1.0)).second;
  };
  Printed printed;
  EXPECT_EQ(second(tensor(2.0)).item<double>(), 384); // of 8 x^4
  EXPECT_EQ(printed.take(), (Lines{"z is 2", "z is 8"}));
  EXPECT_EQ(function(second)(tensor(2.0)).item<double>(), 384);
  EXPECT_EQ(printed.take(), (Lines{"z is 2", "z is 8"}));
  const auto assigns = [&](const Tensor &x) {
    return for_loop(
        2, [&](const Tensor &, const Tensor &y) { return v.assign_add(1.0), y * y * v; }, x);
  };
  EXPECT_THROWS(function([&](const Tensor &x) {
                  return jvp(grad(assigns), x, tensor(1.0)).second;
                })(tensor(2.0)),
                StateError,
                "jvp: a tangent of a gradient in a traced function runs for_loop again, and so its "
                "assign_add; move that out of it, or differentiate on values");
}

} // namespace
} // namespace weft
