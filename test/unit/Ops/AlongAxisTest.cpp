// Ops along one axis, eagerly: running totals in every direction against loops, sorting, elements
// taken and added along an axis, and what they do with NaN, ties and nothing.
#include "../Testing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <weft/composites.h>

namespace weft {
namespace {

using Numbers = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Numbers numbers(const Tensor &x) { return x.astype(f64).to_vector<double>(); }

TEST(Cumulative, EveryDirectionAgainstLoops) {
  const Shape shape{3, 4, 5};
  const Tensor x = (arange(60) * 7 % 31 - 15).reshape(shape);
  const auto value = x.span<int>();
  for (const std::int64_t axis : {0, 1, 2, -1})
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true}) {
        const auto at = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
        const std::int64_t size = shape[at], inner = at == 0 ? 20 : at == 1 ? 5 : 1;
        std::vector<int> sums(60), tops(60);
        for (std::int64_t i = 0; i < 60; ++i) {
          const std::int64_t index = i / inner % size;
          int sum = 0, top = std::numeric_limits<int>::lowest();
          for (std::int64_t j = 0; j < size; ++j) {
            const bool counts = j == index ? !exclusive : (j < index) != reverse;
            if (!counts) continue;
            const int other = value[static_cast<std::size_t>(i + (j - index) * inner)];
            sum += other;
            top = std::max(top, other);
          }
          sums[static_cast<std::size_t>(i)] = sum;
          tops[static_cast<std::size_t>(i)] = top;
        }
        EXPECT_EQ(cumsum(x, {axis, reverse, exclusive}).to_vector<int>(), sums) << axis;
        EXPECT_EQ(cummax(x, {axis, reverse, exclusive}).to_vector<int>(), tops) << axis;
        // The other way round, but for what nothing has.
        if (!exclusive)
          EXPECT_EQ((-cummin(-x, {axis, reverse, exclusive})).to_vector<int>(), tops) << axis;
      }
}

TEST(Cumulative, OfNothing) {
  const CumsumOptions none{.axis = 0, .exclusive = true};
  EXPECT_EQ(numbers(cumsum(tensor({7.}), none)), Numbers{0});
  EXPECT_EQ(numbers(cumprod(tensor({7.}), {.exclusive = true})), Numbers{1});
  EXPECT_EQ(numbers(cummax(tensor({7.}), {.exclusive = true})), Numbers{-kInf});
  EXPECT_EQ(numbers(cummin(tensor({7.}), {.exclusive = true})), Numbers{kInf});
  EXPECT_EQ(numbers(logcumsumexp(tensor({7.}), {.exclusive = true})), Numbers{-kInf});
  EXPECT_EQ(cummin(tensor({7}), {.exclusive = true}).item<int>(), std::numeric_limits<int>::max());
}

TEST(Cumulative, SpecialValues) {
  const double nan = std::nan("");
  // The first element comes as it is, and a NaN stays.
  EXPECT_TRUE(std::signbit(cumsum(tensor({-0.0})).item<double>()));
  EXPECT_EQ(numbers(cummax(tensor({1., kInf, 2.}))), (Numbers{1, kInf, kInf}));
  const Numbers running = numbers(cummin(tensor({3., nan, 1.})));
  EXPECT_EQ(running[0], 3);
  EXPECT_TRUE(std::isnan(running[1]) && std::isnan(running[2]));
  EXPECT_TRUE(std::isnan(cumsum(tensor({kInf, -kInf}))[1].item<double>()));
  EXPECT_EQ(numbers(logcumsumexp(tensor({-kInf, -kInf, 0., kInf, kInf}))),
            (Numbers{-kInf, -kInf, 0, kInf, kInf}));
  // exp(1000) is no number, but its logarithm is.
  EXPECT_NEAR(logcumsumexp(tensor({1000., 1000.}))[1].item<double>(), 1000 + std::log(2), 1e-12);
}

TEST(Cumulative, PromotesAsOtherOpsDo) {
  EXPECT_EQ(cumsum(tensor({1, 2})).dtype(), i32);
  EXPECT_EQ(logcumsumexp(tensor({1, 2})).dtype(), f32);
  EXPECT_EQ(linear_recurrence(tensor({1, 2}), tensor({1.f, 2.f})).dtype(), f32);
}

TEST(Cumulative, OfViewsAndNothing) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_EQ(cumsum(x.mT(), {.axis = 0}).to_vector<int>(), (std::vector<int>{0, 3, 1, 7, 3, 12}));
  EXPECT_EQ(cumsum(broadcast(tensor({1, 2}), {3, 2}), {.axis = 0}).to_vector<int>(),
            (std::vector<int>{1, 2, 2, 4, 3, 6}));
  EXPECT_EQ(cumprod(zeros({2, 0, 3}), {.axis = 1}).shape(), (Shape{2, 0, 3}));
}

TEST(Cumulative, LongAxesOfManyLines) {
  const Tensor x = (arange(3 * 40000) % 7 - 3).reshape({3, 40000});
  const auto value = x.span<int>();
  const std::vector<int> lines = cumsum(x).to_vector<int>();
  const std::vector<int> slices = cumsum(x.mT().contiguous(), {.axis = 0}).mT().to_vector<int>();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int before = i % 40000 == 0 ? 0 : lines[i - 1];
    ASSERT_EQ(lines[i], before + value[i]) << i;
  }
  EXPECT_EQ(lines, slices);
}

TEST(LinearRecurrence, GoesEveryWay) {
  const Tensor a = tensor({2., 3., 5.}), x = tensor({1., 10., 100.});
  EXPECT_EQ(numbers(linear_recurrence(a, x)), (Numbers{1, 13, 165}));
  EXPECT_EQ(numbers(linear_recurrence(a, x, {.shifted = true})), (Numbers{1, 12, 136}));
  EXPECT_EQ(numbers(linear_recurrence(a, x, {.exclusive = true})), (Numbers{0, 1, 13}));
  EXPECT_EQ(numbers(linear_recurrence(a, x, {.reverse = true})), (Numbers{621, 310, 100}));
  // The first factor has no part, even if it is no number.
  EXPECT_EQ(linear_recurrence(tensor({std::nan("")}), tensor({4.})).item<double>(), 4);
}

TEST(Sorting, IsStableAndNanIsLargest) {
  const double nan = std::nan("");
  const Tensor x = tensor({2., nan, -kInf, 2., nan, 0., -0., kInf});
  using Indices = std::vector<std::int64_t>;
  EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), (Indices{2, 5, 6, 0, 3, 7, 1, 4}));
  EXPECT_EQ(argsort(x, {.descending = true}).to_vector<std::int64_t>(),
            (Indices{1, 4, 7, 0, 3, 5, 6, 2}));
  EXPECT_EQ(numbers(sort(tensor({3., 1., 2.}), {.descending = true})), (Numbers{3, 2, 1}));
  EXPECT_EQ(sort({{3, 1}, {2, 2}}, {.axis = 0}).to_vector<int>(), (std::vector<int>{2, 1, 3, 2}));
  EXPECT_EQ(sort(tensor({{3, 1, 2}}).mT(), {.axis = 0}).to_vector<int>(),
            (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(argsort(zeros({2, 0})).type(), spec(i64, {2, 0}));
}

TEST(Sorting, ManyElementsAgainstTheLibrary) {
  const Tensor x = (arange(2 * 5000) * 7919 % 1009).reshape({2, 5000});
  std::vector<int> expected = x.to_vector<int>();
  std::sort(expected.begin(), expected.begin() + 5000);
  std::sort(expected.begin() + 5000, expected.end());
  EXPECT_EQ(sort(x).to_vector<int>(), expected);
  EXPECT_EQ(sort(x.mT().contiguous(), {.axis = 0}).mT().to_vector<int>(), expected);
}

TEST(Sorting, ValuesKeepTheirBits) {
  const Tensor x = tensor({0., -0., 1., -0., std::nan(""), -std::nan(""), 0.});
  const auto signs = [](const Tensor &sorted) {
    std::vector<bool> found;
    for (const double value : sorted.to_vector<double>()) found.push_back(std::signbit(value));
    return found;
  };
  EXPECT_EQ(signs(sort(x)), (std::vector<bool>{0, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(signs(sort(x, {.descending = true})), (std::vector<bool>{0, 1, 0, 0, 1, 1, 0}));
}

TEST(Sorting, FirstIndicesOnly) {
  const Tensor x = arange(5000) * 7919 % 1009;
  for (const std::int64_t count : {0, 1, 10, 100, 4999, 5000})
    for (const bool descending : {false, true})
      EXPECT_EQ(argsort(x, {.descending = descending, .count = count}).to_vector<std::int64_t>(),
                argsort(x, {.descending = descending})[slice(0, count)].to_vector<std::int64_t>())
          << count;
  EXPECT_THROWS(argsort(x, {.count = 5001}), ValueError,
                "argsort: the first 5001 are asked for, but axis 0 of x, which has shape (5000,), "
                "is shorter");
}

TEST(Sorting, TopK) {
  const auto [values, indices] = top_k(tensor({{1., 9., 4., 9.}, {7., 5., 6., 8.}}), 2);
  EXPECT_EQ(numbers(values), (Numbers{9, 9, 8, 7}));
  EXPECT_EQ(indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 3, 3, 0}));
  const auto low = top_k(tensor({{3, 1}, {2, 5}, {0, 4}}), 1, {.axis = 0, .smallest = true});
  EXPECT_EQ(low.values.to_vector<int>(), (std::vector<int>{0, 1}));
  EXPECT_EQ(low.indices.shape(), (Shape{1, 2}));
  EXPECT_EQ(top_k(tensor({1., 2.}), 0).values.shape(), Shape{0});
}

TEST(AlongAxis, TakesAndAdds) {
  const Tensor x = tensor({{10, 20, 30}, {40, 50, 60}});
  EXPECT_EQ(take_along_axis(x, tensor({{1, 0, 1}}), {.axis = 0}).to_vector<int>(),
            (std::vector<int>{40, 20, 60}));
  EXPECT_EQ(take_along_axis(x, tensor({{-1}, {-3}})).to_vector<int>(), (std::vector<int>{30, 40}));
  EXPECT_EQ(add_along_axis(x, tensor({{0, 0}, {2, 0}}), tensor({{1, 2}, {3, 4}})).to_vector<int>(),
            (std::vector<int>{13, 20, 30, 44, 50, 63}));
  EXPECT_THROWS(take_along_axis(x, tensor({{3}, {0}})), IndexError,
                "take_along_axis: index 3 is out of range for an axis of size 3");
  EXPECT_THROWS(add_along_axis(x, tensor({{0}, {-1}}), tensor({{1}, {1}})), IndexError,
                "add_along_axis: index -1 is out of range for an axis of size 3");
}

} // namespace
} // namespace weft
