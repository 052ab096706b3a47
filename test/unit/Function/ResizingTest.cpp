// Images of other sizes: against closed forms and plain loops, gradients, sizes that only the call
// knows, and errors.
#include "../Testing.h"

#include <cmath>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

using Values = std::vector<float>;

Tensor line(const Values &values) {
  return reshape(tensor(values), {1, static_cast<std::int64_t>(values.size()), 1});
}

Values resized(const Values &values, std::int64_t size, Resize method) {
  return resize_image(line(values), {size}, method).to_vector<float>();
}

TEST(Resizing, ClosedForms) {
  EXPECT_EQ(resized({0, 1}, 4, Resize::bilinear), (Values{0, 0.25, 0.75, 1}));
  EXPECT_EQ(resized({0, 1, 2, 3}, 2, Resize::bilinear), (Values{0.5, 2.5}));
  EXPECT_EQ(resized({5}, 3, Resize::bilinear), (Values{5, 5, 5}));
  EXPECT_EQ(resized({1, 2, 3}, 3, Resize::bilinear), (Values{1, 2, 3}));
  EXPECT_EQ(resized({0, 1}, 4, Resize::nearest), (Values{0, 0, 1, 1}));
  EXPECT_EQ(resized({0, 1, 2, 3}, 2, Resize::nearest), (Values{1, 3}));
  // Centres at 0.3, 0.9, 1.5, 2.1 and 2.7.
  EXPECT_EQ(resized({0, 1, 2}, 5, Resize::nearest), (Values{0, 0, 1, 2, 2}));
  EXPECT_EQ(resize_image(tensor({{{1}, {2}}}), {4}, Resize::nearest).dtype(), i32);
  EXPECT_EQ(resize_image(tensor({{{1}, {2}}}), {4}).dtype(), f32);
  const Tensor flags = resize_image(tensor({{{true}, {false}}}), {4}, Resize::nearest);
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{true, true, false, false}));
}

/// What a source along an axis is worth to an element of the result, by real numbers.
double share(std::int64_t source, std::int64_t i, std::int64_t in, std::int64_t out,
             Resize method) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double centre = (static_cast<double>(i) + 0.5) * scale;
  if (method == Resize::nearest)
    return source == static_cast<std::int64_t>(std::floor(centre + 1e-9)) ? 1 : 0;
  const double at = std::clamp(centre - 0.5, 0.0, static_cast<double>(in - 1));
  return std::max(0.0, 1 - std::abs(at - static_cast<double>(source)));
}

TEST(Resizing, IsWhatLoopsGive) {
  const std::int64_t in[] = {5, 7}, channels = 2;
  const Tensor x = random::normal({2, in[0], in[1], channels}, {.seed = 3});
  const auto elements = x.to_vector<float>();
  for (const Resize method : {Resize::nearest, Resize::bilinear})
    for (const auto &[rows, columns] : {std::pair{10, 14}, {3, 4}, {8, 5}, {1, 20}}) {
      const Tensor y = resize_image(x, {rows, columns}, method);
      ASSERT_EQ(y.shape(), (Shape{2, rows, columns, channels}));
      const auto found = y.to_vector<float>();
      std::size_t at = 0;
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t c = 0; c < channels; ++c, ++at) {
              double wanted = 0;
              for (std::int64_t a = 0; a < in[0]; ++a)
                for (std::int64_t b = 0; b < in[1]; ++b)
                  wanted += share(a, i, in[0], rows, method) * share(b, j, in[1], columns, method) *
                            elements[static_cast<std::size_t>(
                                ((n * in[0] + a) * in[1] + b) * channels + c)];
              ASSERT_NEAR(found[at], wanted, 1e-5) << rows << " x " << columns << " at " << at;
            }
    }
}

TEST(Resizing, EagerEqualsCompiledAtAnySizes) {
  for (const Resize method : {Resize::nearest, Resize::bilinear}) {
    const auto run = [&](const Tensor &x) { return resize_image(x, {6, 5}, method); };
    const auto loss = [&](const Tensor &x) { return sum(square(run(x))); };
    const std::vector open{spec(f32, {unknown, unknown, unknown, 3})};
    auto compiled = function(run, {.signature = open});
    auto slope = function(grad(loss), {.signature = open});
    for (const Shape &shape : {Shape{2, 3, 10, 3}, Shape{1, 6, 4, 3}, Shape{2, 13, 5, 3}}) {
      const Tensor x = random::normal(shape, {.seed = 4});
      EXPECT_EQ(compiled(x).to_vector<float>(), run(x).to_vector<float>()) << to_string(shape);
      EXPECT_EQ(function(run)(x).to_vector<float>(), run(x).to_vector<float>());
      EXPECT_LT(max(abs(slope(x) - grad(loss)(x))).item<float>(), 1e-5f) << to_string(shape);
    }
  }
}

TEST(Resizing, GradientsAreTheShares) {
  const auto loss = [](const Tensor &x) { return sum(resize_image(x, {4}) * line({1, 2, 3, 4})); };
  EXPECT_EQ(grad(loss)(line({7, 8})).to_vector<float>(),
            (Values{1 + 0.75f * 2 + 0.25f * 3, 0.25f * 2 + 0.75f * 3 + 4}));
}

template <class Error>
void expect_error(const Shape &shape, const Ints &size, const std::string &words) {
  const auto run = [&](const Tensor &x) { return resize_image(x, size); };
  EXPECT_THROWS(run(zeros(shape)), Error, words);
  EXPECT_THROWS(function(run)(zeros(shape)), Error, words);
}

TEST(Resizing, BadInput) {
  expect_error<ShapeError>({4, 4}, {2},
                           "resize_image: x must be (batch, 1 to 3 spatial axes, "
                           "channels), but has shape (4, 4)");
  expect_error<ShapeError>({1, 4, 4, 1}, {2},
                           "resize_image: size has 1 entries, but there are 2 spatial axes");
  expect_error<ValueError>({1, 4, 1}, {0},
                           "resize_image: size has 0, but must be from 1 to 2^31 - 1");
  expect_error<ShapeError>({1, 0, 1}, {2},
                           "resize_image: spatial axis 0 of x has 0 elements, but "
                           "must have 1 to 2^31 - 1");
}

} // namespace
} // namespace weft
