// Convolution as users call it: padding by name, lists left out, sizes that only the call knows,
// and errors, eager and compiled. The op itself is tested on the samples of its record.
#include "../Testing.h"

#include <cmath>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

/// The same bits.
void expect_same(const Tensor &found, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(to_string(found.type()), to_string(expected.type())) << what;
  EXPECT_EQ(found.to_vector<float>(), expected.to_vector<float>()) << what;
}

const Padding kPaddings[] = {Padding::valid, Padding::same, Padding{{1, 2}, {0, 1}}};

TEST(Convolution, EagerEqualsCompiledAtAnySizes) {
  const Tensor kernel = random::normal({3, 2, 3, 5}, {.seed = 2});
  for (const Padding &padding : kPaddings)
    for (const std::int64_t stride : {1, 2, 3}) {
      const auto run = [&](const Tensor &x) {
        return convolution(x, kernel, {.strides = {stride, 1}, .padding = padding});
      };
      const auto loss = [&](const Tensor &x) { return sum(square(run(x))); };
      auto open = function(run, {.signature = {spec(f32, {unknown, unknown, unknown, 3})}});
      auto slope = function(grad(loss), {.signature = {spec(f32, {unknown, unknown, unknown, 3})}});
      for (const Shape &shape : {Shape{2, 7, 6, 3}, Shape{1, 8, 5, 3}, Shape{3, 9, 4, 3}}) {
        const Tensor x = random::normal(shape, {.seed = 3});
        const std::string what = to_string(shape) + " stride " + std::to_string(stride) +
                                 " padding " + std::to_string(static_cast<int>(padding.kind()));
        expect_same(function(run)(x), run(x), what);
        expect_same(open(x), run(x), "open " + what);
        expect_same(slope(x), grad(loss)(x), "gradient " + what);
      }
    }
}

TEST(Convolution, SameIsPaddingAndThenValid) {
  const Tensor x = random::normal({2, 5, 4, 3}, {.seed = 4});
  Tensor kernel = random::normal({3, 3, 3, 2}, {.seed = 5});
  const Tensor same = convolution(x, kernel, {.strides = {2, 2}, .padding = Padding::same});
  // (5, 3, 2) has one on either side, (4, 3, 2) one behind.
  const Tensor padded = pad(x, 0, {0, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0});
  expect_same(same, convolution(padded, kernel, {.strides = {2, 2}}), "same");
  EXPECT_EQ(same.shape(), (Shape{2, 3, 2, 2}));
  // Infinities of the kernel meet the zeros.
  kernel = select(equal(iota(f32, {3, 3, 3, 2}, {.axis = 0}), 0), kernel / 0.0f, kernel);
  const Tensor edge = convolution(x, kernel, {.padding = Padding::same});
  EXPECT_TRUE(std::isnan(edge[{0, 0, 0, 0}].item<float>()));
}

TEST(Convolution, CausalSeesNothingBehind) {
  const Tensor x = random::normal({1, 8, 2}, {.seed = 6});
  const Tensor kernel = random::normal({3, 2, 4}, {.seed = 7});
  const ConvolutionOptions options{.padding = Padding::causal, .dilations = {2}};
  const Tensor y = convolution(x, kernel, options);
  EXPECT_EQ(y.shape(), (Shape{1, 8, 4}));
  const Tensor first = convolution(x[{all, slice(0, 5)}], kernel, options);
  expect_same(y[{all, slice(0, 5)}].contiguous(), first, "the first five");
}

TEST(Convolution, TransposeOfSameMakesImagesLargerByTheStrides) {
  for (const std::int64_t stride : {1, 2, 3})
    for (const std::int64_t window : {1, 2, 3, 4}) {
      const Tensor x = random::normal({1, 5, 6, 2}, {.seed = 8});
      const Tensor kernel = random::normal({window, window, 3, 2}, {.seed = 9});
      const ConvolutionTransposeOptions options{.strides = {stride, stride},
                                                .padding = Padding::same};
      const Tensor y = convolution_transpose(x, kernel, options);
      EXPECT_EQ(y.shape(), (Shape{1, 5 * stride, 6 * stride, 3}));
      // It is the gradient of the convolution that made x of such images.
      const auto back = [&](const Tensor &image) {
        return sum(
            convolution(image, kernel, {.strides = {stride, stride}, .padding = Padding::same}) *
            x);
      };
      expect_same(grad(back)(zeros(y.shape())), y, "transpose");
    }
}

/// Eager and compiled calls throw it.
template <class Error, class F>
void expect_error(const F &run, const std::string &words) {
  const Tensor x = zeros({1, 5, 5, 4});
  EXPECT_THROWS(run(x), Error, words);
  EXPECT_THROWS(function(run)(x), Error, words);
}

TEST(Convolution, BadInput) {
  const Tensor kernel = zeros({3, 3, 4, 6});
  const auto with = [&](const ConvolutionOptions &options) {
    return [=](const Tensor &x) { return convolution(x, kernel, options); };
  };
  expect_error<ShapeError>(with({.groups = 3}),
                           "convolution: x has 4 channels, which 3 groups do not divide");
  expect_error<ShapeError>(with({.padding = {{1, 1}}}),
                           "convolution: padding has 1 pairs, but there are 2 spatial axes");
  expect_error<ValueError>(with({.padding = {{-1, 0}, {0, 0}}}),
                           "convolution: low has -1, but must be at least 0");
  expect_error<ValueError>(
      with({.padding = Padding::causal}),
      "convolution: only one spatial axis can be padded as causal, but there are 2");
  expect_error<ShapeError>(with({.dilations = {3, 1}}),
                           "convolution: a window over 7 elements does not fit in spatial axis 0, "
                           "which has 5 with its padding");
  expect_error<ShapeError>(
      [](const Tensor &x) { return convolution(x, zeros({3, 4, 6})); },
      "convolution: kernel must be (window, channels / groups, result's channels) and of rank 4 as "
      "x is, but has shape (3, 4, 6)");
}

} // namespace
} // namespace weft
