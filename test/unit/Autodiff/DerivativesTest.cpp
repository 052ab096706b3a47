// Properties of every derivative: vjp against finite differences, jvp against vjp, second order,
// and calls of rank 0 or without elements; and that none is without a sample or a text test.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "Autodiff/Forward.h"
#include "Near.h"
#include "Ops/Interpreter.h"
#include "Samples.h"
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft::test {
namespace {

std::vector<Tensor> floating(std::vector<Tensor> results) {
  std::erase_if(results, [](const Tensor &result) { return !is_floating(result.dtype()); });
  return results;
}

class Derivatives : public testing::TestWithParam<Sample> {
protected:
  const Sample &sample() const { return GetParam(); }
  /// The floating results.
  std::vector<Tensor> run(const std::vector<Tensor> &operands) const {
    return floating(dispatch_all(sample().op, operands, sample().attrs));
  }
  /// The operands that have a gradient.
  std::vector<std::size_t> active() const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < sample().operands.size(); ++i)
      if (is_floating(sample().operands[i].dtype())) list.push_back(i);
    return list;
  }
  /// Weights for the elements of the results.
  std::vector<Tensor> weights() const {
    std::vector<Tensor> list;
    for (const Tensor &y : run(sample().operands))
      list.push_back(values(y.shape(), 0.5, 1.5, 7 + static_cast<int>(list.size())));
    return list;
  }
};

double dot(const Tensor &a, const Tensor &b) {
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  EXPECT_EQ(x.size(), y.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

double dot(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// The weighted sum of results. An infinity in one is what an exclusive cumulative op gives of
/// nothing: no operand moves it.
double weighted(const std::vector<Tensor> &results, const std::vector<Tensor> &weights) {
  std::vector<Tensor> finite;
  for (const Tensor &y : results)
    finite.push_back(select(abs(y) == std::numeric_limits<double>::infinity(), 0., y));
  return dot(finite, weights);
}

/// The gradients by all active operands of the weighted sum of the call's results.
std::vector<Tensor> gradients(const Sample &sample, const std::vector<Tensor> &operands,
                              const std::vector<std::size_t> &active,
                              const std::vector<Tensor> &weights) {
  GradientTape tape;
  std::vector<Tensor> sources;
  for (std::size_t i : active) {
    tape.watch(operands[i]);
    sources.push_back(operands[i]);
  }
  const std::vector<Tensor> y = floating(dispatch_all(sample.op, operands, sample.attrs));
  return tape.gradient(y, sources, {.output_gradients = weights, .unconnected = Unconnected::zero});
}

/// d f / d operands[i] by central differences.
template <class F>
std::vector<double> differences(const std::vector<Tensor> &operands, std::size_t i, F f) {
  const std::vector<double> x = operands[i].to_vector<double>();
  std::vector<double> result;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double h = 1e-6;
    double at[2];
    for (int side : {0, 1}) {
      std::vector<double> moved = x;
      moved[k] += side == 0 ? -h : h;
      std::vector<Tensor> list = operands;
      list[i] = tensor(moved, operands[i].shape());
      at[side] = f(list);
    }
    result.push_back((at[1] - at[0]) / (2 * h));
  }
  return result;
}

TEST_P(Derivatives, VjpAgainstDifferences) {
  const std::vector<Tensor> w = weights();
  const std::vector<Tensor> actual = gradients(sample(), sample().operands, active(), w);
  for (std::size_t n = 0; n < actual.size(); ++n) {
    const std::size_t i = active()[n];
    SCOPED_TRACE("operand " + std::to_string(i));
    ASSERT_EQ(actual[n].type(), sample().operands[i].type());
    expect_near(actual[n],
                differences(sample().operands, i,
                            [&](const std::vector<Tensor> &at) { return weighted(run(at), w); }),
                1e-6);
  }
}

/// The tangents of the floating results of a call; zeros where there is none.
std::vector<Tensor> tangents_of(const Sample &sample, const std::vector<Tensor> &tangents) {
  std::vector<autodiff::Dual> duals(op_info(sample.op).results);
  duals[0] = autodiff::jvp(sample.op, sample.operands, tangents, sample.attrs,
                           std::span(duals).subspan(1));
  std::vector<Tensor> list;
  for (const autodiff::Dual &dual : duals) {
    if (!is_floating(dual.value.dtype())) continue;
    list.push_back(dual.tangent.defined() ? dual.tangent : zeros_like(dual.value));
    EXPECT_EQ(list.back().type(), dual.value.type());
  }
  return list;
}

TEST_P(Derivatives, JvpIsVjp) {
  const std::vector<Tensor> w = weights();
  const std::vector<Tensor> back = gradients(sample(), sample().operands, active(), w);
  std::vector<Tensor> all(sample().operands.size());
  double sum = 0;
  for (std::size_t n = 0; n < back.size(); ++n) {
    const std::size_t i = active()[n];
    // Each operand alone, then all together.
    std::vector<Tensor> alone(sample().operands.size());
    alone[i] = all[i] = values(sample().operands[i].shape(), -1, 1, static_cast<int>(i) + 9);
    const double product = dot(back[n], alone[i]);
    EXPECT_NEAR(dot(tangents_of(sample(), alone), w), product, 1e-12 * (1 + std::abs(product)))
        << "operand " << i;
    sum += product;
  }
  EXPECT_NEAR(dot(tangents_of(sample(), all), w), sum, 1e-12 * (1 + std::abs(sum)));
}

TEST_P(Derivatives, SecondOrderAgainstDifferences) {
  const std::vector<std::size_t> list = active();
  const std::vector<Tensor> w = weights();
  std::vector<Tensor> directions;
  for (std::size_t i : list)
    directions.push_back(values(sample().operands[i].shape(), 0.5, 1.5, static_cast<int>(i) + 4));
  // The gradient's component in these directions, and the gradient of that.
  const auto slope = [&](const std::vector<Tensor> &at) {
    const std::vector<Tensor> first = gradients(sample(), at, list, w);
    Tensor total = zeros({}, f64);
    for (std::size_t n = 0; n < first.size(); ++n) total = total + (first[n] * directions[n]).sum();
    return total;
  };
  GradientTape outer;
  std::vector<Tensor> sources;
  for (std::size_t i : list) {
    outer.watch(sample().operands[i]);
    sources.push_back(sample().operands[i]);
  }
  const Tensor total = slope(sample().operands);
  const std::vector<Tensor> second =
      outer.gradient(total, sources, {.unconnected = Unconnected::zero});
  for (std::size_t n = 0; n < second.size(); ++n) {
    SCOPED_TRACE("operand " + std::to_string(list[n]));
    expect_near(
        second[n],
        differences(sample().operands, list[n],
                    [&](const std::vector<Tensor> &at) { return slope(at).item<double>(); }),
        2e-6);
  }
}

TEST_P(Derivatives, SingleIsDouble) {
  Sample narrow = sample();
  for (Tensor &operand : narrow.operands)
    if (operand.dtype() == f64) operand = operand.astype(f32);
  for (Attr &attr : narrow.attrs)
    if (const auto *dtype = std::get_if<DType>(&attr); dtype && *dtype == f64) attr = f32;
  const std::vector<Tensor> w = weights();
  std::vector<Tensor> narrow_w;
  for (const Tensor &one : w) narrow_w.push_back(one.astype(f32));
  const std::vector<Tensor> wide = gradients(sample(), sample().operands, active(), w);
  const std::vector<Tensor> single = gradients(narrow, narrow.operands, active(), narrow_w);
  for (std::size_t n = 0; n < wide.size(); ++n) {
    ASSERT_EQ(single[n].dtype(), f32);
    expect_near(single[n].astype(f64), wide[n].to_vector<double>(), 2e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, Derivatives, testing::ValuesIn(differentiable_samples()),
                         [](const auto &info) { return info.param.name; });

class DegenerateDerivatives : public Derivatives {};

TEST_P(DegenerateDerivatives, HaveTheirTypes) {
  const std::vector<Tensor> w = weights();
  const std::vector<Tensor> back = gradients(sample(), sample().operands, active(), w);
  for (std::size_t n = 0; n < back.size(); ++n) {
    const std::size_t i = active()[n];
    EXPECT_EQ(back[n].type(), sample().operands[i].type()) << "operand " << i;
    std::vector<Tensor> tangents(sample().operands.size());
    tangents[i] = ones_like(sample().operands[i]);
    const std::vector<Tensor> forward = tangents_of(sample(), tangents);
    if (all_finite(back[n]) && std::ranges::all_of(forward, all_finite))
      EXPECT_NEAR(dot(forward, w), dot(back[n], tangents[i]), 1e-12) << "operand " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, DegenerateDerivatives, testing::ValuesIn(degenerate_samples()),
                         [](const auto &info) { return info.param.name; });

TEST(DerivativeSamples, CoverEveryOp) {
  for (const OpInfo &info : all_ops()) {
    if (!is_tested_alone(info)) continue;
    const auto counts = [&](const std::vector<Sample> &samples) {
      return std::ranges::count(samples, info.op, &Sample::op);
    };
    EXPECT_GT(counts(differentiable_samples()), 0)
        << info.name << " has a derivative, and its record no small sample";
    EXPECT_GT(counts(degenerate_samples()), 0)
        << info.name << " has a derivative, and its record no sample of rank 0 or without elements";
  }
}

/// All text tests in `folder` of test/, one behind the other.
std::string text_tests(const std::string &folder) {
  std::stringstream text;
  for (const auto &entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/test/" + folder))
    if (entry.path().extension() == ".mlir") text << std::ifstream(entry.path()).rdbuf();
  return text.str();
}

TEST(DerivativeTexts, CoverEveryOp) {
  const std::string tests = text_tests("AD") + text_tests("Dialect/Weft");
  for (const OpInfo &info : all_ops()) {
    if (!info.differentiable) continue;
    for (const char *direction : {"_vjp", "_jvp"}) {
      const std::string function = "@" + std::string(info.name) + direction;
      EXPECT_TRUE(tests.find("-LABEL: func.func " + function + "(") != std::string::npos)
          << info.name << " has a derivative, and no text test checks a function " << function
          << " for its code: add one to test/Dialect/Weft/" << info.name
          << ".mlir, as docs/adding-an-op.md does";
    }
  }
}

} // namespace
} // namespace weft::test
