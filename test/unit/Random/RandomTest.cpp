// Random tensors without a generator: Philox's published answers, streams, distributions, options.
#include "../Philox.h"
#include "../Testing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <weft/random.h>

#include "Support/Threads.h"

namespace weft {
namespace {

using philox::Block;

TEST(Random, KnownAnswersOfPhilox) {
  // From kat_vectors of the authors' Random123.
  EXPECT_EQ(philox::philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox::philox4x32({all, all, all, all}, {all, all}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                               {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SameSeedSameNumbers) {
  const auto draw = [](std::uint64_t seed) {
    return random::uniform({5}, {.seed = seed}).to_vector<float>();
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(draw(1), draw(std::uint64_t{1} << 32 | 1));
  // A longer tensor starts with the shorter one.
  std::vector<float> longer = random::uniform({7, 9}, {.seed = 1}).to_vector<float>();
  longer.resize(5);
  EXPECT_EQ(draw(1), longer);
  // The first word of the seed's first block.
  const Block block = philox::Stream{.seed = 1, .stream = 0}.block(0);
  EXPECT_EQ(draw(1)[0], static_cast<float>(block[0] >> 8) * 0x1p-24f);
}

TEST(Random, ThreadsDoNotMatter) {
  const int threads = threads::max_threads();
  threads::set_num_threads(1);
  const std::vector<float> alone = random::normal({100003}, {.seed = 3}).to_vector<float>();
  threads::set_num_threads(4);
  EXPECT_EQ(random::normal({100003}, {.seed = 3}).to_vector<float>(), alone);
  threads::set_num_threads(threads);
}

TEST(Random, WithoutASeedEachCallHasItsOwnStream) {
  random::set_seed(5);
  const auto first = random::uniform({4}).to_vector<float>();
  const auto second = random::uniform({4}).to_vector<float>();
  EXPECT_NE(first, second);
  EXPECT_NE(first, random::uniform({4}, {.seed = 5}).to_vector<float>());
  random::set_seed(5);
  EXPECT_EQ(first, random::uniform({4}).to_vector<float>());
}

template <class T>
std::pair<double, double> moments(const Tensor &x) {
  const auto values = x.span<T>();
  double sum = 0, squares = 0;
  for (const T value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const T value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / static_cast<double>(values.size())};
}

TEST(Random, Uniform) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = random::uniform({100000}, {.seed = 1, .low = -2, .high = 4, .dtype = dtype});
    EXPECT_EQ(x.dtype(), dtype);
    const std::vector<double> values = x.to_vector<double>();
    EXPECT_GE(*std::min_element(values.begin(), values.end()), -2);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 4);
    const auto [mean, variance] = dtype == f32 ? moments<float>(x) : moments<double>(x);
    EXPECT_NEAR(mean, 1, 0.03);
    EXPECT_NEAR(variance, 3, 0.05);
  }
  // The end of the range is left out even where rounding would reach it.
  const Tensor tight =
      random::uniform({1000}, {.seed = 1, .low = 1e8, .high = 1e8 + 8}); // one step of f32
  for (const float value : tight.span<float>()) EXPECT_EQ(value, 1e8f);
}

TEST(Random, Normal) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x =
        random::normal({100000}, {.seed = 2, .mean = 3, .stddev = 0.5, .dtype = dtype});
    const auto [mean, variance] = dtype == f32 ? moments<float>(x) : moments<double>(x);
    EXPECT_NEAR(mean, 3, 0.01);
    EXPECT_NEAR(variance, 0.25, 0.01);
    const std::vector<double> values = x.to_vector<double>();
    const auto inside =
        std::count_if(values.begin(), values.end(), [](double v) { return std::abs(v - 3) < 0.5; });
    EXPECT_NEAR(static_cast<double>(inside) / 100000, 0.6827, 0.01);
    for (const double value : values) ASSERT_TRUE(std::isfinite(value));
  }
  EXPECT_EQ(random::normal({2, 0}, {.seed = 1}).shape(), (Shape{2, 0}));
  EXPECT_EQ(random::normal({}, {.seed = 1}).size(), 1);
}

TEST(Random, Permutation) {
  for (const DType dtype : {i32, i64}) {
    std::vector<std::int64_t> order =
        random::permutation(1000, {.seed = 1, .dtype = dtype}).to_vector<std::int64_t>();
    EXPECT_NE(order[0] + order[1] + order[2], 3);
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(random::permutation(0, {.seed = 1}).size(), 0);
  // All six orders of three, equally often.
  std::vector<int> counts(27);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto order = random::permutation(3, {.seed = seed}).to_vector<int>();
    counts[static_cast<std::size_t>(order[0] * 9 + order[1] * 3 + order[2])]++;
  }
  for (const int count : counts)
    if (count != 0) EXPECT_NEAR(count, 1000, 120);
}

TEST(Random, BadOptions) {
  EXPECT_THROWS(random::uniform({2}, {.dtype = i32}), DTypeError,
                "random::uniform: the dtype must be floating, but it is i32");
  EXPECT_THROWS(random::uniform({2}, {.low = 1, .high = 1}), ValueError,
                "random::uniform: low must be below high and both finite");
  EXPECT_THROWS(random::normal({2}, {.stddev = -1}), ValueError,
                "random::normal: the mean is 0 and the standard deviation -1: both must be finite, "
                "the latter "
                "not negative");
  EXPECT_THROWS(random::permutation(-1), ValueError, "random::permutation: n is -1");
  EXPECT_THROWS(random::permutation(3, {.dtype = f32}), DTypeError,
                "random::permutation: the dtype must be an integer, but it is f32");
  EXPECT_THROWS(random::normal({-1}), ShapeError,
                "random::normal: a tensor cannot have the size -1 in axis 0");
}

} // namespace
} // namespace weft
