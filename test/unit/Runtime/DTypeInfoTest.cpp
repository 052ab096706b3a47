// Limits and kinds of dtypes.
#include <gtest/gtest.h>

#include <limits>

#include <weft/weft.h>

namespace weft {
namespace {

TEST(DTypeInfo, TellsTheLimitsOfFloatingDTypes) {
  const FloatInfo info = finfo(f32);
  EXPECT_EQ(info.bits, 32);
  EXPECT_EQ(info.eps, 0x1p-23);
  EXPECT_EQ(info.max, std::numeric_limits<float>::max());
  EXPECT_EQ(info.min, -info.max);
  EXPECT_EQ(info.smallest_normal, 0x1p-126);
  EXPECT_EQ(finfo(f64).eps, 0x1p-52);
  EXPECT_THROW(finfo(i32), DTypeError);
}

TEST(DTypeInfo, TellsTheLimitsOfIntegers) {
  EXPECT_EQ(iinfo(i32).max, 2147483647U);
  EXPECT_EQ(iinfo(i64).min, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(iinfo(i64).bits, 64);
  EXPECT_THROW(iinfo(f32), DTypeError);
  EXPECT_THROW(iinfo(boolean), DTypeError);
}

TEST(DTypeInfo, KnowsKindsByName) {
  EXPECT_TRUE(isdtype(boolean, "bool"));
  EXPECT_FALSE(isdtype(boolean, "numeric"));
  EXPECT_TRUE(isdtype(i64, "signed integer"));
  EXPECT_TRUE(isdtype(i64, "integral"));
  EXPECT_FALSE(isdtype(i64, "unsigned integer"));
  EXPECT_TRUE(isdtype(f64, "real floating"));
  EXPECT_FALSE(isdtype(f64, "complex floating"));
  EXPECT_THROW(isdtype(f32, "float"), ValueError);
}

TEST(DTypeInfo, PromotesAllOfAList) {
  EXPECT_EQ(result_type({i32, f32, i64}), f32);
  EXPECT_EQ(result_type({boolean}), boolean);
  EXPECT_THROW(result_type({}), ValueError);
  EXPECT_TRUE(can_cast(i32, f32));
  EXPECT_FALSE(can_cast(f64, f32));
}

} // namespace
} // namespace weft
