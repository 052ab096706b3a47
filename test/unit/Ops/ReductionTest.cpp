// Reductions and argmax, eagerly: every set of axes against loops, long axes, nothing, errors.
#include "../Testing.h"

#include <cmath>
#include <limits>

#include "Support/Threads.h"
#include <weft/composites.h>
#include <weft/random.h>

namespace weft {
namespace {

TEST(Reduction, EverySetOfAxesAgainstLoops) {
  const Shape shape{2, 3, 4, 5};
  const Tensor x = (arange(120) * 7 % 31).reshape(shape);
  const auto values = x.span<int>();
  for (unsigned mask = 0; mask < 16; ++mask) {
    Ints axes;
    Shape kept;
    for (std::int64_t axis = 0; axis < 4; ++axis) {
      if (mask >> axis & 1) axes.push_back(axis);
      kept.push_back(mask >> axis & 1 ? 1 : shape[static_cast<std::size_t>(axis)]);
    }
    const Tensor total = sum(x, {.axes = axes, .keepdims = true});
    const Tensor top = max(x, {.axes = axes, .keepdims = true});
    const Tensor low = min(x, {.axes = axes});
    const Tensor average = mean(x, {.axes = axes});
    ASSERT_EQ(total.shape(), kept);
    ASSERT_EQ(low.rank(), 4 - static_cast<std::int64_t>(axes.size()));
    ASSERT_EQ(average.dtype(), f32);
    std::vector<int> sums(static_cast<std::size_t>(total.size())), tops(sums.size(), -1),
        lows(sums.size(), 1000);
    for (std::int64_t i = 0; i < 120; ++i) {
      const std::int64_t index[] = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
      std::size_t at = 0;
      for (std::size_t axis = 0; axis < 4; ++axis)
        at = at * static_cast<std::size_t>(kept[axis]) +
             (mask >> axis & 1 ? 0 : static_cast<std::size_t>(index[axis]));
      const int value = values[static_cast<std::size_t>(i)];
      sums[at] += value;
      tops[at] = std::max(tops[at], value);
      lows[at] = std::min(lows[at], value);
    }
    EXPECT_EQ(total.to_vector<int>(), sums) << mask;
    EXPECT_EQ(top.to_vector<int>(), tops) << mask;
    EXPECT_EQ(low.to_vector<int>(), lows) << mask;
    const auto averages = average.span<float>();
    for (std::size_t i = 0; i < averages.size(); ++i)
      EXPECT_FLOAT_EQ(averages[i],
                      static_cast<float>(sums[i]) * static_cast<float>(sums.size()) / 120);
  }
}

// A transposed matrix is summed where it lies, in the order that its copy has.
TEST(Reduction, SumsOfTransposedMatricesHaveTheBitsOfTheirCopies) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t columns : {1, 2, 15, 16, 17, 50, 300})
      for (const std::int64_t rows : {1, 3, 4, 33, 500, 4100, 70001}) {
        if (rows * columns > 2'000'000) continue;
        const Tensor wide = random::normal({columns + 1, rows + 3}, {.seed = 4}).astype(dtype);
        for (const Tensor &x : {wide.mT(), transpose(wide[Slice{0, columns}], {1, 0}),
                                transpose(wide[{Slice{1, {}}, Slice{2, {}}}], {1, 0})}) {
          const std::string what = to_string(x.type());
          const auto total = [](const Tensor &of) { return sum(of, {.axes = Ints{0}}); };
          const auto average = [](const Tensor &of) {
            return mean(of, {.axes = Ints{0}, .keepdims = true});
          };
          EXPECT_EQ(total(x).to_vector<double>(), total(x.contiguous()).to_vector<double>())
              << what;
          EXPECT_EQ(average(x).to_vector<double>(), average(x.contiguous()).to_vector<double>())
              << what;
        }
      }
}

TEST(Reduction, OfViews) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_EQ(sum(x.mT(), {.axes = Ints{1}}).to_vector<int>(), (std::vector<int>{3, 5, 7}));
  EXPECT_EQ(sum(broadcast(tensor({1, 2}), {3, 2})).item<int>(), 9);
  EXPECT_EQ(x.sum(Ints{-1}).to_vector<int>(), (std::vector<int>{3, 12}));
  EXPECT_EQ(x.max(Ints{0}, true).shape(), (Shape{1, 3}));
}

// A view is read where it lies, or copied where its order is another: the bits are those of a copy.
TEST(Reduction, OfViewsHasTheBitsOfCopies) {
  const Tensor x = random::uniform({6, 40, 90}, {.seed = 3});
  const Tensor views[] = {
      x[{slice(0, {}, 2), all, all}],
      x[{all, slice(3, 30), slice(5, 80)}],
      x[{all, slice({}, {}, -3), slice(1, {})}],
      x[{slice({}, {}, -1), slice(4, 5), all}],
      x[{all, all, slice({}, {}, 2)}],
      x[{all, all, slice(7, 8)}],
      transpose(x, {2, 1, 0}),
      transpose(x, {1, 0, 2}),
      broadcast(x[{slice(2, 3), all, slice(9, {})}], {4, 40, 81}),
      random::uniform({3, 70000}, {.seed = 4})[{all, slice(11, 66000)}],
      random::uniform({70000, 3}, {.seed = 5})[{slice(1, {}, 2), all}],
  };
  for (const Tensor &view : views) {
    const Tensor copy = view + 0.f;
    ASSERT_TRUE(copy.is_contiguous());
    for (unsigned mask = 0; mask < 1u << view.rank(); ++mask) {
      Ints axes;
      for (std::int64_t axis = 0; axis < view.rank(); ++axis)
        if (mask >> axis & 1) axes.push_back(axis);
      EXPECT_EQ(sum(view, {.axes = axes}).to_vector<float>(),
                sum(copy, {.axes = axes}).to_vector<float>())
          << mask;
      EXPECT_EQ(prod(view, {.axes = axes}).to_vector<float>(),
                prod(copy, {.axes = axes}).to_vector<float>())
          << mask;
      EXPECT_EQ(max(view, {.axes = axes}).to_vector<float>(),
                max(copy, {.axes = axes}).to_vector<float>())
          << mask;
    }
  }
}

TEST(Reduction, LongAxes) {
  // Long enough for blocks; whole numbers of floats add up exactly.
  for (const Shape &shape :
       {Shape{1000003}, Shape{300000, 3}, Shape{2, 200000}, Shape{20, 70000}}) {
    std::int64_t count = 1;
    for (const std::int64_t dim : shape) count *= dim;
    const Tensor x = (arange(count, i64) % 7).reshape(shape).astype(f64);
    for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
      const Tensor total = sum(x, {.axes = Ints{axis}});
      EXPECT_EQ(sum(total).item<double>(), sum(x.astype(i64)).item<double>());
      if (x.size(axis) < 1000) continue;
      EXPECT_EQ(max(x, {.axes = Ints{axis}}).to_vector<int>(),
                std::vector<int>(static_cast<std::size_t>(total.size()), 6));
    }
  }
}

TEST(Reduction, OrderDoesNotDependOnThreads) {
  const Tensor x = random::normal({1000003}, {.seed = 1}),
               y = x[slice(0, 1000000)].reshape({4, 250000});
  const int threads = threads::max_threads();
  threads::set_num_threads(1);
  const float alone = sum(x).item<float>();
  const auto rows = sum(y, {.axes = Ints{1}}).to_vector<float>();
  for (const int count : {2, 3, 5}) {
    threads::set_num_threads(count);
    EXPECT_EQ(sum(x).item<float>(), alone);
    EXPECT_EQ(sum(y, {.axes = Ints{1}}).to_vector<float>(), rows);
  }
  threads::set_num_threads(threads);
}

TEST(Reduction, OfNothing) {
  const float inf = INFINITY;
  const Tensor x = zeros({2, 0});
  const Ints axis{1};
  EXPECT_EQ(sum(x, {.axes = axis}).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(prod(x, {.axes = axis}).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(reduce_max(x, {.axes = axis}).to_vector<float>(), (std::vector<float>{-inf, -inf}));
  EXPECT_EQ(reduce_min(x, {.axes = axis}).to_vector<float>(), (std::vector<float>{inf, inf}));
  EXPECT_TRUE(std::isnan(mean(x).item<float>()));
  EXPECT_EQ(reduce_max(zeros({0}, i32)).item<int>(), std::numeric_limits<int>::min());
  EXPECT_EQ(reduce_all(zeros({0}) > 0).item<bool>(), true);
  EXPECT_EQ(any(zeros({0}) > 0).item<bool>(), false);
  EXPECT_EQ(sum(x, {.axes = Ints{0}}).shape(), Shape{0});
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(sum(zeros({0, big, big})).item<float>(), 0);
}

TEST(Reduction, Scalars) {
  EXPECT_EQ(sum(tensor(3.f)).item<float>(), 3);
  EXPECT_EQ(mean(tensor(3)).dtype(), f32);
  EXPECT_EQ(all(tensor({true, true})).item<bool>(), true);
}

TEST(Reduction, NanStays) {
  const Tensor x = tensor({1.f, NAN, 3.f});
  for (const Tensor &y : {sum(x), mean(x), max(x), min(x), prod(x)})
    EXPECT_TRUE(std::isnan(y.item<float>()));
}

TEST(Argmax, FirstOfEqualsAndNan) {
  EXPECT_EQ(argmax({{1, 3, 2}, {9, 0, 9}}, {.axis = 1}).to_vector<int>(), (std::vector<int>{1, 0}));
  EXPECT_EQ(argmax({{1, 3, 2}, {9, 0, 9}}, {.axis = 0, .keepdims = true}).shape(), (Shape{1, 3}));
  EXPECT_EQ(argmax({1.f, NAN, INFINITY, NAN}).item<int>(), 1);
  EXPECT_EQ(argmax({{1, 5}, {7, 2}}).type(), spec(i64, {2}));
  EXPECT_EQ(argmax(zeros({0, 3})).shape(), Shape{0});
  EXPECT_THROWS(argmax(zeros({2, 0})), ShapeError,
                "argmax: x has the shape (2, 0): there is no element to choose along axis 1");
  EXPECT_THROWS(argmax_along(zeros({2, 0})), ShapeError,
                "argmax: x has shape (2, 0): axis 1 is empty, so there is no largest element");
}

TEST(Reduction, Errors) {
  EXPECT_THROWS(sum(zeros({2, 3}), {.axes = Ints{2}}), IndexError,
                "sum: axis 2 is out of range for x of shape (2, 3) (rank 2)");
  EXPECT_THROWS(sum(zeros({2, 3}), {.axes = Ints{0, -2}}), ValueError,
                "sum: axis 0 is given twice");
  EXPECT_THROWS(reduce_max(tensor({true})), DTypeError,
                "max: x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, "
                "f32, f64), but it "
                "is bool(1,)");
}

} // namespace
} // namespace weft

namespace weft {
namespace {

// Axes as a number, in braces, or not at all; with options and without.
TEST(Axes, AllSpellings) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  const auto values = [](const Tensor &y) { return y.to_vector<int>(); };
  const std::vector<int> rows = values(sum(x, {.axes = Ints{1}}));
  EXPECT_EQ(values(sum(x, 1)), rows);
  EXPECT_EQ(values(sum(x, -2)), rows);
  EXPECT_EQ(values(sum(x, {1})), rows);
  EXPECT_EQ(values(sum(x, {.axes = 1})), rows);
  EXPECT_EQ(values(sum(x, {.axes = {1}})), rows);
  EXPECT_EQ(values(x.sum(1)), rows);
  EXPECT_EQ(sum(x, {0, 1}).shape(), (Shape{4}));
  EXPECT_EQ(x.sum({0, 1}).shape(), (Shape{4}));
  EXPECT_EQ(sum(x, {.axes = {0, 2}, .keepdims = true}).shape(), (Shape{1, 3, 1}));
  for (const Tensor &all_of_it : {sum(x), sum(x, {}), sum(x, {.axes = {}}), x.sum()})
    EXPECT_EQ(all_of_it.item<int>(), 276);
  EXPECT_EQ(sum(x, {.axes = Ints{}}).shape(), x.shape());
  EXPECT_EQ(argmax(x, 1).shape(), (Shape{2, 4}));
  EXPECT_EQ(cumsum(x, 1).shape(), x.shape());
  EXPECT_EQ(concatenate({x, x}, 1).shape(), (Shape{2, 6, 4}));
  EXPECT_EQ(weft::any(x > 0, 2).shape(), (Shape{2, 3}));
  EXPECT_EQ(all(x >= 0, 2).shape(), (Shape{2, 3}));
  EXPECT_EQ(all(x >= 0, {.axes = {1, 2}}).shape(), (Shape{2}));
  EXPECT_THROWS(sum(x, 3), IndexError,
                "sum: axis 3 is out of range for x of shape (2, 3, 4) (rank 3)");
}

} // namespace
} // namespace weft
