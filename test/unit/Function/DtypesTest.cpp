// What dtypes calls give of others, on values and in traces: as docs/dtypes.md says.
#include "Both.h"

#include <vector>

#include <weft/weft.h>

namespace weft {
namespace {

const Tensor ints = tensor({1, 2, 4}), longs = ints.astype(i64),
             bools = tensor({true, false, true});

TEST(Dtypes, IntegersInFloatingOpsBecomeF32) {
  const auto half = [](const Tensor &x) { return x / 2; };
  const auto ratio = [](const Tensor &x) { return x / x; };
  const auto average = [](const Tensor &x) { return mean(x); };
  const auto root = [](const Tensor &x) { return sqrt(x); };
  for (const Tensor &x : {ints, longs, bools}) {
    EXPECT_EQ(both(half, x).dtype(), f32);
    EXPECT_EQ(both(ratio, x).dtype(), f32);
    EXPECT_EQ(both(average, x).dtype(), f32);
    EXPECT_EQ(both(root, x).dtype(), f32);
  }
  EXPECT_EQ(both(half, ints).to_vector<float>(), (std::vector<float>{0.5, 1, 2}));
  EXPECT_FLOAT_EQ(both(average, ints).item<float>(), 7.f / 3);
  EXPECT_FLOAT_EQ(both(average, bools).item<float>(), 2.f / 3);
  EXPECT_FLOAT_EQ(both(root, ints).to_vector<float>()[1], 1.41421356f);
}

// A program in f32 stays in it, and one in f64 too.
TEST(Dtypes, IntegersFollowTheFloatingOnesTheyMeet) {
  const auto scaled = [](const Tensor &x, const Tensor &n) { return x * mean(n) / n; };
  EXPECT_EQ(both(scaled, ones({3}), ints).dtype(), f32);
  EXPECT_EQ(both(scaled, ones({3}, f64), ints).dtype(), f64);
  const auto divided = [](const Tensor &x, const Tensor &n) { return x / n; };
  EXPECT_EQ(both(divided, ones({3}), longs).dtype(), f32);
  EXPECT_EQ(both(divided, ones({3}, f64), ints).dtype(), f64);
}

TEST(Dtypes, BoolsAreCounted) {
  const auto counted = [](const Tensor &x) { return sum(x); };
  const auto so_far = [](const Tensor &x) { return cumsum(x); };
  const auto together = [](const Tensor &x) { return prod(x); };
  const auto along = [](const Tensor &x) { return cumprod(x); };
  EXPECT_EQ(both(counted, bools).dtype(), i64);
  EXPECT_EQ(both(counted, bools).item<std::int64_t>(), 2);
  EXPECT_EQ(both(so_far, bools).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(both(together, bools).item<std::int64_t>(), 0);
  EXPECT_EQ(both(along, bools).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(bools.sum().dtype(), i64);
  EXPECT_EQ(sum(true).item<std::int64_t>(), 1);
  // Others keep theirs.
  for (const Tensor &x : {ints, longs, ones({3}), ones({3}, f64)}) {
    EXPECT_EQ(both(counted, x).dtype(), x.dtype());
    EXPECT_EQ(both(so_far, x).dtype(), x.dtype());
  }
}

} // namespace
} // namespace weft
