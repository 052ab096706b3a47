// Functional derivatives: values against closed forms, structures, composition, and what is
// refused.
#include "../Testing.h"

#include <cmath>
#include <map>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;

Tensor cube(const Tensor &x) { return x * x * x; }

TEST(Grad, OfAFunctionOfOneArgument) {
  EXPECT_EQ(grad(cube)(2.0).item<float>(), 12);
  EXPECT_EQ(grad(grad(cube))(2.0).item<float>(), 12);
  EXPECT_EQ(grad(grad(grad(cube)))(2.0).item<float>(), 6);
  const auto [value, slope] = value_and_grad(cube)(tensor(3.0));
  EXPECT_EQ(value.item<double>(), 27);
  EXPECT_EQ(slope.item<double>(), 27);
}

TEST(Grad, ByChosenArguments) {
  const auto f = [](const Tensor &x, const Tensor &y) { return sum(x * y * y); };
  const Tensor x = tensor({2.0, 3.0}), y = tensor({5.0, 7.0});
  EXPECT_EQ(grad(f)(x, y).to_vector<double>(), (Doubles{25, 49}));
  EXPECT_EQ(grad<1>(f)(x, y).to_vector<double>(), (Doubles{20, 42}));
  const auto [dy, dx] = grad<1, 0>(f)(x, y);
  EXPECT_EQ(dy.to_vector<double>(), (Doubles{20, 42}));
  EXPECT_EQ(dx.to_vector<double>(), (Doubles{25, 49}));
}

// An argument is a value of its own: the same tensor reached otherwise is a constant.
TEST(Grad, TakesArgumentsApart) {
  const Tensor x = tensor(3.0);
  EXPECT_EQ(grad([&](const Tensor &y) { return x * y; })(x).item<double>(), 3);
  const auto product = [](const Tensor &a, const Tensor &b) { return a * b * b; };
  EXPECT_EQ(grad(product)(x, x).item<double>(), 9);
  EXPECT_EQ(grad<1>(product)(x, x).item<double>(), 18);
  // The outer derivative sees y both as the inner constant and as the point: of 2 y y y.
  const auto inner = [](const Tensor &y) {
    return grad([&](const Tensor &z) { return y * z * z; })(y) * y;
  };
  EXPECT_EQ(grad(inner)(x).item<double>(), 54);
}

struct Model {
  Tensor weight, bias;
  int power = 2;
  WEFT_FIELDS(Model, weight, bias, power)
};

TEST(Grad, KeepsStructures) {
  const auto f = [](const Model &m, const std::map<std::string, Tensor> &x) {
    return sum(m.weight * x.at("a")) + sum(m.bias) * m.power;
  };
  const Model model{tensor({1.0, 2.0}), tensor({4.0})};
  const std::map<std::string, Tensor> x{{"a", tensor({3.0, 5.0})}, {"b", tensor({1.0})}};
  const auto [dm, dx] = grad<0, 1>(f)(model, x);
  EXPECT_EQ(dm.weight.to_vector<double>(), (Doubles{3, 5}));
  EXPECT_EQ(dm.bias.to_vector<double>(), (Doubles{2}));
  EXPECT_EQ(dm.power, 2);
  EXPECT_EQ(dx.at("a").to_vector<double>(), (Doubles{1, 2}));
  EXPECT_EQ(dx.at("b").to_vector<double>(), (Doubles{0}));
  const auto g = [](const std::vector<Tensor> &list, const std::array<Tensor, 2> &pair) {
    return list[0] * list[1] * pair[0];
  };
  const std::vector<Tensor> list{tensor(2.0), tensor(3.0)};
  const std::array<Tensor, 2> pair{tensor(5.0), tensor(7.0)};
  const auto [dl, dp] = grad<0, 1>(g)(list, pair);
  EXPECT_EQ(dl[0].item<double>(), 15);
  EXPECT_EQ(dl[1].item<double>(), 10);
  EXPECT_EQ(dp[0].item<double>(), 6);
  EXPECT_EQ(dp[1].item<double>(), 0);
}

TEST(Grad, ByVariables) {
  const Variable w(tensor({1.0, 2.0}), "w"), b(tensor({0.5, 0.25}), "b", false);
  const auto f = [](const std::vector<Variable> &v, const Tensor &x) {
    return sum(v[0] * v[0] * x + v[1]);
  };
  const std::vector<Variable> variables{w, b};
  const std::vector<Tensor> slopes = grad(f)(variables, tensor({3.0, 4.0}));
  EXPECT_EQ(slopes[0].to_vector<double>(), (Doubles{6, 16}));
  EXPECT_EQ(slopes[1].to_vector<double>(), (Doubles{1, 1}));
  // A variable that is no argument is a constant.
  const auto g = [&](const Tensor &x) { return sum(w * x); };
  EXPECT_EQ(grad(g)(tensor({1.0, 1.0})).to_vector<double>(), (Doubles{1, 2}));
}

TEST(Grad, CarriesTheRestAlong) {
  const auto f = [](const Tensor &x) { return std::pair(sum(x * x), x + 1); };
  const auto [value, slope] = value_and_grad(f)(tensor({1.0, 2.0}));
  EXPECT_EQ(value.first.item<double>(), 5);
  EXPECT_EQ(value.second.to_vector<double>(), (Doubles{2, 3}));
  EXPECT_EQ(slope.to_vector<double>(), (Doubles{2, 4}));
}

TEST(Grad, Refuses) {
  const auto same = [](const Tensor &x) { return x; };
  EXPECT_THROWS(grad(same)(tensor({1.0, 2.0})), ShapeError,
                "grad: the function must give a floating scalar, but it gave f64(2,); sum "
                "it, or use jacobian");
  EXPECT_THROWS(grad(same)(tensor(1)), DTypeError,
                "grad: an argument is i32; derivatives are by floating tensors: convert it with "
                "astype, or take the derivative by another argument");
  const auto rounds = [](const Tensor &x) { return x.astype(i32); };
  EXPECT_THROWS(grad(rounds)(tensor(1.0)), DTypeError,
                "grad: the function must give a floating scalar, but it gave i32()");
  EXPECT_THROWS(grad(same)(Tensor()), StateError, "grad: an argument is undefined");
  EXPECT_THROWS(value_and_grad(same)(Tensor()), StateError,
                "value_and_grad: an argument is undefined");
  EXPECT_THROWS(
      hessian(same)(tensor({1.0, 2.0})), ShapeError,
      "hessian: the function must give a floating scalar, but it gave f64(2,); sum it, or "
      "use jacobian");
  // Nothing of that is left on the thread.
  EXPECT_EQ(grad(cube)(1.0).item<float>(), 3);
}

TEST(Vjp, PullsBackAnyNumberOfTimes) {
  const auto f = [](const Tensor &x, const Tensor &y) {
    return std::tuple(x * y, sum(x), tensor(1));
  };
  const Tensor x = tensor({2.0, 3.0}), y = tensor({5.0, 7.0});
  const auto [value, pull] = vjp(f, x, y);
  EXPECT_EQ(std::get<0>(value).to_vector<double>(), (Doubles{10, 21}));
  for (const double scale : {1.0, 10.0}) {
    const auto [dx, dy] = pull(std::tuple(tensor({scale, 2 * scale}), tensor(3 * scale), Tensor()));
    EXPECT_EQ(dx.to_vector<double>(), (Doubles{8 * scale, 17 * scale}));
    EXPECT_EQ(dy.to_vector<double>(), (Doubles{2 * scale, 6 * scale}));
  }
  EXPECT_THROWS(pull(std::tuple(tensor({1.0}), tensor(3.0), Tensor())), ShapeError,
                "vjp: cotangent 0 is f64(1,), but its part of the value is f64(2,)");
  EXPECT_THROWS(pull(std::tuple(Tensor(), tensor(3.0), Tensor())), StateError,
                "vjp: cotangent 0 is undefined");
  const auto [square, back] = vjp([](const Tensor &t) { return t * t; }, 3.0);
  EXPECT_EQ(back(tensor(2.f)).item<float>(), 12);
}

TEST(Jvp, PushesForward) {
  const auto f = [](const Tensor &x, const Tensor &y) { return std::pair(exp(x) * y, sum(y)); };
  const auto [value, tangent] = jvp(f, std::tuple(tensor({0.0, 1.0}), tensor({2.0, 3.0})),
                                    std::tuple(tensor({1.0, 10.0}), tensor({100.0, 1000.0})));
  EXPECT_EQ(value.second.item<double>(), 5);
  const Doubles d = tangent.first.to_vector<double>();
  EXPECT_DOUBLE_EQ(d[0], 2 + 100);
  EXPECT_DOUBLE_EQ(d[1], std::exp(1.0) * (30 + 1000));
  EXPECT_EQ(tangent.second.item<double>(), 1100);
}

TEST(Jvp, OfWhatDoesNotDepend) {
  const Tensor held = tensor({1.0, 2.0});
  const auto f = [&](const Tensor &x) { return std::tuple(held * 2, argmax(x), x); };
  const auto [value, tangent] = jvp(f, held, tensor({3.0, 4.0}));
  EXPECT_EQ(std::get<0>(tangent).to_vector<double>(), (Doubles{0, 0}));
  EXPECT_FALSE(std::get<1>(tangent).defined());
  EXPECT_EQ(std::get<2>(tangent).to_vector<double>(), (Doubles{3, 4}));
}

TEST(Jvp, OfVariables) {
  const Variable v(tensor(3.0), "v");
  const auto f = [](const Tensor &x) { return x * x; };
  EXPECT_EQ(jvp(f, v, tensor(1.0)).second.item<double>(), 6);
  const auto g = [](const Variable &w) { return w * w.value(); };
  EXPECT_EQ(jvp(g, v, tensor(1.0)).second.item<double>(), 6);
}

// A read has the tangent that its variable was given, not that of what was assigned.
TEST(Jvp, ReadsOfWhatWasAssigned) {
  const Variable v(tensor(0.0), "v");
  const auto f = [&](const Tensor &x) {
    v.assign(x);
    return x * v;
  };
  EXPECT_EQ(jvp(f, tensor(3.0), tensor(1.0)).second.item<double>(), 3);
  EXPECT_EQ(grad(f)(tensor(3.0)).item<double>(), 3);
}

TEST(Jvp, DropsWhatNobodyHolds) {
  const auto f = [](Tensor x) {
    for (int i = 0; i < 2000; ++i) x = x * 1.0001;
    return x;
  };
  const Tensor x = ones({10000}, f64);
  reset_peak();
  const std::size_t before = memory_stats().current;
  const auto [value, tangent] = jvp(f, x, x);
  EXPECT_EQ(tangent.to_vector<double>()[5], value.to_vector<double>()[5]);
  EXPECT_LT(memory_stats().peak - before, 200U * 10000 * 8); // of 4000 that there were
}

TEST(Jvp, ComposesWithReverseMode) {
  const auto f = [](const Tensor &x) { return sum(x * x * x); };
  const Tensor x = tensor({2.0, 3.0}), v = tensor({1.0, 10.0});
  // Forward over reverse, and reverse over forward: the hessian times v.
  EXPECT_EQ(jvp(grad(f), x, v).second.to_vector<double>(), (Doubles{12, 180}));
  const auto along = [&](const Tensor &y) { return jvp(f, y, v).second; };
  EXPECT_EQ(grad(along)(x).to_vector<double>(), (Doubles{12, 180}));
  // Forward over forward.
  EXPECT_EQ(jvp([&](const Tensor &y) { return jvp(f, y, v).second; }, x, v).second.item<double>(),
            2 * 6 + 10 * 10 * 18);
}

TEST(Jvp, Refuses) {
  const auto same = [](const Tensor &x) { return x; };
  EXPECT_THROWS(jvp(same, tensor(1.0), tensor(1.f)), DTypeError,
                "jvp: tangent 0 is f32(), but its primal is f64()");
  EXPECT_THROWS(jvp(same, tensor(1.0), tensor({1.0})), ShapeError,
                "jvp: tangent 0 is f64(1,), but its primal is f64()");
  EXPECT_THROWS(jvp(same, tensor(1.0), std::tuple(tensor(1.0), tensor(1.0))), ValueError,
                "jvp: there are 2 tangents for 1 primals");
  EXPECT_THROWS(jvp(same, tensor(1), tensor(1)), DTypeError,
                "jvp: an argument is i32; derivatives are by floating tensors: convert it with "
                "astype, or take the derivative by another argument");
}

TEST(Jacobian, OfClosedForms) {
  const Tensor x = tensor({2.0, 3.0});
  const auto f = [](const Tensor &t) {
    return concatenate({reshape(t[0] * t[1], {1}), reshape(t[0] * t[0], {1})});
  };
  const Tensor j = jacobian(f)(x);
  EXPECT_EQ(j.shape(), (Shape{2, 2}));
  EXPECT_EQ(j.to_vector<double>(), (Doubles{3, 2, 4, 0}));
  EXPECT_EQ(jacobian(cube)(tensor(2.0)).item<double>(), 12);
  const auto two = [](const Tensor &a, const Tensor &b) { return std::pair(a * b, sum(b)); };
  const auto [first, second] = jacobian<0, 1>(two)(x, tensor({5.0, 7.0}));
  EXPECT_EQ(std::get<0>(first).to_vector<double>(), (Doubles{5, 0, 0, 7}));
  EXPECT_EQ(std::get<1>(first).to_vector<double>(), (Doubles{2, 0, 0, 3}));
  EXPECT_EQ(std::get<0>(second).to_vector<double>(), (Doubles{0, 0}));
  EXPECT_EQ(std::get<1>(second).to_vector<double>(), (Doubles{1, 1}));
}

TEST(Hessian, OfARosenbrockFunction) {
  const auto f = [](const Tensor &t) {
    return square(1 - t[0]) + 100 * square(t[1] - square(t[0]));
  };
  const Tensor h = hessian(f)(tensor({-1.0, 2.0}));
  // 2 - 400 (y - 3 x^2), -400 x; -400 x, 200
  EXPECT_EQ(h.to_vector<double>(), (Doubles{402, 400, 400, 200}));
  const auto by_two = [](const Tensor &a, const Tensor &b) { return sum(a * a * b); };
  const auto [aa_ab, ba_bb] = hessian<0, 1>(by_two)(tensor({2.0}), tensor({3.0}));
  EXPECT_EQ(std::get<0>(aa_ab).to_vector<double>(), (Doubles{6}));
  EXPECT_EQ(std::get<1>(aa_ab).to_vector<double>(), (Doubles{4}));
  EXPECT_EQ(std::get<0>(ba_bb).to_vector<double>(), (Doubles{4}));
  EXPECT_EQ(std::get<1>(ba_bb).to_vector<double>(), (Doubles{0}));
}

// The gradient of a matrix that all of a batch is multiplied by: one sum over all rows where those
// of each would be large, and otherwise the sum of these.
TEST(Functional, GradientsOfASharedMatrix) {
  for (const std::int64_t batch : {4, 64})
    for (const bool transposed : {false, true}) {
      const random::Generator draw(3);
      const Tensor x = draw.normal({batch, 3, 600}, {.dtype = f64}),
                   c = draw.normal({batch, 3, 500}, {.dtype = f64}),
                   w = draw.normal(transposed ? Shape{500, 600} : Shape{600, 500}, {.dtype = f64});
      const auto loss = [&](const Tensor &m) {
        return sum(c * matmul(x, m, {.transpose_rhs = transposed}));
      };
      const Tensor rows = reshape(x, {batch * 3, 600}), by = reshape(c, {batch * 3, 500});
      const Tensor wanted = transposed ? matmul(by, rows, {.transpose_lhs = true})
                                       : matmul(rows, by, {.transpose_lhs = true});
      EXPECT_LT(max(abs(grad(loss)(w) - wanted)).item<double>(), 1e-12) << batch;
      EXPECT_LT(max(abs(grad(function(loss))(w) - wanted)).item<double>(), 1e-12) << batch;
    }
}

} // namespace
} // namespace weft
