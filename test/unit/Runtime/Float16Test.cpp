// The floating formats of 16 bits in C++: every value, and what lies between neighbours.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <weft/tensor.h>

namespace weft {
namespace {

template <class T>
class Float16 : public testing::Test {
public:
  /// All numbers of the format that are not negative, ascending.
  static std::vector<T> numbers() {
    std::vector<T> all;
    for (std::uint32_t bits = 0; bits <= std::numeric_limits<T>::max().bits; ++bits)
      all.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
    return all;
  }
};
using Formats = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(Float16, Formats);

TYPED_TEST(Float16, EveryValueComesBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const float number = value;
    if (number != number) {
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(number)))) << bits;
      continue;
    }
    ASSERT_EQ(TypeParam(number).bits, bits);
    ASSERT_EQ(TypeParam(static_cast<double>(number)).bits, bits);
  }
}

TYPED_TEST(Float16, NumbersAscend) {
  const std::vector<TypeParam> all = this->numbers();
  for (std::size_t i = 1; i < all.size(); ++i) ASSERT_LT(all[i - 1], all[i]);
}

TYPED_TEST(Float16, WhatLiesBetweenIsRoundedOnce) {
  const std::vector<TypeParam> all = this->numbers();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double low = all[i - 1], high = all[i], half = (low + high) / 2; // exact
    const TypeParam even = all[i - i % 2];
    const double tiny = std::ldexp(high - low, -40); // which a float would lose
    for (const double sign : {1., -1.}) {
      ASSERT_EQ(TypeParam(sign * half), static_cast<float>(sign * even)) << half;
      ASSERT_EQ(TypeParam(sign * (half - tiny)), static_cast<float>(sign * low)) << half;
      ASSERT_EQ(TypeParam(sign * (half + tiny)), static_cast<float>(sign * high)) << half;
      ASSERT_EQ(TypeParam(static_cast<float>(sign * half)), static_cast<float>(sign * even))
          << half;
    }
  }
}

TYPED_TEST(Float16, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  const auto all = this->numbers();
  EXPECT_EQ(Limits::max(), all.back());
  EXPECT_EQ(Limits::denorm_min(), all[1]);
  EXPECT_EQ(Limits::min(), std::ldexp(1., Limits::min_exponent - 1));
  EXPECT_EQ(Limits::max(), std::ldexp(1 - std::ldexp(1., -Limits::digits), Limits::max_exponent));
  EXPECT_EQ(Limits::epsilon(), std::ldexp(1., 1 - Limits::digits));
  EXPECT_EQ(Limits::lowest(), -static_cast<float>(Limits::max()));
  EXPECT_TRUE(std::isinf(static_cast<float>(Limits::infinity())));
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  // From half a step beyond the largest number on it is infinity.
  const double step = static_cast<double>(all.back()) - static_cast<double>(all[all.size() - 2]);
  const double end = static_cast<double>(Limits::max()) + step / 2;
  EXPECT_EQ(TypeParam(end), Limits::infinity());
  EXPECT_EQ(TypeParam(std::nextafter(end, 0)), Limits::max());
  EXPECT_EQ(TypeParam(-1e300), -static_cast<float>(Limits::infinity()));
}

TEST(Float16Bits, IntegersAreRoundedOnce) {
  // To f32 first, the last one would be lost, and the half go to the even number.
  EXPECT_EQ(bfloat16((1 << 24) + (1 << 16) + 1), 0x1.02p24f);
  EXPECT_EQ(bfloat16((1 << 24) + (1 << 16)), 0x1p24f);
  EXPECT_EQ(bfloat16(-(1 << 24) - (1 << 16) - 1), -0x1.02p24f);
  const std::int64_t large = std::int64_t{1} << 62, step = std::int64_t{1} << 54;
  EXPECT_EQ(bfloat16(large + step + 1), 0x1.02p62f);
  EXPECT_EQ(bfloat16(large + step), 0x1p62f);
  EXPECT_EQ(bfloat16(-large - step - 1), -0x1.02p62f);
  EXPECT_EQ(bfloat16(-large - step + 1), -0x1p62f);
  EXPECT_EQ(bfloat16(~std::uint64_t{0}), 0x1p64f);
  EXPECT_EQ(float16(2049), 2048.f);
  EXPECT_EQ(float16(2051), 2052.f);
  EXPECT_EQ(float16(65519), 65504.f);
  EXPECT_TRUE(std::isinf(static_cast<float>(float16(65520))));
  EXPECT_EQ(float16(true), 1.f);
  EXPECT_EQ(float16(std::int8_t{-7}), -7.f);
}

TEST(Float16Bits, TensorsHoldThem) {
  const Tensor x = tensor({float16(0.1), float16(65504.), float16(1e-7)});
  EXPECT_EQ(x.dtype(), f16);
  EXPECT_EQ(x.span<float16>()[1], 65504.f);
  EXPECT_EQ(to_string(x), "tensor([0.1, 65500, 1e-07], shape=(3,), dtype=f16)");
  EXPECT_EQ(to_string(tensor({bfloat16(0.1), bfloat16(3.14159), bfloat16(-1e30)})),
            "tensor([0.1, 3.14, -1e+30], shape=(3,), dtype=bf16)");
  EXPECT_EQ(x.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 65504, 0}));
  EXPECT_EQ(full({2}, 1.1, bf16).to_vector<float>(), (std::vector<float>(2, 1.1015625f)));
}

TEST(Float16Bits, TheyPromoteToWhatHoldsBoth) {
  EXPECT_EQ(promote(f16, bf16), f32);
  EXPECT_EQ(promote(bf16, f16), f32);
  EXPECT_EQ(promote(bf16, f64), f64);
  EXPECT_EQ(promote(f16, i64), f16);
  EXPECT_EQ((DTypeJoin{f16, bf16, u64, i64}).common(), f32);
  EXPECT_EQ((DTypeJoin{u64, i8, bf16}).common(), bf16);
  EXPECT_EQ((DTypeJoin{bf16, f64, f16}).common(), f64);
}

} // namespace
} // namespace weft
