// Reductions over windows as users call them: against plain loops, padding by name, means by their
// counts, ties and NaN, sizes that only the call knows, and errors, eager and compiled. The ops are
// tested on the samples of their records.
#include "../Testing.h"

#include <cmath>
#include <limits>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const WindowReduction kReductions[] = {WindowReduction::max, WindowReduction::min,
                                       WindowReduction::sum, WindowReduction::mean};
const Padding kPaddings[] = {Padding::valid, Padding::same, Padding{{1, 2}, {0, 1}}};

/// The same bits, but for the kind of NaN.
void expect_same(const Tensor &found, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(to_string(found.type()), to_string(expected.type())) << what;
  const auto a = found.to_vector<float>(), b = expected.to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
        << what << ", element " << i << ": " << a[i] << ", " << b[i];
}

/// Few different numbers, so that ties are common.
Tensor image(const Shape &shape) { return floor(random::uniform(shape, {.seed = 3}) * 7) - 3; }

TEST(Pooling, IsWhatLoopsGive) {
  const Tensor x = image({2, 7, 6, 3});
  const auto at = [&](std::int64_t n, std::int64_t i, std::int64_t j, std::int64_t c) {
    return x.to_vector<float>()[static_cast<std::size_t>(((n * 7 + i) * 6 + j) * 3 + c)];
  };
  // (7, 3, 2) is padded by one on either side, (6, 2, 3, dilated by 2) not in front.
  const ReduceWindowOptions options{
      .strides = {2, 3}, .padding = Padding::same, .dilations = {1, 2}};
  for (const WindowReduction reduction : kReductions) {
    const Tensor y = reduce_window(x, reduction, {3, 2}, options);
    ASSERT_EQ(y.shape(), (Shape{2, 4, 2, 3}));
    std::vector<float> wanted;
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 2; ++j)
          for (std::int64_t c = 0; c < 3; ++c) {
            float best = reduction == WindowReduction::max ? -INFINITY : INFINITY, sum = 0;
            int count = 0;
            for (std::int64_t a = 0; a < 3; ++a)
              for (std::int64_t b = 0; b < 2; ++b) {
                const std::int64_t row = i * 2 + a - 1, column = j * 3 + 2 * b;
                if (row < 0 || row >= 7 || column >= 6) continue;
                const float value = at(n, row, column, c);
                best = reduction == WindowReduction::max ? std::max(best, value)
                                                         : std::min(best, value);
                sum += value, ++count;
              }
            wanted.push_back(reduction == WindowReduction::sum    ? sum
                             : reduction == WindowReduction::mean ? sum / static_cast<float>(count)
                                                                  : best);
          }
    EXPECT_EQ(y.to_vector<float>(), wanted) << static_cast<int>(reduction);
  }
}

TEST(Pooling, EagerEqualsCompiledAtAnySizes) {
  for (const Padding &padding : kPaddings)
    for (const std::int64_t stride : {1, 2, 3})
      for (const WindowReduction reduction : kReductions) {
        const auto run = [&](const Tensor &x) {
          return reduce_window(x, reduction, {3, 3}, {.strides = {stride, 1}, .padding = padding});
        };
        const auto loss = [&](const Tensor &x) { return sum(square(run(x))); };
        const std::vector open{spec(f32, {unknown, unknown, unknown, 3})};
        auto compiled = function(run, {.signature = open});
        auto slope = function(grad(loss), {.signature = open});
        for (const Shape &shape : {Shape{2, 7, 6, 3}, Shape{1, 8, 5, 3}, Shape{3, 9, 4, 3}}) {
          const Tensor x = image(shape);
          const std::string what = to_string(shape) + " stride " + std::to_string(stride) +
                                   " padding " + std::to_string(static_cast<int>(padding.kind())) +
                                   " reduction " + std::to_string(static_cast<int>(reduction));
          expect_same(compiled(x), run(x), "open " + what);
          expect_same(slope(x), grad(loss)(x), "gradient " + what);
          if (shape[0] == 1) expect_same(function(run)(x), run(x), what);
        }
      }
}

TEST(Pooling, WindowsLieSideBySide) {
  const Tensor x = iota(f32, {1, 4, 4, 1}, {.axis = 2}) + iota(f32, {1, 4, 4, 1}, {.axis = 1}) * 4;
  EXPECT_EQ(max_pool(x, {2, 2}).to_vector<float>(), (std::vector<float>{5, 7, 13, 15}));
  EXPECT_EQ(min_pool(x, {2, 2}).to_vector<float>(), (std::vector<float>{0, 2, 8, 10}));
  EXPECT_EQ(average_pool(x, {2, 2}).to_vector<float>(), (std::vector<float>{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(average_pool(cast(x, i64), {2, 2}).dtype(), f32);
  EXPECT_EQ(max_pool(cast(x, i64), {2, 2}).dtype(), i64);
}

TEST(Pooling, PaddingIsNotCountedUnlessAskedFor) {
  const Tensor x = tensor({{{1.0f}, {2.0f}, {3.0f}, {4.0f}, {5.0f}}});
  EXPECT_EQ(average_pool(x, {2}, {.padding = Padding::same}).to_vector<float>(),
            (std::vector<float>{1.5, 3.5, 5}));
  EXPECT_EQ(
      average_pool(x, {2}, {.padding = Padding::same, .count_padding = true}).to_vector<float>(),
      (std::vector<float>{1.5, 3.5, 2.5}));
  // Nor is it the largest of what is below 0.
  EXPECT_EQ(max_pool(-x, {2}, {.padding = Padding::same}).to_vector<float>(),
            (std::vector<float>{-1, -3, -5}));
}

TEST(Pooling, FirstOfEqualsHasTheGradient) {
  const auto slope = [](const Tensor &x) {
    const auto loss = [](const Tensor &v) { return sum(max_pool(v, {3})); };
    const Tensor eager = grad(loss)(x);
    expect_same(function(grad(loss))(x), eager, "compiled");
    return eager.to_vector<float>();
  };
  EXPECT_EQ(slope(tensor({{{0.6f}, {0.6f}, {0.3f}}})), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(slope(tensor({{{-0.0f}, {0.0f}, {-1.0f}}})), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(slope(tensor({{{5.0f}, {kNaN}, {kNaN}}})), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(slope(full({1, 3, 1}, -INFINITY)), (std::vector<float>{1, 0, 0}));
  EXPECT_TRUE(std::isnan(max_pool(tensor({{{5.0f}, {kNaN}, {7.0f}}}), {3}).item<float>()));
}

TEST(Pooling, WindowsThatSeeNothing) {
  // One element, and taps on either side of it.
  const ReduceWindowOptions options{.padding = {{1, 1}}, .dilations = {2}};
  const Tensor x = ones({1, 1, 1});
  const float found[] = {
      reduce_window(x, WindowReduction::max, {2}, options).item<float>(),
      reduce_window(x, WindowReduction::min, {2}, options).item<float>(),
      reduce_window(x, WindowReduction::sum, {2}, options).item<float>(),
      reduce_window(x, WindowReduction::mean, {2}, options).item<float>(),
  };
  EXPECT_EQ(found[0], -INFINITY);
  EXPECT_EQ(found[1], INFINITY);
  EXPECT_EQ(found[2], 0);
  EXPECT_TRUE(std::isnan(found[3]));
  const auto loss = [&](const Tensor &v) {
    return sum(reduce_window(v, WindowReduction::max, {2}, options));
  };
  EXPECT_EQ(grad(loss)(x).item<float>(), 0);
}

TEST(Pooling, SecondDerivatives) {
  const Tensor x = random::normal({1, 6, 6, 2}, {.seed = 4});
  const auto loss = [](const Tensor &v) {
    return sum(power(max_pool(v, {2, 2}, {.strides = {1, 1}}), 3)) +
           sum(square(min_pool(v, {3, 3})));
  };
  const auto second = [&](const Tensor &v) {
    return grad([&](const Tensor &u) { return sum(grad(loss)(u)); })(v);
  };
  expect_same(function(second)(x), second(x), "second derivatives");
  // Each element that is the largest of n windows has 6 n x of it.
  const auto cubes = [](const Tensor &v) {
    return sum(power(max_pool(v, {2, 2}, {.strides = {1, 1}}), 3));
  };
  const Tensor diagonal = grad([&](const Tensor &u) { return sum(grad(cubes)(u)); })(x);
  const Tensor times =
      grad([](const Tensor &v) { return sum(max_pool(v, {2, 2}, {.strides = {1, 1}})); })(x);
  EXPECT_LT(max(abs(diagonal - 6 * times * x)).item<float>(), 1e-4f);
}

/// Eager and compiled calls throw it.
template <class Error, class F>
void expect_error(const F &run, const std::string &words) {
  const Tensor x = zeros({1, 5, 5, 4});
  EXPECT_THROWS(run(x), Error, words);
  EXPECT_THROWS(function(run)(x), Error, words);
}

TEST(Pooling, BadInput) {
  const auto pool = [](const Ints &window, const PoolOptions &options = {}) {
    return [=](const Tensor &x) { return max_pool(x, window, options); };
  };
  expect_error<ValueError>(pool({0, 2}), "max_pool: window has 0, but must be at least 1");
  expect_error<ShapeError>(pool({}),
                           "max_pool: window has 0 entries, but there are 2 spatial axes");
  expect_error<ShapeError>(pool({2}),
                           "max_pool: window has 1 entries, but there are 2 spatial axes");
  expect_error<ShapeError>(pool({6, 2}),
                           "max_pool: a window over 6 elements does not fit in spatial axis 0, "
                           "which has 5 with its padding");
  expect_error<ValueError>(pool({2, 2}, {.strides = {-1, 1}}),
                           "max_pool: strides has -1, but must be at least 1");
  expect_error<ShapeError>(pool({2, 2}, {.strides = {1}}),
                           "max_pool: strides has 1 entries, but there are 2 spatial axes");
  expect_error<ShapeError>(pool({2, 2}, {.padding = {{1, 1}}}),
                           "max_pool: padding has 1 pairs, but there are 2 spatial axes");
  expect_error<ValueError>(pool({2, 2}, {.padding = {{0, 0}, {0, 2}}}),
                           "max_pool: high has 2, but must be below the 2 elements that a window "
                           "goes over");
  expect_error<ValueError>(
      [](const Tensor &x) { return average_pool(x, {2, 2}, {.padding = {{0, 2}, {0, 0}}}); },
      "average_pool: high has 2, but must be below the 2 elements that a window goes over");
  expect_error<ShapeError>(
      [](const Tensor &x) { return average_pool(sum(x), {2}); },
      "average_pool: x must be (batch, 1 to 3 spatial axes, channels), but has shape ()");
  expect_error<DTypeError>([](const Tensor &x) { return max_pool(x > 0, {2, 2}); },
                           "max_pool: x must be a real number (i8, i16, i32, i64, u8, u16, u32, "
                           "u64, f16, bf16, f32, f64), but it is "
                           "bool(1, 5, 5, 4)");
  // Sizes that only the call knows.
  auto open = function([](const Tensor &x) { return max_pool(x, {3}); },
                       {.signature = {spec(f32, {1, unknown, 1})}});
  EXPECT_THROWS(open(zeros({1, 2, 1})), ShapeError,
                "max_pool: a window over 3 elements does not fit in spatial axis 0, which has 2 "
                "with its padding");
}

} // namespace
} // namespace weft
