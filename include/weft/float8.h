// The floating formats of 8 bits as C++ types: storage alone, to which numbers are cast and back.
#pragma once

#include <weft/float16.h>

namespace weft {

namespace detail {

/// A float in a format of 8 bits, without the sign: to the nearest, of two to the even one.
/// `Digits` are the bits of its significand that are stored, `Bias` that of its exponents.
template <int Digits, int Bias>
constexpr std::uint32_t float8_size(float value) {
  constexpr int kDropped = 23 - Digits;
  constexpr std::uint32_t kRebias = (127u - Bias) << 23;
  const std::uint32_t size = std::bit_cast<std::uint32_t>(value) & 0x7fffffff;
  if (size < kRebias + (1u << 23)) {
    // Of the denormals the last bit is that of this power of two as a float.
    constexpr std::uint32_t kUnit = (127u - Bias + 1 + kDropped) << 23;
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(kUnit)) -
           kUnit;
  }
  return (size + (1u << (kDropped - 1)) - 1 + (size >> kDropped & 1) - kRebias) >> kDropped;
}

/// The float that a size of such a format stands for, if it is finite.
template <int Digits, int Bias>
constexpr std::uint32_t float8_value(std::uint32_t size) {
  constexpr int kDropped = 23 - Digits;
  constexpr std::uint32_t kUnit = (127u - Bias + 1 + kDropped) << 23;
  if (size < 1u << Digits)
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(size + kUnit) -
                                        std::bit_cast<float>(kUnit));
  return (size << kDropped) + ((127u - Bias) << 23);
}

constexpr std::uint8_t float8_e4m3fn_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffff) > 0x43e80000; // 464, from which 480 is as near as 448
  const std::uint32_t size = is_nan ? 0x7f : float8_size<3, 7>(value);
  return static_cast<std::uint8_t>(size | (bits >> 24 & 0x80));
}
constexpr float float8_e4m3fn_value(std::uint8_t bits) {
  const std::uint32_t size = bits & 0x7fu, sign = (bits & 0x80u) << 24;
  return std::bit_cast<float>((size == 0x7f ? 0x7fc00000 : float8_value<3, 7>(size)) | sign);
}

constexpr std::uint8_t float8_e5m2_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t whole = bits & 0x7fffffff;
  const std::uint32_t size = whole > 0x7f800000    ? 0x7e
                             : whole >= 0x47700000 ? 0x7c // from 61440 on
                                                   : float8_size<2, 15>(value);
  return static_cast<std::uint8_t>(size | (bits >> 24 & 0x80));
}
constexpr float float8_e5m2_value(std::uint8_t bits) {
  const std::uint32_t size = bits & 0x7fu, sign = (bits & 0x80u) << 24;
  const std::uint32_t special = 0x7f800000 | (size & 3) << 21;
  return std::bit_cast<float>((size >= 0x7c ? special : float8_value<2, 15>(size)) | sign);
}

} // namespace detail

/// The elements of `f8e4m3fn` (Micikevicius et al., FP8 Formats for Deep Learning, 2022): 4
/// significant bits, up to 448, no infinities; what is larger than 464 is NaN, as an infinity is. A
/// number becomes one by rounding once, to the nearest, of two to the even one; there is no
/// arithmetic on them but that of the float that each stands for.
struct float8_e4m3fn {
  std::uint8_t bits;

  float8_e4m3fn() = default;
  template <class T, class = std::enable_if_t<is_floating_type<T> || std::is_integral_v<T>>>
  explicit constexpr float8_e4m3fn(T value)
      : bits(detail::float8_e4m3fn_bits(detail::to_be_rounded(value))) {}
  static constexpr float8_e4m3fn from_bits(std::uint8_t bits) {
    float8_e4m3fn value(0.f);
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return detail::float8_e4m3fn_value(bits); }
};

/// The elements of `f8e5m2`: 3 significant bits, up to 57344, with infinities, which what rounds to
/// more becomes. The rest as of float8_e4m3fn.
struct float8_e5m2 {
  std::uint8_t bits;

  float8_e5m2() = default;
  template <class T, class = std::enable_if_t<is_floating_type<T> || std::is_integral_v<T>>>
  explicit constexpr float8_e5m2(T value)
      : bits(detail::float8_e5m2_bits(detail::to_be_rounded(value))) {}
  static constexpr float8_e5m2 from_bits(std::uint8_t bits) {
    float8_e5m2 value(0.f);
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return detail::float8_e5m2_value(bits); }
};

template <>
inline constexpr bool is_floating_type<float8_e4m3fn> = true;
template <>
inline constexpr bool is_floating_type<float8_e5m2> = true;

namespace detail {
/// What numeric_limits says of such a format: the exponents of its numbers, and the bits of its
/// largest number, of infinity and of NaN.
template <class T, int Digits, int MinExponent, int MaxExponent, int Max, int Infinity, int NaN>
struct LimitsOf8Bits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, has_infinity = Infinity != 0, has_quiet_NaN = true,
                        has_signaling_NaN = false, is_iec559 = false, is_bounded = true,
                        is_modulo = false, traps = false, tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int digits = Digits, digits10 = (Digits - 1) * 30103 / 100000,
                       max_digits10 = 2 + Digits * 30103 / 100000, radix = 2,
                       min_exponent = MinExponent, max_exponent = MaxExponent,
                       min_exponent10 = MinExponent * 30103 / 100000,
                       max_exponent10 = MaxExponent * 30103 / 100000;

  static constexpr T infinity() { return T::from_bits(Infinity); }
  static constexpr T quiet_NaN() { return T::from_bits(NaN); }
  static constexpr T signaling_NaN() { return T::from_bits(NaN); }
  static constexpr T max() { return T::from_bits(Max); }
  static constexpr T lowest() { return T::from_bits(Max | 0x80); }
  static constexpr T min() { return T::from_bits(1 << (Digits - 1)); }
  static constexpr T denorm_min() { return T::from_bits(1); }
  static constexpr T epsilon() { return T(2.f / static_cast<float>(1 << Digits)); }
  static constexpr T round_error() { return T(0.5f); }
};
} // namespace detail

} // namespace weft

template <>
struct std::numeric_limits<weft::float8_e4m3fn>
    : weft::detail::LimitsOf8Bits<weft::float8_e4m3fn, 4, -5, 9, 0x7e, 0, 0x7f> {};
template <>
struct std::numeric_limits<weft::float8_e5m2>
    : weft::detail::LimitsOf8Bits<weft::float8_e5m2, 3, -13, 16, 0x7b, 0x7c, 0x7e> {};
