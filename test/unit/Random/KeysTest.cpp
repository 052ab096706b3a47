// Keys: draws that are functions of them, eager and traced, and distributions by rejection, whose
// kernel has the bits of the ops.
#include "../Testing.h"

#include <cstring>

#include <weft/weft.h>

namespace weft {
namespace {

using random::Generator;

bool same(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && all(equal(a, b)).item<bool>();
}

TEST(Keys, HaveTheNumbersOfTheirSeed) {
  const Tensor key = random::key(42);
  EXPECT_EQ(key.dtype(), DType::u64);
  EXPECT_TRUE(same(random::uniform({7}, {.key = key}), Generator(42).uniform({7})));
  EXPECT_TRUE(same(random::normal({7}, {.key = key}), random::normal({7}, {.seed = 42})));
  EXPECT_TRUE(same(nn::dropout(ones({9}), 0.5, key), nn::dropout(ones({9}), 0.5, Generator(42))));
}

TEST(Keys, AreSplitAndFolded) {
  const Tensor key = random::key(1), keys = random::split(key, 3);
  EXPECT_EQ(keys.shape(), (Shape{3, 2}));
  EXPECT_FALSE(same(keys[0], keys[1]));
  EXPECT_FALSE(same(random::fold_in(key, 1), random::fold_in(key, 2)));
  const Generator generator(5);
  const Tensor first = generator.key(), second = generator.key();
  EXPECT_FALSE(same(first, second));
  EXPECT_THROWS(random::split(ones({3}, u64)), ShapeError,
                "random.split: key has the shape (3,): a key is of shape (2,)");
  EXPECT_THROWS(random::uniform({2}, {.seed = 1, .key = key}), ValueError,
                "random::uniform: a seed and a key are given: one of them is wanted");
}

TEST(Keys, DrawTheSameEagerAndTraced) {
  const auto draw = [](const Tensor &key) {
    const Tensor keys = random::split(key, 4);
    return std::tuple(
        random::gamma(tensor({0.3, 1.0, 70.0}), keys[0], {.shape = Sizes{50, 3}}),
        random::poisson(tensor({0.5, 9.0, 10.0, 1e6}), keys[1], {.shape = Sizes{50, 4}}),
        random::binomial(tensor({5., 30., 1e6}), tensor({0.2, 0.9, 0.5}), keys[2],
                         {.shape = Sizes{50, 3}}),
        random::normal({5}, {.key = keys[3]}));
  };
  const auto traced = function(draw);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto [a, b, c, d] = draw(random::key(seed));
    const auto [e, f, g, h] = traced(random::key(seed));
    EXPECT_TRUE(same(a, e));
    EXPECT_TRUE(same(b, f));
    EXPECT_TRUE(same(c, g));
    EXPECT_TRUE(same(d, h));
  }
}

TEST(Keys, OpsAndKernelHaveTheSameBits) {
  const Tensor key = random::key(9), a = exp(random::normal({2000}, {.stddev = 3, .key = key}));
  const Tensor p = random::uniform({2000}, {.key = key});
  const auto draw = [&] {
    return std::vector{random::loggamma(a, key), random::poisson(a * 5, key),
                       random::binomial(floor(a * 20), p, key)};
  };
  const std::vector<Tensor> eager = draw();
  const GradientTape tape; // which records ops
  const std::vector<Tensor> recorded = draw();
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(same(eager[i], recorded[i])) << i;
}

} // namespace
} // namespace weft
