// Tests of convolution and the gradient of its kernel: against plain loops, at every CPU level, and
// at several numbers of threads. Small integers make every sum exact in any order, so nothing may
// differ; benchdnn of oneDNN tests so too.

#include "Kernels/Convolution.h"

#include "Kernels/Matmul.h"
#include "Support/Threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace weft::kernels {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4};

std::string describe(const ConvolutionShape &shape) {
  std::ostringstream text;
  text << "batch " << shape.batch << ", channels " << shape.in_channels << " to "
       << shape.out_channels << " in " << shape.groups << " groups";
  for (const WindowAxis &axis : shape.axes)
    text << "; " << axis.in << " by " << axis.window << " to " << axis.out << " stride "
         << axis.stride << " low " << axis.low << " dilations " << axis.input_dilation << ", "
         << axis.window_dilation;
  return text.str();
}

/// Sets `out` for that much padding behind; false where no window fits.
bool fit(WindowAxis &axis, int64_t high) {
  const int64_t dilated = axis.in == 0 ? 0 : (axis.in - 1) * axis.input_dilation + 1;
  const int64_t reach = (axis.window - 1) * axis.window_dilation + 1;
  const int64_t room = dilated + axis.low + high - reach;
  if (room < 0) return false;
  axis.out = room / axis.stride + 1;
  return true;
}

int64_t product(const ConvolutionShape &shape, int64_t WindowAxis::*size) {
  return shape.axes[0].*size * (shape.axes[1].*size) * (shape.axes[2].*size);
}

struct Sizes {
  size_t x, kernel, y;
  explicit Sizes(const ConvolutionShape &s)
      : x(static_cast<size_t>(s.batch * product(s, &WindowAxis::in) * s.in_channels)),
        kernel(static_cast<size_t>(product(s, &WindowAxis::window) * (s.in_channels / s.groups) *
                                   s.out_channels)),
        y(static_cast<size_t>(s.batch * product(s, &WindowAxis::out) * s.out_channels)) {}
};

/// Calls `visit` with the positions in x, kernel and y of every product that the definition has.
template <class Visit>
void for_each_product(const ConvolutionShape &s, const Visit &visit) {
  const auto &[a, b, c] = s.axes;
  const auto input_at = [](const WindowAxis &axis, int64_t out, int64_t tap) -> int64_t {
    const int64_t at = out * axis.stride + tap * axis.window_dilation - axis.low;
    if (at < 0 || at % axis.input_dilation != 0 || at / axis.input_dilation >= axis.in) return -1;
    return at / axis.input_dilation;
  };
  const int64_t in_group = s.in_channels / s.groups, out_group = s.out_channels / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < a.out; ++i)
      for (int64_t j = 0; j < b.out; ++j)
        for (int64_t k = 0; k < c.out; ++k)
          for (int64_t t = 0; t < product(s, &WindowAxis::window); ++t) {
            const int64_t u = t / c.window / b.window, v = t / c.window % b.window,
                          w = t % c.window;
            const int64_t p = input_at(a, i, u), q = input_at(b, j, v), r = input_at(c, k, w);
            if (p < 0 || q < 0 || r < 0) continue;
            for (int64_t channel = 0; channel < in_group; ++channel)
              for (int64_t o = 0; o < s.out_channels; ++o)
                visit(static_cast<size_t>((((n * a.in + p) * b.in + q) * c.in + r) * s.in_channels +
                                          o / out_group * in_group + channel),
                      static_cast<size_t>((t * in_group + channel) * s.out_channels + o),
                      static_cast<size_t>(
                          (((n * a.out + i) * b.out + j) * c.out + k) * s.out_channels + o));
          }
}

template <typename T>
std::vector<T> draw(size_t size, std::mt19937 &random) {
  std::vector<T> values(size);
  for (T &value : values) value = static_cast<T>(static_cast<int>(random() % 15) - 7);
  return values;
}

/// Compares all functions with plain loops; what is around the results stays as it is.
template <typename T>
void check(const ConvolutionShape &shape, std::mt19937 &random) {
  SCOPED_TRACE(describe(shape));
  const Sizes sizes(shape);
  const auto x = draw<T>(sizes.x, random), kernel = draw<T>(sizes.kernel, random);
  const auto dy = draw<T>(sizes.y, random);
  std::vector<T> y(sizes.y, T(0)), gradient(sizes.kernel, T(0)), dx(sizes.x, T(0));
  for_each_product(shape, [&](size_t in, size_t weight, size_t out) {
    y[out] += x[in] * kernel[weight];
    gradient[weight] += x[in] * dy[out];
    dx[in] += dy[out] * kernel[weight];
  });
  bool has_gradient = true;
  for (const WindowAxis &axis : shape.axes) has_gradient &= axis.input_dilation == 1;
  for (const CpuLevel level : kLevels) {
    if (level > host_cpu_level()) continue;
    SCOPED_TRACE("level v" + std::to_string(static_cast<int>(level)));
    std::vector<T> result(sizes.y + 1, T(77));
    convolution_forced(dtype_of<T>, shape, x.data(), kernel.data(), result.data(), level);
    EXPECT_EQ(result.back(), T(77));
    result.pop_back();
    ASSERT_EQ(result, y);
    if (!has_gradient) continue;
    result.assign(sizes.kernel + 1, T(77));
    convolution_kernel_gradient_forced(dtype_of<T>, shape, x.data(), dy.data(), result.data(),
                                       level);
    EXPECT_EQ(result.back(), T(77));
    result.pop_back();
    ASSERT_EQ(result, gradient);
    result.assign(sizes.x + 1, T(77));
    convolution_transpose_forced(dtype_of<T>, shape, dy.data(), kernel.data(), result.data(),
                                 level);
    EXPECT_EQ(result.back(), T(77));
    result.pop_back();
    ASSERT_EQ(result, dx);
  }
}

int64_t draw_of(std::mt19937 &random, std::initializer_list<int64_t> choices) {
  return choices.begin()[random() % choices.size()];
}

ConvolutionShape random_shape(std::mt19937 &random) {
  ConvolutionShape shape;
  shape.batch = draw_of(random, {1, 1, 2, 3});
  shape.groups = draw_of(random, {1, 1, 1, 2, 3});
  shape.in_channels = shape.groups * draw_of(random, {1, 2, 3, 4, 7, 17});
  shape.out_channels = shape.groups * draw_of(random, {1, 2, 5, 16, 20, 33});
  if (random() % 4 == 0) {
    shape.groups = draw_of(random, {2, 3, 16, 37});
    shape.in_channels = shape.out_channels = shape.groups;
  }
  const size_t first = random() % 3;
  for (size_t i = first; i < 3; ++i) {
    WindowAxis &axis = shape.axes[i];
    do {
      axis.in = draw_of(random, {1, 2, 5, 8, 9, 14});
      axis.window = draw_of(random, {1, 2, 3, 3, 5, 10});
      axis.stride = draw_of(random, {1, 1, 2, 3, 4});
      axis.low = draw_of(random, {0, 0, 1, 2, 6, -1});
      axis.input_dilation = draw_of(random, {1, 1, 1, 2, 3});
      axis.window_dilation = draw_of(random, {1, 1, 2, 3});
    } while (!fit(axis, draw_of(random, {0, 0, 1, 2, 5, -1})));
  }
  return shape;
}

TEST(Convolution, RandomConfigurations) {
  std::mt19937 random(7);
  for (int i = 0; i < 150; ++i) check<float>(random_shape(random), random);
}

TEST(Convolution, EveryDtype) {
  std::mt19937 random(8);
  for (int i = 0; i < 12; ++i) {
    check<double>(random_shape(random), random);
    check<int32_t>(random_shape(random), random);
    check<int64_t>(random_shape(random), random);
  }
}

TEST(Convolution, ChunksOfManyPositions) {
  std::mt19937 random(9);
  ConvolutionShape shape;
  shape.batch = 5, shape.in_channels = 3, shape.out_channels = 19;
  for (int i = 1; i < 3; ++i) {
    shape.axes[i] = {.in = 63, .window = 3, .low = 1};
    ASSERT_TRUE(fit(shape.axes[i], 1));
  }
  check<float>(shape, random);
  shape.in_channels = shape.out_channels = shape.groups = 21;
  check<float>(shape, random);
}

TEST(Convolution, LongLinesToFewChannels) {
  std::mt19937 random(13);
  for (const int64_t channels : {1, 2, 3, 4})
    for (const int64_t stride : {1, 2}) {
      ConvolutionShape shape;
      shape.in_channels = 18, shape.out_channels = channels;
      shape.axes[1] = {.in = 5, .window = 3, .low = 1};
      shape.axes[2] = {.in = 200 + channels, .window = 3, .stride = stride, .window_dilation = 2};
      ASSERT_TRUE(fit(shape.axes[1], 1) && fit(shape.axes[2], 0));
      check<float>(shape, random);
      check<int64_t>(shape, random);
    }
}

/// Vectors along the positions or the channels, the chain of an element is the same.
TEST(Convolution, FewChannelsAreWhatManyAre) {
  std::mt19937 random(14);
  std::uniform_real_distribution<float> values(-1, 1);
  ConvolutionShape many;
  many.in_channels = 7, many.out_channels = 20;
  for (int i = 1; i < 3; ++i) {
    many.axes[i] = {.in = 23, .window = 3, .low = 1};
    ASSERT_TRUE(fit(many.axes[i], 1));
  }
  const Sizes sizes(many);
  std::vector<float> x(sizes.x), kernel(sizes.kernel), y(sizes.y);
  for (float &value : x) value = values(random);
  for (float &value : kernel) value = values(random);
  convolution(DType::f32, many, x.data(), kernel.data(), y.data());
  for (const size_t channels : {1, 2, 3, 4}) {
    ConvolutionShape few = many;
    few.out_channels = static_cast<int64_t>(channels);
    std::vector<float> part, wanted, result(sizes.y / 20 * channels);
    for (size_t i = 0; i < kernel.size(); ++i)
      if (i % 20 < channels) part.push_back(kernel[i]);
    for (size_t i = 0; i < y.size(); ++i)
      if (i % 20 < channels) wanted.push_back(y[i]);
    convolution(DType::f32, few, x.data(), part.data(), result.data());
    ASSERT_EQ(result, wanted) << channels;
  }
}

TEST(Convolution, NoImages) {
  std::mt19937 random(12);
  ConvolutionShape shape;
  shape.batch = 0, shape.in_channels = 2, shape.out_channels = 3;
  shape.axes[2] = {.in = 4, .window = 2};
  ASSERT_TRUE(fit(shape.axes[2], 0));
  check<float>(shape, random);
}

TEST(Convolution, WindowsThatSeeNothing) {
  std::mt19937 random(10);
  ConvolutionShape shape;
  shape.in_channels = 2, shape.out_channels = 3;
  shape.axes[2] = {.in = 4, .window = 1, .stride = 1, .low = 0, .input_dilation = 3};
  ASSERT_TRUE(fit(shape.axes[2], 0));
  check<float>(shape, random);
  shape.axes[2] = {.in = 0, .window = 2, .low = 2};
  ASSERT_TRUE(fit(shape.axes[2], 3));
  check<float>(shape, random);
}

/// Every element is one chain from 0, so that other numbers of threads and other ways of writing
/// the same convolution give the same bits.
TEST(Convolution, SameBitsAtAnyNumberOfThreads) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> values(-1, 1);
  ConvolutionShape shape;
  shape.batch = 3, shape.in_channels = 17, shape.out_channels = 45;
  for (int i = 1; i < 3; ++i) {
    shape.axes[i] = {.in = 40, .window = 3, .stride = i, .low = 1};
    ASSERT_TRUE(fit(shape.axes[i], 1));
  }
  const Sizes sizes(shape);
  std::vector<float> x(sizes.x), kernel(sizes.kernel), dy(sizes.y);
  for (auto *list : {&x, &kernel, &dy})
    for (float &value : *list) value = values(random);
  std::vector<float> y(sizes.y), gradient(sizes.kernel);
  const int before = threads::max_threads();
  for (const int count : {1, 2, 3, 8}) {
    threads::set_num_threads(count);
    std::vector<float> result(sizes.y), result_gradient(sizes.kernel);
    convolution(DType::f32, shape, x.data(), kernel.data(), result.data());
    convolution_kernel_gradient(DType::f32, shape, x.data(), dy.data(), result_gradient.data());
    if (count == 1) y = result, gradient = result_gradient;
    EXPECT_EQ(result, y) << count << " threads";
    EXPECT_EQ(result_gradient, gradient) << count << " threads";
  }
  threads::set_num_threads(before);

  // The product of the windows, written down, with the kernel.
  const int64_t depth = 9 * shape.in_channels,
                rows = shape.batch * shape.axes[1].out * shape.axes[2].out;
  std::vector<float> windows(static_cast<size_t>(rows * depth)), written(sizes.y);
  for_each_product(shape, [&](size_t in, size_t weight, size_t out) {
    if (out % 45 == 0) windows[out / 45 * static_cast<size_t>(depth) + weight / 45] = x[in];
  });
  matmul(DType::f32, {1, rows, 45, depth, windows.data(), 0, depth, 1, kernel.data(), 0, 45, 1,
                      written.data(), 0, 45});
  EXPECT_EQ(written, y);
}

} // namespace
} // namespace weft::kernels
