// Optimizers: their steps against the definitions, and that a step which fails changes nothing.
#include "../Testing.h"

#include <cmath>
#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;
using Gradients = std::vector<Tensor>;

Doubles values_of(const Variable &v) { return v.value().astype(f64).to_vector<double>(); }

void expect_near(const Doubles &found, const Doubles &expected, double error) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], error) << "element " << i;
}

TEST(SGD, Steps) {
  for (const DType dtype : {f32, f64}) {
    const Variable w(tensor({1., -2.}).astype(dtype), "w"), b(tensor(3.).astype(dtype), "b");
    const optimizers::SGD sgd({w, b}, {.learning_rate = 0.5});
    sgd.apply_gradients({tensor({0.25, 1.}).astype(dtype), tensor(-1.).astype(dtype)});
    EXPECT_EQ(values_of(w), (Doubles{0.875, -2.5}));
    EXPECT_EQ(values_of(b), (Doubles{3.5}));
  }
}

// The updates of Keras 3.4 (keras/src/optimizers/adam.py), in Python's floats; that of a gradient
// of 1e-3 tells its epsilon from PyTorch's, which is added after the bias correction.
TEST(Adam, StepsAreThoseOfKeras) {
  for (const bool traced : {false, true}) {
    const Variable w(tensor({1., -2., .5}), "w");
    const optimizers::Adam adam({w}, {.learning_rate = 0.01});
    const auto step = [&](const Tensor &g) { adam.apply_gradients({g}); };
    auto compiled = function(step);
    const auto apply = [&](const Tensor &g) { traced ? compiled(g) : step(g); };
    apply(tensor({.1, -.2, 1e-3}));
    expect_near(values_of(w), {0.9900003162177663, -1.990000158111383, 0.4900315230918326}, 1e-14);
    apply(tensor({.3, .1, -1e-3}));
    expect_near(values_of(w), {0.9808225968097466, -1.9873368253950667, 0.4905566643361133}, 1e-14);
    apply(tensor({-.2, 0., 2e-3}));
    expect_near(values_of(w), {0.9782435805640262, -1.9852780615007597, 0.4855806684857031}, 1e-14);
    EXPECT_EQ(adam.step().item<std::int64_t>(), 3);
    EXPECT_EQ(adam.step().dtype(), i64);
  }
}

TEST(Adam, TheFirstStepOfASmallGradient) {
  for (const DType dtype : {f32, f64}) {
    const Variable w(tensor({0.}).astype(dtype), "w");
    optimizers::Adam({w}).apply_gradients({tensor({1e-3}).astype(dtype)});
    expect_near(values_of(w), {-0.0009968476908167399}, 1e-9);
  }
}

TEST(Adam, StateHasNamesOfItsOwn) {
  const Variable w(zeros({2}), "w");
  const optimizers::Adam a({w}), b({w});
  std::vector<std::string> names;
  for (const auto &adam : {a, b})
    for (const Variable &v : adam.state()) {
      EXPECT_EQ(std::find(names.begin(), names.end(), v.name()), names.end()) << v.name();
      EXPECT_FALSE(v.trainable());
      names.push_back(v.name());
    }
  EXPECT_TRUE(names[0].ends_with(".step")) << names[0];
  EXPECT_TRUE(names[1].starts_with("w.adam")) << names[1];
}

/// Two variables with an optimizer, to be given gradients of which one is wrong.
struct Two {
  Variable p{ones({2}), "p"}, q{ones({2, 3}), "q"};
  std::vector<Variable> state = {};

  /// What applying these gradients throws, eagerly; nothing may have changed after it.
  template <class Apply>
  void expect_unchanged(ErrorKind kind, const std::string &words, const Apply &apply) {
    std::vector<Doubles> before;
    for (const Variable &v : all()) before.push_back(values_of(v));
    try {
      apply();
      ADD_FAILURE() << "nothing was thrown instead of: " << words;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_EQ(error.message(), words);
    }
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(values_of(all()[i]), before[i]) << i;
  }

  std::vector<Variable> all() const {
    std::vector<Variable> variables = {p, q};
    variables.insert(variables.end(), state.begin(), state.end());
    return variables;
  }
};

template <class Optimizer>
struct Rejects : testing::Test {};
struct Names {
  template <class Optimizer>
  static std::string GetName(int) {
    return std::is_same_v<Optimizer, optimizers::SGD> ? "SGD" : "Adam";
  }
};
using Both = testing::Types<optimizers::SGD, optimizers::Adam>;
TYPED_TEST_SUITE(Rejects, Both, Names);

template <class Optimizer>
std::vector<Variable> state_of(const Optimizer &optimizer) {
  if constexpr (std::is_same_v<Optimizer, optimizers::Adam>) return optimizer.state();
  else return {};
}

TYPED_TEST(Rejects, GradientsThatDoNotFit) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = state_of(optimizer);
  const std::string name = Names::GetName<TypeParam>(0);
  struct Case {
    Tensor gradient;
    ErrorKind kind;
    std::string words;
  };
  const Tensor good = ones({2});
  for (const Case &one : {
           Case{ones({3}), ErrorKind::shape,
                "the variable 'q' is f32(2, 3), but its gradient is f32(3,)"},
           Case{ones({1, 3}), ErrorKind::shape,
                "the variable 'q' is f32(2, 3), but its gradient is f32(1, 3)"},
           Case{tensor(1.f), ErrorKind::shape,
                "the variable 'q' is f32(2, 3), but its gradient is f32()"},
           Case{ones({2, 3}, f64), ErrorKind::dtype,
                "the variable 'q' is f32(2, 3), but its gradient is f64(2, 3)"},
       }) {
    const std::string words = name + ": " + one.words;
    two.expect_unchanged(one.kind, words, [&] { optimizer.apply_gradients({good, one.gradient}); });
    two.expect_unchanged(one.kind, words,
                         [&] { optimizer.apply_sliced_gradients({good, one.gradient}); });
    auto traced = function([&](const Tensor &g) { optimizer.apply_gradients({good, g}); });
    two.expect_unchanged(one.kind, words, [&] { traced(one.gradient); });
  }
  two.expect_unchanged(ErrorKind::value, name + ": there are 1 gradients for 2 parameters",
                       [&] { optimizer.apply_gradients({good}); });
}

// Which sizes they have is known when the function runs, after another update in program order.
TYPED_TEST(Rejects, GradientsOfOpenSizes) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = state_of(optimizer);
  auto step = function([&](const Tensor &a, const Tensor &b) { optimizer.apply_gradients({a, b}); },
                       {.signature = {spec(f32, {unknown}), spec(f32, {unknown, unknown})}});
  for (const Shape &shape : {Shape{3, 2}, Shape{1, 3}, Shape{2, 1}}) {
    std::vector<Doubles> before;
    for (const Variable &v : two.all()) before.push_back(values_of(v));
    EXPECT_THROW(step(ones({2}), ones(shape)), ShapeError) << to_string(shape);
    EXPECT_THROW(step(ones({1}), ones({2, 3})), ShapeError);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(values_of(two.all()[i]), before[i]) << i;
  }
  step(ones({2}), ones({2, 3}));
  EXPECT_LT(values_of(two.p)[0], 1);
}

TYPED_TEST(Rejects, SlicesOfRowsThatThereAreNot) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = state_of(optimizer);
  const auto apply = [&](const Tensor &rows) {
    optimizer.apply_sliced_gradients({ones({2}), IndexedSlices{ones({1, 3}), rows, {2, 3}}});
  };
  auto traced = function(apply);
  const std::string words =
      Names::GetName<TypeParam>(0) + ": index 2 is out of range for an axis of size 2";
  two.expect_unchanged(ErrorKind::index, words, [&] { apply(tensor({2})); });
  two.expect_unchanged(ErrorKind::index, words, [&] { traced(tensor({2})); });
  two.expect_unchanged(
      ErrorKind::shape,
      Names::GetName<TypeParam>(0) +
          ": the variable 'q' is f32(2, 3), but its gradient of slices is f32(4, 3)",
      [&] {
        optimizer.apply_sliced_gradients(
            {ones({2}), IndexedSlices{ones({1, 3}), tensor({3}), {4, 3}}});
      });
}

TYPED_TEST(Rejects, UndefinedGradients) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = state_of(optimizer);
  const std::string name = Names::GetName<TypeParam>(0);
  two.expect_unchanged(ErrorKind::value,
                       name + ": no gradient is defined, of 'p', 'q': what the tape was asked for "
                              "does not depend on them",
                       [&] { optimizer.apply_gradients({Tensor(), Tensor()}); });
  // Of some, the log warns once.
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  for (int i = 0; i < 3; ++i) optimizer.apply_gradients({ones({2}), Tensor()});
  set_log_sink(before);
  EXPECT_EQ(lines, std::vector<std::string>{
                       name + ": no gradient is defined of 'q': updates leave that as it is"});
  EXPECT_LT(values_of(two.p)[0], 1);
  EXPECT_EQ(values_of(two.q)[0], 1);
}

TYPED_TEST(Rejects, VariablesThatCannotBeAssignedNow) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = state_of(optimizer);
  // The compiled function reads q, so that a host call may not assign it.
  auto traced = function([&](const Tensor &x) {
    const Tensor y = x + sum(two.q.value());
    host_call([&](const Tensor &) { optimizer.apply_gradients({ones({2}), ones({2, 3})}); }, {}, y);
    return y;
  });
  two.expect_unchanged(ErrorKind::state,
                       Names::GetName<TypeParam>(0) +
                           ": the variable 'q' is assigned by a host call inside of a compiled "
                           "function that uses it: let the function assign what the callable of a "
                           "host call returns",
                       [&] { traced(tensor(1.f)); });
}

// The learning rate is looked at before anything is added up.
TYPED_TEST(Rejects, LearningRatesWithAccumulation) {
  Two two;
  const Variable rate(tensor(0.5), "rate");
  const TypeParam optimizer({two.p, two.q}, {.learning_rate = rate, .accumulate = 2});
  two.state = optimizer.state();
  const std::string name = Names::GetName<TypeParam>(0) + ": the learning rate is ",
                    wanted = ", but must be at least 0 and finite in f32";
  const auto apply = [&] { optimizer.apply_gradients({ones({2}), ones({2, 3})}); };
  auto traced = function([&](const Tensor &g) { optimizer.apply_gradients({g, ones({2, 3})}); });
  for (const auto &[bad, text] : {std::pair(-1., "-1"), std::pair(double(NAN), "nan"),
                                  std::pair(double(INFINITY), "inf"), std::pair(1e308, "1e+308")}) {
    rate.assign(bad);
    two.expect_unchanged(ErrorKind::value, name + text + wanted, apply);
    EXPECT_THROW(traced(ones({2})), AssertionError);
    two.expect_unchanged(ErrorKind::value, name + text + wanted, apply);
  }
  rate.assign(0.5);
  apply();
  EXPECT_EQ(values_of(two.p)[0], 1);
  apply();
  EXPECT_LT(values_of(two.p)[0], 1);
}

TYPED_TEST(Rejects, LossesThatAreNoScalars) {
  Two two;
  const TypeParam optimizer({two.p, two.q});
  two.state = optimizer.state();
  const std::string name = Names::GetName<TypeParam>(0) + ": minimize: the loss ";
  two.expect_unchanged(ErrorKind::shape,
                       name + "must be a scalar, but is f32(2,): take its mean or sum",
                       [&] { optimizer.minimize([&] { return two.p * 2; }); });
  two.expect_unchanged(ErrorKind::dtype, name + "must be floating, but is i32()",
                       [&] { optimizer.minimize([&] { return sum(cast(two.p, i32)); }); });
  two.expect_unchanged(ErrorKind::value, name + "is an undefined tensor",
                       [&] { optimizer.minimize([&] { return Tensor(); }); });
}

TYPED_TEST(Rejects, WhatItIsCreatedWith) {
  const Variable w(zeros({2}), "w"), n(0, "n");
  const std::string name = Names::GetName<TypeParam>(0);
  EXPECT_THROWS(TypeParam({w, w}), ValueError, name + ": the variable 'w' is given twice");
  EXPECT_THROWS(TypeParam({w, n}), DTypeError,
                name + ": the variable 'n' must be floating, but is i32");
  EXPECT_THROWS(TypeParam({w}, {.learning_rate = -1}), ValueError,
                name + ": learning_rate is -1, but must be at least 0 and finite");
  EXPECT_THROW(TypeParam({w}, {.learning_rate = NAN}), ValueError);
  EXPECT_THROW(TypeParam({w}, {.learning_rate = INFINITY}), ValueError);
  EXPECT_THROWS(TypeParam({w}, {.learning_rate = 1e308}), ValueError,
                name + ": learning_rate is 1e+308, which is too large for f32, the dtype of the "
                       "variable 'w'");
  EXPECT_NO_THROW(TypeParam({Variable(zeros({2}, f64), "v")}, {.learning_rate = 1e308}));
  const Variable rates(ones({2}), "rates");
  EXPECT_THROWS(TypeParam({w}, {.learning_rate = rates}), ShapeError,
                name + ": the learning rate must be a floating scalar, but the variable 'rates' is "
                       "f32(2,)");
}

TEST(Adam, Options) {
  const Variable w(zeros({2}), "w");
  EXPECT_THROWS(optimizers::Adam({w}, {.beta1 = 1}), ValueError,
                "Adam: beta1 is 1, but must be at least 0 and below 1");
  EXPECT_THROW(optimizers::Adam({w}, {.beta2 = -0.1}), ValueError);
  EXPECT_THROW(optimizers::Adam({w}, {.epsilon = NAN}), ValueError);
}

TEST(Minimize, GivesWhatComesWithTheLoss) {
  const Variable w(tensor({3.f, 4.f}));
  optimizers::SGD sgd({w}, {.learning_rate = 0.5});
  const auto step = [&](const Tensor &x) {
    return sgd.minimize([&] {
      const Tensor y = w * x;
      return std::tuple(sum(square(y)) / 2, y, 7);
    });
  };
  const auto [loss, y, seven] = step(tensor({1.f, 1.f}));
  EXPECT_EQ(loss.item<float>(), 12.5f);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(seven, 7);
  EXPECT_EQ(w.value().to_vector<float>(), (std::vector<float>{1.5, 2}));
  auto traced = function([&](const Tensor &x) {
    const auto [value, result] = sgd.minimize([&] {
      const Tensor product = w * x;
      return std::pair(sum(square(product)) / 2, product);
    });
    return std::pair(value, result);
  });
  const auto [value, result] = traced(tensor({1.f, 1.f}));
  EXPECT_EQ(value.item<float>(), 3.125f);
  EXPECT_EQ(result.to_vector<float>(), (std::vector<float>{1.5, 2}));
}

} // namespace
} // namespace weft
