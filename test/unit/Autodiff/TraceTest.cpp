// Tapes inside traced functions: the gradient is part of the trace, compiled, and the same as the
// eager one.
#include <gtest/gtest.h>

#include <weft/function.h>
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft {
namespace {

void expect_near(const Tensor &actual, const Tensor &expected) {
  ASSERT_EQ(actual.type(), expected.type());
  const std::vector<double> a = actual.astype(f64).to_vector<double>(),
                            b = expected.astype(f64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(b[i]))) << "element " << i;
}

const Tensor &input() {
  static const Tensor x = tensor({{1.f, 2.f}, {0.5f, -1.f}, {2.f, 2.f}});
  return x;
}

TEST(TracedTape, G20_TapeInsideAFunction) {
  Variable w(tensor({{1.f, 2.f}, {3.f, 4.f}}), "w");
  const auto slope = [&](Tensor x) {
    GradientTape tape;
    const Tensor loss = mean(square(matmul(x, w) - 1));
    return tape.gradient(loss, {w})[0];
  };
  const Tensor expected = slope(input());
  expect_near(function(slope)(input()), expected);
  expect_near(function(slope, {.signature = {spec(f32, {unknown, 2})}})(input()), expected);
}

TEST(TracedTape, NestedTapes) {
  const auto curvature = [](Tensor x) {
    GradientTape outer, inner;
    outer.watch(x);
    inner.watch(x);
    const Tensor first = inner.gradient(sum(tanh(x) * x), {x})[0];
    return outer.gradient(first, {x})[0];
  };
  const Tensor expected = curvature(input());
  expect_near(function(curvature)(input()), expected);
  expect_near(function(curvature, {.signature = {spec(f32, {unknown, unknown})}})(input()),
              expected);
}

TEST(TracedTape, SecondDerivativeOfAProductWithAZeroOfUnknownSize) {
  // d (x0 x1 x2) / d x0 = x1 x2, whose derivatives are (0, x2, x1), also where x1 is 0.
  const auto mixed = [](Tensor x, Tensor weights) {
    GradientTape outer, inner;
    outer.watch(x);
    inner.watch(x);
    const Tensor first = inner.gradient(prod(x), {x})[0];
    return outer.gradient(first * weights, {x})[0];
  };
  const Tensor x = tensor({2.f, 0.f, 3.f}), weights = tensor({1.f, 0.f, 0.f});
  const Tensor expected = tensor({0.f, 3.f, 0.f});
  expect_near(mixed(x, weights), expected);
  expect_near(
      function(mixed, {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}})(x, weights),
      expected);
}

TEST(TracedTape, EveryReadOfAVariableCounts) {
  Variable v(tensor(2.f), "v");
  const auto step = [&](Tensor x) {
    GradientTape tape;
    const Tensor first = v * v * x;
    v.assign(5.f);
    const Tensor second = v * 3;
    const Tensor slope = tape.gradient(first + second, {v})[0];
    v.assign(2.f);
    return slope;
  };
  const Tensor one = tensor(1.f);
  EXPECT_EQ(step(one).item<float>(), 7);
  EXPECT_EQ(function(step)(one).item<float>(), 7);
}

TEST(TracedTape, UnknownSizesThatARuleNeeds) {
  const auto slope = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(x.reshape({-1}), {x})[0];
  };
  auto traced = function(slope, {.signature = {spec(f32, {unknown, unknown})}});
  try {
    (void)traced(input());
    FAIL() << "the derivative of reshape cannot know two sizes";
  } catch (const ShapeError &error) {
    EXPECT_NE(std::string(error.what())
                  .find("the derivative of reshape needs an operand with at most one unknown size, "
                        "but its shape is (?, ?)"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
} // namespace weft
