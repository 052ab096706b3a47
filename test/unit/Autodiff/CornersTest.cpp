// Derivatives at the corners of their ops: zeros of both signs, infinities, NaN, ends of domains.
// The expected values are limits taken by hand, or what docs/autodiff.md says where there is none.
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "../Testing.h"
#include "OpDefs/OpInfo.h"
#include "Ops/Interpreter.h"
#include <weft/weft.h>

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

/// The derivative of an op of one operand at these points, in this order.
struct Unary {
  const char *op;
  std::vector<double> at_nan_and; ///< at 0, -0, 1, -1, infinity, -infinity; at NaN it is NaN
};

const std::vector<double> points = {0., -0., 1., -1., inf, -inf};

const std::vector<Unary> unary_table = {
    {"negate", {-1, -1, -1, -1, -1, -1}},
    {"abs", {0, 0, 1, -1, 1, -1}},
    {"exp", {1, 1, std::exp(1.), std::exp(-1.), inf, 0}},
    {"expm1", {1, 1, std::exp(1.), std::exp(-1.), inf, 0}},
    // Where log is NaN the derivative of its real part stands.
    {"log", {inf, -inf, 1, -1, 0, -0.}},
    {"log2", {inf, -inf, 1 / std::numbers::ln2, -1 / std::numbers::ln2, 0, -0.}},
    {"log10", {inf, -inf, 1 / std::numbers::ln10, -1 / std::numbers::ln10, 0, -0.}},
    {"log1p", {1, 1, 0.5, inf, 0, -0.}},
    {"tanh", {1, 1, 1 - std::pow(std::tanh(1.), 2), 1 - std::pow(std::tanh(1.), 2), 0, 0}},
    {"erf",
     {1.1283791670955126, 1.1283791670955126, 0.41510749742059472, 0.41510749742059472, 0, 0}},
    {"logistic", {0.25, 0.25, 0.19661193324148185, 0.19661193324148185, 0, 0}},
    // The root of -0 is -0.
    {"sqrt", {inf, -inf, 0.5, nan, 0, nan}},
    {"rsqrt", {-inf, inf, -0.5, nan, -0., nan}},
    {"sin", {1, 1, std::cos(1.), std::cos(1.), nan, nan}},
    {"cos", {0, 0, -std::sin(1.), std::sin(1.), nan, nan}},
    // Special functions. Poles are where the formulas have them; where there is no limit it is NaN.
    {"erfc",
     {-1.1283791670955126, -1.1283791670955126, -0.4151074974205947, -0.4151074974205947, -0.0,
      -0.0}},
    {"erfcx",
     {-1.1283791670955126, -1.1283791670955126, -0.27321201478389867, -11.14633932862008, -0.0,
      -inf}},
    {"erfinv", {0.886226925452758, 0.886226925452758, inf, inf, nan, nan}},
    {"ndtr",
     {0.3989422804014327, 0.3989422804014327, 0.24197072451914337, 0.24197072451914337, 0.0, 0.0}},
    {"log_ndtr",
     {0.7978845608028654, 0.7978845608028654, 0.28759997093917833, 1.5251352761609813, 0.0, inf}},
    {"ndtri", {inf, inf, inf, nan, nan, nan}},
    {"gamma", {-inf, -inf, -0.5772156649015329, nan, inf, nan}},
    {"lgamma", {-inf, inf, -0.5772156649015329, nan, inf, nan}},
    {"digamma", {inf, inf, 1.6449340668482266, inf, 0.0, inf}},
    {"i0", {0.0, -0.0, 0.565159103992485, -0.565159103992485, inf, -inf}},
    {"i0e", {0.0, -0.0, -0.257849192243932, 0.257849192243932, 0.0, 0.0}},
    {"i1", {0.5, 0.5, 0.7009067737595234, 0.7009067737595234, inf, inf}},
    {"i1e", {0.5, 0.5, 0.04993877689422355, 0.04993877689422355, 0.0, 0.0}},
    {"sinpi",
     {3.141592653589793, 3.141592653589793, -3.141592653589793, -3.141592653589793, nan, nan}},
    {"cospi", {-0.0, 0.0, -0.0, 0.0, nan, nan}},
    {"sinc", {-0.0, 0.0, -1.0, 1.0, nan, nan}},
    {"tan", {1.0, 1.0, 3.42551882081476, 3.42551882081476, nan, nan}},
    {"atan", {1.0, 1.0, 0.5, 0.5, 0.0, 0.0}},
    {"asin", {1.0, 1.0, inf, inf, nan, nan}},
    {"acos", {-1.0, -1.0, -inf, -inf, nan, nan}},
    {"sinh", {1.0, 1.0, 1.5430806348152437, 1.5430806348152437, inf, inf}},
    {"cosh", {0.0, -0.0, 1.1752011936438014, -1.1752011936438014, inf, -inf}},
    {"asinh", {1.0, 1.0, 0.7071067811865475, 0.7071067811865475, 0.0, 0.0}},
    {"acosh", {nan, nan, inf, nan, 0.0, nan}},
    {"atanh", {1.0, 1.0, inf, inf, -0.0, -0.0}},
    {"cbrt", {inf, inf, 0.3333333333333333, 0.3333333333333333, 0.0, 0.0}},
};

void expect_same(const std::vector<double> &found, const std::vector<double> &expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) EXPECT_TRUE(std::isnan(found[i])) << found[i] << " at " << i;
    else if (std::isinf(expected[i])) EXPECT_EQ(found[i], expected[i]) << "at " << i;
    else EXPECT_NEAR(found[i], expected[i], tolerance) << "at " << i;
  }
}

/// The derivatives of f at x by the tape, which must be those of compiled code.
template <class F>
std::vector<double> slopes(const F &f, const Tensor &x) {
  const auto of = [&](const auto &callable) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(callable(x), {x})[0];
  };
  const std::vector<double> eager = of(f).astype(f64).template to_vector<double>();
  const std::vector<double> compiled = of(function(f)).astype(f64).template to_vector<double>();
  SCOPED_TRACE("compiled against eager");
  expect_same(compiled, eager, 1e-14);
  return eager;
}

TEST(Corners, OfEveryOpOfOneOperand) {
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::elementwise || info.operands.size() != 1 || !info.attrs.empty() ||
        !info.differentiable || !info.operands[0].admits.contains(f64))
      continue;
    SCOPED_TRACE(std::string(info.name));
    const auto row =
        std::ranges::find_if(unary_table, [&](const Unary &u) { return info.name == u.op; });
    ASSERT_NE(row, unary_table.end()) << "a new op needs a row in this table";
    const auto f = [&](const Tensor &x) { return dispatch(info.op, {&x, 1}); };
    for (const DType dtype : {f64, f32}) {
      std::vector<double> x = points, expected = row->at_nan_and;
      x.push_back(nan);
      // A linear op has one derivative everywhere.
      expected.push_back(info.saved == 0 ? expected[0] : nan);
      expect_same(slopes(f, tensor(x, {7}).astype(dtype)), expected, dtype == f64 ? 1e-14 : 1e-6);
    }
  }
}

/// The derivatives of f(x, y) by both at one point.
struct Binary {
  const char *name;
  Tensor (*f)(const Operand &, const Operand &);
  double x, y, by_x, by_y;
};

const std::vector<Binary> binary_table = {
    {"0 * inf", multiply, 0, inf, inf, 0},
    {"inf * 0", multiply, inf, 0, 0, inf},
    {"1 / 0", divide, 1, 0, inf, -inf},
    {"0 / 0", divide, 0, 0, inf, nan},
    {"1 / inf", divide, 1, inf, 0, 0},
    {"inf / inf", divide, inf, inf, 0, nan},
    // x^y: by x it is y x^(y-1), by y it is x^y log x, and 0 where x is 0.
    {"0^0", power, 0, 0, 0, 0},
    {"0^1", power, 0, 1, 1, 0},
    {"0^0.5", power, 0, 0.5, inf, 0},
    {"0^2", power, 0, 2, 0, 0},
    {"0^-1", power, 0, -1, -inf, 0},
    {"(-2)^2", power, -2, 2, -4, nan},
    {"(-2)^3", power, -2, 3, 12, nan},
    {"1^inf", power, 1, inf, inf, 0},
    {"inf^0", power, inf, 0, 0, inf},
    {"inf^2", power, inf, 2, inf, inf},
    {"inf^-1", power, inf, -1, -0., nan}, // 0 times log(inf)
    // Equal values share the gradient; next to a NaN nobody has any.
    {"max(0, -0)", maximum, 0, -0., 0.5, 0.5},
    {"max(inf, inf)", maximum, inf, inf, 0.5, 0.5},
    {"max(-inf, 1)", maximum, -inf, 1, 0, 1},
    {"max(nan, 1)", maximum, nan, 1, 0, 0},
    {"min(inf, 1)", minimum, inf, 1, 0, 1},
    {"min(1, nan)", minimum, 1, nan, 0, 0},
};

TEST(Corners, OfOpsOfTwoOperands) {
  for (const Binary &row : binary_table) {
    SCOPED_TRACE(row.name);
    const Tensor x = tensor(row.x), y = tensor(row.y);
    expect_same(slopes([&](const Tensor &t) { return row.f(t, y); }, x), {row.by_x}, 1e-14);
    expect_same(slopes([&](const Tensor &t) { return row.f(x, t); }, y), {row.by_y}, 1e-14);
  }
}

TEST(Corners, OfReductionsAndNorms) {
  const auto norm = [](const Tensor &x) { return sqrt(sum(x * x)); };
  expect_same(slopes(norm, tensor({3., 4.})), {0.6, 0.8}, 1e-15);
  // At 0 a norm has no derivative.
  expect_same(slopes(norm, tensor({0., 0.})), {nan, nan}, 0);
  expect_same(slopes(norm, tensor({inf, 1.})), {nan, 0}, 0);
  const auto largest = [](const Tensor &x) { return max(x); };
  expect_same(slopes(largest, tensor({-inf, -inf})), {0.5, 0.5}, 0);
  expect_same(slopes(largest, tensor({1., inf, inf})), {0, 0.5, 0.5}, 0);
  const auto smallest = [](const Tensor &x) { return min(x); };
  expect_same(slopes(smallest, tensor({inf, -inf})), {0, 1}, 0);
  const auto product = [](const Tensor &x) { return prod(x); };
  expect_same(slopes(product, tensor({inf, 2.})), {2, inf}, 0);
  expect_same(slopes(product, tensor({0., inf, 3.})), {inf, 0, nan}, 0);
  const auto average = [](const Tensor &x) { return mean(x); };
  expect_same(slopes(average, tensor({nan, inf})), {0.5, 0.5}, 0);
  const auto softmax = [](const Tensor &x) { return sum(nn::softmax(x) * tensor({1., 2.})); };
  expect_same(slopes(softmax, tensor({1000., 0.})), {0, 0}, 0);
  expect_same(slopes(softmax, tensor({0., 0.})), {-0.25, 0.25}, 1e-15);
}

TEST(Corners, ASelectedValueKeepsTheNanOfTheOther) {
  // The gradient of the value that is not selected is 0, and 0 times an infinite slope is NaN.
  const auto unsafe = [](const Tensor &x) { return select(x > 0, sqrt(x), 0.); };
  expect_same(slopes(unsafe, tensor({4., 0., -1.})), {0.25, nan, nan}, 0);
  const auto safe = [](const Tensor &x) {
    return sqrt(select(x > 0, x, 1.)) * (x > 0).astype(f64);
  };
  expect_same(slopes(safe, tensor({4., 0., -1.})), {0.25, 0, 0}, 0);
}

} // namespace
} // namespace weft
