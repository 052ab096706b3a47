// The floating formats of 16 bits as C++ types: storage, whose arithmetic is that of float.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft {

struct float16;
struct bfloat16;

namespace detail {

/// The nearest float, or beside a number that is none the one of both whose last bit is odd: what
/// is rounded to fewer bits afterwards is as if it had been rounded once.
constexpr float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (back == value || value != value || (bits & 1) != 0) return nearest;
  const bool is_smaller = value < 0 ? back > value : back < value;
  return std::bit_cast<float>(is_smaller ? bits + 1 : bits - 1);
}

/// A float from which a number is rounded to 16 bits as from itself.
template <class T>
constexpr float to_be_rounded(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    // The last bit that a double has of the largest numbers says whether any is set behind it.
    constexpr auto rest = (std::uint64_t{1} << 11) - 1;
    const auto bits = static_cast<std::uint64_t>(value);
    const auto sticky = static_cast<T>((bits & ~rest) | (std::uint64_t{(bits & rest) != 0} << 11));
    const auto high = static_cast<std::int64_t>(value) >> 53;
    return rounded_to_odd(static_cast<double>(high == 0 || high == -1 ? value : sticky));
  } else if constexpr (std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) == 4)) {
    return rounded_to_odd(static_cast<double>(value));
  } else {
    return static_cast<float>(value);
  }
}

constexpr std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
constexpr float bfloat16_value(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

constexpr std::uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value), size = bits & 0x7fffffff;
  std::uint32_t half = 0;
  if (size > 0x7f800000) {
    half = 0x7e00 | (size >> 13 & 0x3ff);
  } else if (size >= 0x477ff000) { // 65520
    half = 0x7c00;
  } else if (size < 0x38800000) { // of the denormals the last bit is that of 0.5 as a float
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
  } else {
    half = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
  }
  return static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000));
}
constexpr float float16_value(std::uint16_t half) {
  const std::uint32_t size = half & 0x7fffu, sign = (half & 0x8000u) << 16;
  std::uint32_t bits = (size << 13) + 0x38000000;
  if (size >= 0x7c00) bits += 0x38000000;
  if (size < 0x400)
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size + 0x3f000000) - 0.5f);
  return std::bit_cast<float>(bits | sign);
}

} // namespace detail

/// The binary16 of IEEE 754, the elements of `f16`: 11 significant bits, up to 65504. A number
/// becomes one by rounding once, to the nearest, of two to the even one; arithmetic is that of the
/// float that it stands for.
struct float16 {
  std::uint16_t bits;

  float16() = default;
  template <class T,
            class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16>>>
  explicit constexpr float16(T value) : bits(detail::float16_bits(detail::to_be_rounded(value))) {}
  static constexpr float16 from_bits(std::uint16_t bits) {
    float16 value(0.f);
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return detail::float16_value(bits); }
};

/// The upper half of a float, the elements of `bf16`: 8 significant bits, and its range. The rest
/// as of float16.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  template <class T,
            class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, float16>>>
  explicit constexpr bfloat16(T value)
      : bits(detail::bfloat16_bits(detail::to_be_rounded(value))) {}
  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 value(0.f);
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return detail::bfloat16_value(bits); }
};

/// Whether `T` is a floating type, the ones of 16 and 8 bits too, which std::is_floating_point does
/// not know.
template <class T>
inline constexpr bool is_floating_type = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_floating_type<const T> = is_floating_type<T>;
template <>
inline constexpr bool is_floating_type<float16> = true;
template <>
inline constexpr bool is_floating_type<bfloat16> = true;

namespace detail {
/// What numeric_limits says of such a format, by the exponents and bits of its numbers.
template <class T, int Digits, int MinExponent, int MaxExponent>
struct LimitsOf16Bits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, has_infinity = true, has_quiet_NaN = true,
                        has_signaling_NaN = true, is_iec559 = true, is_bounded = true,
                        is_modulo = false, traps = false, tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int digits = Digits, digits10 = (Digits - 1) * 30103 / 100000,
                       max_digits10 = 2 + Digits * 30103 / 100000, radix = 2,
                       min_exponent = MinExponent, max_exponent = MaxExponent,
                       min_exponent10 = MinExponent * 30103 / 100000,
                       max_exponent10 = MaxExponent * 30103 / 100000;

  static constexpr T infinity() { return of(((1u << (16 - Digits)) - 1) << (Digits - 1)); }
  static constexpr T quiet_NaN() { return of(infinity().bits | 1u << (Digits - 2)); }
  static constexpr T signaling_NaN() { return of(infinity().bits | 1u); }
  static constexpr T max() { return of(infinity().bits - 1u); }
  static constexpr T lowest() { return of(max().bits | 0x8000u); }
  static constexpr T min() { return of(1u << (Digits - 1)); }
  static constexpr T denorm_min() { return of(1); }
  static constexpr T epsilon() { return T(2.f / static_cast<float>(1u << Digits)); }
  static constexpr T round_error() { return T(0.5f); }

private:
  static constexpr T of(std::uint32_t bits) {
    return T::from_bits(static_cast<std::uint16_t>(bits));
  }
};
} // namespace detail

} // namespace weft

template <>
struct std::numeric_limits<weft::float16>
    : weft::detail::LimitsOf16Bits<weft::float16, 11, -13, 16> {};
template <>
struct std::numeric_limits<weft::bfloat16>
    : weft::detail::LimitsOf16Bits<weft::bfloat16, 8, -125, 128> {};
