// Gradients of cumulative ops and of sorting where a quotient or a single choice would be wrong:
// zeros, equal extrema, NaN and infinities.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <weft/composites.h>
#include <weft/gradient_tape.h>

namespace weft {
namespace {

using Numbers = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Numbers numbers(const Tensor &x) { return x.astype(f64).to_vector<double>(); }

/// The gradient by x of the sum of f(x), with weights.
template <class F>
Numbers gradient(const Tensor &x, const Tensor &weights, F f) {
  GradientTape tape;
  tape.watch(x);
  return numbers(tape.gradient(f(x), {x}, {.output_gradients = {weights}})[0]);
}

TEST(Cumulative, ProductsWithZerosHaveTheirDerivative) {
  // y = (x0, x0 x1, x0 x1 x2, x0 x1 x2 x3)
  const Tensor ones = tensor({1., 1., 1., 1.});
  const auto product = [](const Tensor &x) { return cumprod(x); };
  EXPECT_EQ(gradient(tensor({2., 0., 3., 5.}), ones, product), (Numbers{1, 2 + 6 + 30, 0, 0}));
  EXPECT_EQ(gradient(tensor({0., 2., 0., 5.}), ones, product), (Numbers{1 + 2, 0, 0, 0}));
}

TEST(Cumulative, SecondDerivativeOfAProductWithAZero) {
  // d (x0 + x0 x1 + x0 x1 x2) / d x1 = x0 + x0 x2, whose derivatives by x are (1 + x2, 0, x0).
  const Tensor x = tensor({2., 0., 3.});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor first = inner.gradient(cumprod(x), {x})[0];
  EXPECT_EQ(numbers(outer.gradient(first * Tensor(tensor({0., 1., 0.})), {x})[0]),
            (Numbers{4, 0, 2}));
}

TEST(Cumulative, EqualExtremaShareTheGradient) {
  const Tensor x = tensor({1., 5., 5., 3., 5., 7.}), w = tensor({1., 2., 4., 6., 12., 3.});
  // Cotangents of the 5s: 2 for one of them, 4 + 6 for two, 12 for three.
  const Numbers shares = gradient(x, w, [](const Tensor &x) { return cummax(x); });
  const Numbers expected{1, 2 + 5 + 4, 5 + 4, 0, 4, 3};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(shares[i], expected[i], 1e-14) << i; // thirds are not exact
  // The last of a run is what `min` gives.
  const Numbers last =
      gradient(-x, tensor({0., 0., 0., 0., 3., 0.}), [](const Tensor &x) { return cummin(x); });
  const Numbers of_min =
      gradient(-x, tensor(3.), [](const Tensor &x) { return min(x[slice(0, 5)]); });
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i], of_min[i], 1e-15) << i;
  // From -inf, which is where it starts.
  EXPECT_EQ(
      gradient(tensor({-kInf, -kInf}), tensor({1., 2.}), [](const Tensor &x) { return cummax(x); }),
      (Numbers{2, 1}));
}

TEST(Cumulative, NanHasNoPartInTheDerivative) {
  EXPECT_EQ(gradient(tensor({2., std::nan(""), 3.}), tensor({1., 10., 100.}),
                     [](const Tensor &x) { return cummax(x); }),
            (Numbers{1, 0, 0}));
}

TEST(Cumulative, ExponentialsOfInfinity) {
  const auto total = [](const Tensor &x) { return logcumsumexp(x); };
  EXPECT_EQ(gradient(tensor({-kInf, 0.}), tensor({1., 1.}), total), (Numbers{1, 1}));
  EXPECT_EQ(gradient(tensor({0., -kInf}), tensor({1., 1.}), total), (Numbers{2, 0}));
  const Numbers far = gradient(tensor({1000., 1000.}), tensor({0., 1.}), total);
  EXPECT_NEAR(far[0], 0.5, 1e-12);
  EXPECT_NEAR(far[1], 0.5, 1e-12);
}

TEST(Sorting, GradientsFollowTheirElements) {
  const Tensor w = tensor({1., 2., 3.});
  EXPECT_EQ(gradient(tensor({30., 10., 20.}), w, [](const Tensor &x) { return sort(x); }),
            (Numbers{3, 1, 2}));
  EXPECT_EQ(gradient(tensor({3., 1., 2., 9.}), tensor({1., 2.}),
                     [](const Tensor &x) { return top_k(x, 2).values; }),
            (Numbers{2, 0, 0, 1}));
}

} // namespace
} // namespace weft
