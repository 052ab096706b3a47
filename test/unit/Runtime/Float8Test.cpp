// The floating formats of 8 bits in C++: all 256 values by their fields, and rounding by the
// nearest of them, found among all.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weft/float8.h>

namespace weft {
namespace {

/// What the formats are, as their paper has it (Micikevicius et al., 2022, table 1).
template <class T>
struct Format;
template <>
struct Format<float8_e4m3fn> {
  static constexpr int digits = 3, bias = 7;
  static constexpr double largest = 448;
  static bool is_nan(int size) { return size == 0x7f; }
  static bool is_infinite(int) { return false; }
};
template <>
struct Format<float8_e5m2> {
  static constexpr int digits = 2, bias = 15;
  static constexpr double largest = 57344;
  static bool is_nan(int size) { return size > 0x7c; }
  static bool is_infinite(int size) { return size == 0x7c; }
};

/// The number of a size by its fields.
template <class T>
double number_of(int size) {
  using F = Format<T>;
  if (F::is_nan(size)) return std::nan("");
  if (F::is_infinite(size)) return INFINITY;
  const int exponent = size >> F::digits, fraction = size & ((1 << F::digits) - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - F::bias - F::digits);
  return std::ldexp((1 << F::digits) + fraction, exponent - F::bias - F::digits);
}

/// The size of the finite number nearest to a positive one, of two that with an even last bit,
/// where the next one beyond the largest stands for too much.
template <class T>
int nearest(double value) {
  using F = Format<T>;
  int best = 0;
  for (int size = 1; size < 128; ++size) {
    // Beyond the largest number there is one more step.
    double number = number_of<T>(size);
    if (!std::isfinite(number)) number = 2 * F::largest - number_of<T>(size - 2);
    const double distance = std::fabs(value - number),
                 least = std::fabs(value - number_of<T>(best));
    if (distance < least || (distance == least && size % 2 == 0)) best = size;
    if (!std::isfinite(number_of<T>(size))) break;
  }
  return best;
}

template <class T>
class Float8 : public testing::Test {};
using Formats = testing::Types<float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(Float8, Formats);

TYPED_TEST(Float8, EveryValueIsThatOfItsFields) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto value = TypeParam::from_bits(static_cast<std::uint8_t>(bits));
    const float number = value;
    const double wanted = number_of<TypeParam>(bits & 0x7f);
    EXPECT_EQ(std::signbit(number), bits >= 128) << bits;
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(number)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(number)))) << bits;
      continue;
    }
    EXPECT_EQ(std::fabs(static_cast<double>(number)), wanted) << bits;
    EXPECT_EQ(TypeParam(number).bits, bits);
    EXPECT_EQ(TypeParam(static_cast<double>(number)).bits, bits);
  }
}

/// Both signs of a number as float and double go to the nearest one.
template <class T>
void expect_nearest(double value) {
  const int wanted = nearest<T>(value);
  for (const int sign : {0, 0x80}) {
    const double number = sign ? -value : value;
    ASSERT_EQ(T(number).bits, wanted | sign) << std::hexfloat << number;
    if (static_cast<double>(static_cast<float>(number)) == number)
      ASSERT_EQ(T(static_cast<float>(number)).bits, wanted | sign) << std::hexfloat << number;
  }
}

TYPED_TEST(Float8, WhatLiesBetweenIsRoundedOnce) {
  for (int size = 0; size < 127 && std::isfinite(number_of<TypeParam>(size)); ++size) {
    const double low = number_of<TypeParam>(size);
    double high = number_of<TypeParam>(size + 1);
    if (!std::isfinite(high)) high = 2 * low - number_of<TypeParam>(size - 1);
    const double half = (low + high) / 2, step = high - low;
    for (const double value :
         {low, half, high - step / 1024, half + step * 0x1p-20, half - step * 0x1p-20,
          half + step * 0x1p-40, half - step * 0x1p-40, low + step / 3})
      expect_nearest<TypeParam>(value);
  }
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> exponents(-20, 17);
  for (int i = 0; i < 100'000; ++i) expect_nearest<TypeParam>(std::exp2(exponents(random)));
}

TYPED_TEST(Float8, EndsOfTheRange) {
  using F = Format<TypeParam>;
  const int beyond = std::is_same_v<TypeParam, float8_e5m2> ? 0x7c : 0x7f;
  const double step = F::largest - number_of<TypeParam>(nearest<TypeParam>(F::largest) - 1);
  EXPECT_EQ(
      static_cast<double>(static_cast<float>(TypeParam(F::largest + step / 2 * (1 - 0x1p-30)))),
      F::largest);
  for (const double value : {F::largest + step, 1e9, 1e300, static_cast<double>(INFINITY)}) {
    EXPECT_EQ(TypeParam(value).bits, beyond) << value;
    EXPECT_EQ(TypeParam(-value).bits, beyond | 0x80) << value;
  }
  EXPECT_EQ(TypeParam(1e-300).bits, 0);
  EXPECT_EQ(TypeParam(-1e-300).bits, 0x80);
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(static_cast<double>(static_cast<float>(Limits::max())), F::largest);
  EXPECT_EQ(static_cast<float>(Limits::lowest()), -static_cast<float>(Limits::max()));
  EXPECT_EQ(static_cast<double>(static_cast<float>(Limits::min())), std::ldexp(1, 1 - F::bias));
  EXPECT_EQ(static_cast<double>(static_cast<float>(Limits::epsilon())), std::ldexp(1, -F::digits));
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
}

// Of two neighbours the tie beyond the largest number goes to the even one: of E4M3 that is it, of
// E5M2 what is infinite.
TEST(Float8Ends, TiesAtTheEnd) {
  EXPECT_EQ(static_cast<float>(float8_e4m3fn(464)), 448);
  EXPECT_TRUE(std::isnan(static_cast<float>(float8_e4m3fn(465))));
  EXPECT_TRUE(std::isinf(static_cast<float>(float8_e5m2(61440))));
  EXPECT_EQ(static_cast<float>(float8_e5m2(61439)), 57344);
}

TEST(Float8Ends, OtherTypes) {
  EXPECT_EQ(static_cast<float>(float8_e4m3fn(true)), 1);
  EXPECT_EQ(static_cast<float>(float8_e4m3fn(float16(2.5f))), 2.5f);
  EXPECT_EQ(static_cast<float>(float8_e5m2(float8_e4m3fn(1.125f))), 1); // halfway, and even
  // 2^60 + 2^57 + 1 is more than halfway between neighbours, which double does not see.
  EXPECT_TRUE(std::isinf(static_cast<float>(float8_e5m2(std::int64_t{1} << 60))));
  EXPECT_EQ(static_cast<float>(float8_e5m2((std::int64_t{1} << 14) + (1 << 11) + 1)), 20480);
}

} // namespace
} // namespace weft
