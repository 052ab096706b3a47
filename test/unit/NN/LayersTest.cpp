// Layers: their values, where their first numbers come from, their names, and what they refuse.
#include "../Testing.h"

#include <cmath>

#include <weft/weft.h>

namespace weft {
namespace {

bool equal_everywhere(const Tensor &a, const Tensor &b) { return all(a == b).item<bool>(); }

TEST(Dense, IsAProductAndABias) {
  const nn::Dense layer(2, 3);
  layer.kernel.assign(tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}));
  layer.bias->assign(tensor({0.5f, 0.f, -40.f}));
  const Tensor x = tensor({{1.f, -1.f}, {2.f, 0.5f}});
  EXPECT_EQ(layer(x).to_vector<float>(), (std::vector<float>{-2.5, -3, -43, 4.5, 6.5, -31}));
  EXPECT_EQ(layer(reshape(x, {2, 1, 2})).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(layer(x[0]).shape(), (Shape{3}));
}

TEST(Dense, Activations) {
  const auto of = [](nn::Activation activation) {
    const nn::Dense layer(1, 1, {.activation = activation});
    layer.kernel.assign(1);
    return layer(tensor({{-2.f}, {1.f}})).to_vector<float>();
  };
  EXPECT_EQ(of({}), (std::vector<float>{-2, 1}));
  EXPECT_EQ(of(relu), (std::vector<float>{0, 1}));
  EXPECT_FLOAT_EQ(of(weft::tanh)[0], std::tanh(-2.f));
  EXPECT_FLOAT_EQ(of(logistic)[1], 1 / (1 + std::exp(-1.f)));
}

// Glorot and Bengio's bound is sqrt(6 / (inputs + units)), and the variance its square by 3.
TEST(Dense, StartsWithinTheBound) {
  const Tensor kernel = nn::Dense(300, 200, {.seed = 4}).kernel.value();
  const double bound = std::sqrt(6. / 500);
  EXPECT_LE(max(abs(kernel)).item<double>(), bound);
  EXPECT_GT(max(abs(kernel)).item<double>(), bound * 0.999);
  EXPECT_NEAR(mean(square(kernel)).item<double>(), bound * bound / 3, bound * bound / 100);
  EXPECT_EQ(max(abs(nn::Dense(3, 4).bias->value())).item<float>(), 0);
}

TEST(Dense, DefaultLayersDiffer) {
  const nn::Dense a(4, 4), b(4, 4);
  EXPECT_FALSE(equal_everywhere(a.kernel, b.kernel));
  // The same process makes them again, and so does a seed.
  random::set_seed(7);
  const nn::Dense c(4, 4), d(4, 4);
  random::set_seed(7);
  const nn::Dense e(4, 4), f(4, 4);
  EXPECT_TRUE(equal_everywhere(c.kernel, e.kernel));
  EXPECT_TRUE(equal_everywhere(d.kernel, f.kernel));
  EXPECT_FALSE(equal_everywhere(c.kernel, d.kernel));
  EXPECT_TRUE(
      equal_everywhere(nn::Dense(4, 4, {.seed = 3}).kernel, nn::Dense(4, 4, {.seed = 3}).kernel));
}

TEST(Dense, CreatedInATraceStartsWithNumbers) {
  std::optional<nn::Dense> layer;
  auto f = function([&](const Tensor &x) {
    if (!layer) layer.emplace(2, 2);
    return (*layer)(x);
  });
  const Tensor x = tensor({{1.f, 2.f}});
  EXPECT_EQ(f(x).to_vector<float>(), (*layer)(x).to_vector<float>());
  EXPECT_GT(max(abs(layer->kernel.value())).item<float>(), 0);
}

TEST(Dense, NamesOfItsOwn) {
  const nn::Dense a(1, 1), b(1, 1), named(1, 1, {.name = "head"});
  EXPECT_TRUE(a.kernel.name().starts_with("dense")) << a.kernel.name();
  EXPECT_TRUE(a.kernel.name().ends_with(".kernel")) << a.kernel.name();
  EXPECT_NE(a.kernel.name(), b.kernel.name());
  EXPECT_NE(a.bias->name(), b.bias->name());
  EXPECT_EQ(named.kernel.name(), "head.kernel");
  EXPECT_EQ(named.bias->name(), "head.bias");
}

TEST(Dense, WhatItRefuses) {
  EXPECT_THROWS(nn::Dense(-1, 4), ValueError,
                "Dense: there must be at least one input, but inputs is -1");
  EXPECT_THROWS(nn::Dense(4, 0), ValueError,
                "Dense: there must be at least one unit, but units is 0");
  nn::Dense layer(2, 3, {.name = "narrow"});
  const std::string words = "narrow: the last axis of x is 3, but the layer was built for 2";
  EXPECT_THROWS(layer(ones({4, 3})), ShapeError, words);
  EXPECT_THROWS(layer(tensor(1.f)), ShapeError,
                "narrow: x must have at least 1 axis, but is f32()");
  auto traced = function([&](const Tensor &x) { return layer(x); });
  EXPECT_THROWS(traced(ones({4, 3})), ShapeError, words);
}

TEST(Sequential, IsItsLayersInOrder) {
  const nn::Dense first(2, 3, {.activation = weft::tanh}), second(3, 1);
  const nn::Sequential model{first, second};
  const Tensor x = tensor({{1.f, 2.f}});
  EXPECT_TRUE(equal_everywhere(model(x), second(first(x))));
  EXPECT_EQ(model.parameters(),
            (std::vector<Variable>{first.kernel, *first.bias, second.kernel, *second.bias}));
}

TEST(Sequential, ALayerTwiceSharesItsVariables) {
  const nn::Dense layer(2, 2);
  const nn::Sequential model{layer, layer};
  EXPECT_EQ(model.parameters(), layer.parameters());
}

TEST(Sequential, NamesAreUnique) {
  nn::Sequential model;
  model.add("a", nn::Dense(1, 1)).add(nn::Dense(1, 1));
  EXPECT_THROWS(model.add("a", nn::Dense(1, 1)), ValueError,
                "Sequential: there is a layer 'a' already");
  EXPECT_THROWS(model.add("1", nn::Dense(1, 1)), ValueError,
                "Sequential: there is a layer '1' already");
  const std::string words =
      "' of a layer must not be empty or have a dot, for it is part of a path";
  EXPECT_THROWS(model.add("", nn::Dense(1, 1)), ValueError, "Sequential: the name '" + words);
  EXPECT_THROWS(model.add("a.b", nn::Dense(1, 1)), ValueError, "Sequential: the name 'a.b" + words);
  EXPECT_EQ(model.parameters().size(), 4u);
}

} // namespace
} // namespace weft
