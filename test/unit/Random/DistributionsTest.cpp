// Distributions: moments and frequencies of many numbers of fixed seeds, and bad parameters.
#include "../Testing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include <weft/weft.h>

namespace weft {
namespace {

using random::Generator;

constexpr std::int64_t kMany = 200000;

/// Sum of (observed - expected)^2 / expected.
double chi_square(const std::vector<double> &observed, const std::vector<double> &expected) {
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i)
    sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  return sum;
}

/// Whether a chi-square of that many degrees of freedom is within five standard deviations, on both
/// sides: too even is as wrong as too uneven.
void expect_plausible(double chi, double freedom) {
  EXPECT_NEAR(chi, freedom, 5 * std::sqrt(2 * freedom));
}

void expect_even(const std::vector<double> &counts) {
  double total = 0;
  for (const double count : counts) total += count;
  const double each = total / static_cast<double>(counts.size());
  expect_plausible(chi_square(counts, std::vector<double>(counts.size(), each)),
                   static_cast<double>(counts.size()) - 1);
}

/// The numbers of values in equal parts of [low, high).
std::vector<double> histogram(const std::vector<double> &values, double low, double high,
                              std::size_t parts) {
  std::vector<double> counts(parts);
  for (const double value : values) {
    const double at = (value - low) / (high - low) * static_cast<double>(parts);
    counts[std::min(parts - 1, static_cast<std::size_t>(std::max(at, 0.0)))] += 1;
  }
  return counts;
}

double cumulative(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

TEST(Distributions, Uniform) {
  for (const DType dtype : {f32, f64}) {
    const Generator g(1);
    const std::vector<double> values = g.uniform({kMany}, {.dtype = dtype}).to_vector<double>();
    for (const double value : values) ASSERT_TRUE(value >= 0 && value < 1);
    expect_even(histogram(values, 0, 1, 1000));
    // Neighbours, and the same elements of two draws, are independent.
    const std::vector<double> others = g.uniform({kMany}, {.dtype = dtype}).to_vector<double>();
    std::vector<double> pairs(400), draws(400);
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      pairs[static_cast<std::size_t>(values[i] * 20) * 20 +
            static_cast<std::size_t>(values[i + 1] * 20)] += 1;
    for (std::size_t i = 0; i < values.size(); ++i)
      draws[static_cast<std::size_t>(values[i] * 20) * 20 +
            static_cast<std::size_t>(others[i] * 20)] += 1;
    expect_even(pairs);
    expect_even(draws);
  }
}

/// Against the probabilities of 60 parts of [-3, 3], whose ends take what is beyond.
void expect_normal(const std::vector<double> &values, double limit) {
  const double inside = cumulative(limit) - cumulative(-limit);
  const double edge = std::min(limit, 3.0);
  constexpr int kParts = 60;
  std::vector<double> expected;
  for (int i = 0; i < kParts; ++i) {
    const double low = i == 0 ? -limit : -edge + 2 * edge * i / kParts;
    const double high = i + 1 == kParts ? limit : -edge + 2 * edge * (i + 1) / kParts;
    expected.push_back((cumulative(high) - cumulative(low)) / inside *
                       static_cast<double>(values.size()));
  }
  expect_plausible(chi_square(histogram(values, -edge, edge, kParts), expected), kParts - 1);
}

TEST(Distributions, Normal) {
  for (const DType dtype : {f32, f64}) {
    const Generator g(2);
    const std::vector<double> values = g.normal({kMany}, {.dtype = dtype}).to_vector<double>();
    for (const double value : values) ASSERT_TRUE(std::isfinite(value));
    expect_normal(values, 10);
    const Tensor moved = g.normal({kMany}, {.mean = 3, .stddev = 0.5, .dtype = dtype});
    expect_normal(((moved - 3) * 2).to_vector<double>(), 10);
  }
}

TEST(Distributions, TruncatedNormal) {
  for (const DType dtype : {f32, f64}) {
    const Generator g(3);
    const std::vector<double> values =
        g.truncated_normal({kMany}, {.dtype = dtype}).to_vector<double>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*low, -2);
    EXPECT_LT(*low, -1.999);
    EXPECT_LE(*high, 2);
    EXPECT_GT(*high, 1.999);
    expect_normal(values, 2);
    // 1 - 4 phi(2) / erf(sqrt(2))
    double squares = 0;
    for (const double value : values) squares += value * value;
    EXPECT_NEAR(squares / kMany, 0.7737, 0.01);
  }
}

TEST(Distributions, TruncatedNormalInvertsTheDistribution) {
  const Generator g(4), same(4);
  const std::vector<double> values = g.truncated_normal({1000}, {.dtype = f64}).to_vector<double>();
  const std::vector<double> units = same.uniform({1000}, {.dtype = f64}).to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(cumulative(values[i]), 0.5 + (units[i] - 0.5) * std::erf(std::numbers::sqrt2),
                1e-14);
}

TEST(Distributions, Bernoulli) {
  const Generator g(5);
  for (const double p : {0.0, 0.1, 0.5, 0.999, 1.0}) {
    const Tensor hits = g.bernoulli({kMany}, p);
    EXPECT_EQ(hits.dtype(), boolean);
    const auto count = static_cast<double>(sum(cast(hits, i64)).item<std::int64_t>());
    EXPECT_NEAR(count, p * kMany, 5 * std::sqrt(kMany * p * (1 - p)));
  }
  // A probability for each element, and one for each column.
  const Tensor each = g.bernoulli(tensor({0.f, 1.f, 0.f}));
  EXPECT_EQ(each.to_vector<int>(), (std::vector<int>{0, 1, 0}));
  const Tensor columns =
      mean(cast(g.bernoulli({kMany, 2}, tensor({0.25, 1.0})), f64), {.axes = Ints{0}});
  EXPECT_NEAR(columns[0].item<double>(), 0.25, 0.01);
  EXPECT_EQ(columns[1].item<double>(), 1);
  EXPECT_EQ(g.bernoulli(1).shape(), Shape{});
}

TEST(Distributions, Randint) {
  const Generator g(6);
  for (const DType dtype : {i32, i64}) {
    const Tensor x = g.randint({kMany}, -3, 4, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    std::vector<double> counts(7);
    for (const auto value : x.to_vector<std::int64_t>()) {
      ASSERT_TRUE(value >= -3 && value < 4);
      counts[static_cast<std::size_t>(value + 3)] += 1;
    }
    expect_even(counts);
    EXPECT_EQ(g.randint({}, 5, 6, dtype).item<std::int64_t>(), 5);
  }
  // The whole of i32, and the widest range.
  const Tensor all = g.randint({kMany}, -(1LL << 31), 1LL << 31, i32);
  expect_even(histogram(all.to_vector<double>(), -0x1p31, 0x1p31, 512));
  constexpr std::int64_t low = -(1LL << 62), high = low + (1LL << 53);
  for (const auto value : g.randint({1000}, low, high).to_vector<std::int64_t>())
    ASSERT_TRUE(value >= low && value < high);
}

TEST(Distributions, Permutation) {
  const Generator g(7);
  // Every order of four, and every position of every number of ten.
  std::map<std::vector<int>, double> orders;
  std::vector<double> positions(100);
  for (int i = 0; i < 24000; ++i) orders[g.permutation(4).to_vector<int>()] += 1;
  EXPECT_EQ(orders.size(), 24U);
  std::vector<double> counts;
  for (const auto &[order, count] : orders) counts.push_back(count);
  expect_even(counts);
  for (int i = 0; i < 10000; ++i) {
    const auto order = g.permutation(10, i32).to_vector<int>();
    for (std::size_t at = 0; at < 10; ++at)
      positions[at * 10 + static_cast<std::size_t>(order[at])] += 1;
  }
  // Rows and columns add up to the same, which leaves 81 degrees of freedom.
  expect_plausible(chi_square(positions, std::vector<double>(100, 1000)), 81);
  EXPECT_EQ(g.permutation(0).size(), 0);
  const Tensor rows = g.shuffle(arange(40).reshape({20, 2}));
  EXPECT_EQ(rows.shape(), (Shape{20, 2}));
  std::vector<bool> seen(20);
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto first = rows[{i, 0}].item<std::int64_t>();
    EXPECT_EQ((rows[{i, 1}].item<std::int64_t>()), first + 1);
    seen[static_cast<std::size_t>(first / 2)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST(Distributions, BadParameters) {
  const Generator g(8);
  EXPECT_THROWS(g.uniform({-1}), ShapeError,
                "random::uniform: a tensor cannot have the size -1 in axis 0");
  auto unsized = function([&](const Tensor &x) { return g.uniform(x.shape()); },
                          {.signature = {spec(f32, {2, unknown})}});
  EXPECT_THROWS(unsized(zeros({2, 3})), ShapeError,
                "random::uniform: this trace does not know the size of axis 1: for the shape of a "
                "tensor x use random::like(x)");
  EXPECT_THROWS(g.uniform({2}, {.low = 2, .high = 1}), ValueError,
                "random::uniform: low must be below high and both finite");
  EXPECT_THROWS(
      g.uniform({3}, {.low = -1e308, .high = 1.7e308, .dtype = f64}), ValueError,
      "random::uniform: the range [-1e+308, 1.7e+308) is wider than the largest number of "
      "the dtype f64");
  EXPECT_THROWS(
      g.uniform({3}, {.low = -3e38, .high = 3e38}), ValueError,
      "random::uniform: the range [-3e+38, 3e+38) is wider than the largest number of the "
      "dtype f32");
  EXPECT_THROWS(
      g.uniform({3}, {.low = -1e300, .high = 1e300}), ValueError,
      "random::uniform: the range [-1e+300, 1e+300) has bounds that are too large for the "
      "dtype f32");
  EXPECT_THROWS(g.uniform({3}, {.low = 1.00000001, .high = 1.00000002}), ValueError,
                "random::uniform: the range [1.00000001, 1.00000002) is empty: its bounds are the "
                "same number in f32");
  EXPECT_THROWS(g.normal({3}, {.mean = 1e300}), ValueError,
                "random::normal: numbers of mean 1e+300 and standard deviation 1 are too large for "
                "the dtype f32");
  EXPECT_THROW(g.normal({3}, {.mean = 1e38, .stddev = 1e38}), ValueError);
  EXPECT_THROW(g.normal({3}, {.stddev = 1e308, .dtype = f64}), ValueError);
  EXPECT_THROW(g.truncated_normal({3}, {.stddev = 2e38}), ValueError);
  EXPECT_THROW(random::uniform({3}, {.seed = 1, .low = -1e300, .high = 1e300}), ValueError);
  // As wide as it may be, numbers are in the range and spread over it.
  for (const DType dtype : {f32, f64}) {
    const double most = dtype == f32 ? 1.7e38 : 8.9e307;
    const Tensor x = g.uniform({1000}, {.low = -most, .high = most, .dtype = dtype}).astype(f64);
    EXPECT_GE(min(x).item<double>(), -most);
    EXPECT_LT(max(x).item<double>(), most);
    EXPECT_LT(min(x).item<double>(), -0.9 * most);
    EXPECT_GT(max(x).item<double>(), 0.9 * most);
    EXPECT_TRUE(std::isfinite(
        max(abs(g.normal({1000}, {.stddev = most / 9, .dtype = dtype}))).item<double>()));
  }
  EXPECT_THROWS(g.normal({2}, {.dtype = i64}), DTypeError,
                "random::normal: the dtype must be floating, but it is i64");
  EXPECT_THROWS(
      g.truncated_normal({2}, {.stddev = -1}), ValueError,
      "random::truncated_normal: the mean is 0 and the standard deviation -1: both must be "
      "finite, the latter not negative");
  EXPECT_THROWS(g.bernoulli({2}, 1.5), ValueError,
                "random::bernoulli: the probability 1.5 is not from 0 to 1");
  EXPECT_THROWS(g.bernoulli({2}, 1.0000002), ValueError,
                "random::bernoulli: the probability 1.0000002 is not from 0 to 1");
  EXPECT_THROWS(g.bernoulli({2}, -1e-9), ValueError,
                "random::bernoulli: the probability -1e-09 is not from 0 to 1");
  EXPECT_THROWS(g.bernoulli({2}, std::nan("")), ValueError,
                "random::bernoulli: the probability nan is not from 0 to 1");
  EXPECT_THROWS(g.bernoulli({2}, tensor({1, 0})), DTypeError,
                "random::bernoulli: the probability must be floating, but it is i32");
  EXPECT_THROW(g.bernoulli({2}, tensor({0.5f, -0.1f})), AssertionError);
  EXPECT_THROW(g.bernoulli({2}, tensor({0.5f, 0.5f, 0.5f})), ShapeError);
  auto f = function([&](const Tensor &p) { return g.bernoulli(p); });
  EXPECT_THROW(f(tensor({0.5f, 2.f})), AssertionError);
  EXPECT_EQ(f(tensor({1.f, 0.f})).to_vector<int>(), (std::vector<int>{1, 0}));
  EXPECT_THROWS(g.randint({2}, 3, 3), ValueError, "random::randint: the range [3, 3) is empty");
  EXPECT_THROWS(g.randint({2}, 0, 1LL << 32, i32), ValueError,
                "random::randint: the range [0, 4294967296) does not fit the dtype i32");
  EXPECT_THROWS(g.randint({2}, 0, (1LL << 53) + 1), ValueError,
                "random::randint: the range [0, 9007199254740993) has more than 2^53 numbers");
  EXPECT_THROWS(g.randint({2}, std::numeric_limits<std::int64_t>::min(), 5), ValueError,
                "random::randint: the range [-9223372036854775808, 5) has more than 2^53 numbers");
  EXPECT_THROWS(g.randint({2}, 0, 2, f32), DTypeError,
                "random::randint: the dtype must be an integer, but it is f32");
  EXPECT_THROWS(g.permutation(-1), ValueError, "random::permutation: n is -1");
  EXPECT_THROWS(g.permutation(5'000'000'000, i32), ValueError,
                "random::permutation: 5000000000 numbers do not fit the dtype i32");
  EXPECT_THROWS(g.shuffle(1), ShapeError,
                "random::shuffle: x is a scalar, so there is nothing to put in order");
}

TEST(Distributions, FailedDrawsDoNotAdvance) {
  const Generator g(9);
  EXPECT_THROW(g.uniform({2}, {.dtype = i32}), DTypeError);
  EXPECT_THROW(g.normal({-2}), ShapeError);
  EXPECT_THROW(g.bernoulli({2}, 2), ValueError);
  EXPECT_THROW(g.randint({2}, 1, 0), ValueError);
  EXPECT_THROW(g.shuffle(1), ShapeError);
  EXPECT_EQ(g.state().value()[1].item<std::int64_t>(), 0);
}

// A shape that does not fit is found before a value is, as in a trace.
TEST(Distributions, ShapesOfProbabilitiesComeFirst) {
  const auto draw = [](Tensor p) { return random::bernoulli({2}, p, {.seed = 1}); };
  const Tensor wrong = tensor({0.5F, 2.F, -1.F});
  EXPECT_THROW(static_cast<void>(draw(wrong)), ShapeError);
  EXPECT_THROW(static_cast<void>(function(draw)(wrong)), ShapeError);
  EXPECT_THROW(static_cast<void>(draw(tensor({0.5F, 2.F}))), AssertionError);
  EXPECT_THROW(static_cast<void>(function(draw)(tensor({0.5F, 2.F}))), AssertionError);
}

} // namespace
} // namespace weft
