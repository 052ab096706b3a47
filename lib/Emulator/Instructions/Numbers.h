// Floating-point numbers: their bits, the NaNs that arithmetic makes, and conversions that round
// once.
#pragma once

#include <cmath>
#include <cstdint>

#include "Emulator/Instructions/Lanes.h"

namespace weft::emulator {
namespace {

template <class T>
struct FloatOf;
template <>
struct FloatOf<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23, kExponent = 8;
  static constexpr Bits kNan = 0x7fffffff;
};
template <>
struct FloatOf<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52, kExponent = 11;
  static constexpr Bits kNan = 0xfff8000000000000;
};
template <>
struct FloatOf<Half> {
  using Bits = std::uint16_t;
  static constexpr int kMantissa = 10, kExponent = 5;
  static constexpr Bits kNan = 0x7fff;
};
template <>
struct FloatOf<Brain> {
  using Bits = std::uint16_t;
  static constexpr int kMantissa = 7, kExponent = 8;
  static constexpr Bits kNan = 0x7fff;
};

template <class T>
using BitsOf = typename FloatOf<T>::Bits;
template <class T>
constexpr BitsOf<T> kSignOf =
    static_cast<BitsOf<T>>(BitsOf<T>{1} << (FloatOf<T>::kMantissa + FloatOf<T>::kExponent));
template <class T>
constexpr BitsOf<T> kExponentOf =
    static_cast<BitsOf<T>>(((BitsOf<T>{1} << FloatOf<T>::kExponent) - 1) << FloatOf<T>::kMantissa);

template <class T>
[[gnu::always_inline]] inline T canonical_nan() {
  return bits_as<T>(FloatOf<T>::kNan);
}
template <class T>
[[gnu::always_inline]] inline T canonical(T x) {
  return x != x ? canonical_nan<T>() : x;
}
/// A NaN with the bit that says that it is no signalling one; its sign and payload stay.
template <class T>
[[gnu::always_inline]] inline T quieted(T nan) {
  constexpr BitsOf<T> kQuiet = BitsOf<T>{1} << (FloatOf<T>::kMantissa - 1);
  return bits_as<T>(static_cast<BitsOf<T>>(bits_as<BitsOf<T>>(nan) | kQuiet));
}
template <class T>
[[gnu::always_inline]] inline T first_nan() {
  return canonical_nan<T>();
}
template <class T, class... Others>
[[gnu::always_inline]] inline T first_nan(T x, Others... others) {
  return x != x ? quieted(x) : first_nan<T>(others...);
}
/// A result of arithmetic on these operands. Of f32 every NaN has one pattern. f64 hands on the NaN
/// of an operand, the first of `operands` that is one; only where none is it has a pattern of its
/// own.
template <class T, class... Operands>
[[gnu::always_inline]] inline T propagated(T result, Operands... operands) {
  if constexpr (std::is_same_v<T, double>)
    return result != result ? first_nan<T>(operands...) : result;
  else return canonical(result);
}
template <class T>
[[gnu::always_inline]] inline bool is_negative(T x) {
  return (bits_as<BitsOf<T>>(x) & kSignOf<T>) != 0;
}

[[gnu::always_inline]] inline float fused_multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fused_multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
[[gnu::always_inline]] inline float square_root(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline double square_root(double x) { return __builtin_sqrt(x); }

/// How a result that is between two numbers is chosen.
enum class Rounding : std::uint8_t { nearest_even, to_zero, down, up, nearest_away };

/// `significand * 2^exponent`, with a sign, and `sticky` whether there is a bit more below it: as a
/// number of type T, rounded once. The significand has at most 62 bits.
template <class T>
[[gnu::noinline]] T rounded(bool negative, std::uint64_t significand, int exponent, bool sticky,
                            Rounding rounding) {
  using F = FloatOf<T>;
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1, kLeast = 1 - kBias - F::kMantissa;
  const BitsOf<T> sign = negative ? kSignOf<T> : BitsOf<T>{0};
  if (significand == 0 && !sticky) return bits_as<T>(sign);
  // With enough bits that the last one may stand for all that is below.
  const int shift = significand == 0 ? 0 : __builtin_clzll(significand) - 1;
  const std::uint64_t bits = significand << shift | (sticky ? 1 : 0);
  exponent -= shift;
  const int width = 64 - __builtin_clzll(bits);
  int drop = width - (F::kMantissa + 1);
  if (exponent + drop < kLeast) drop = kLeast - exponent; // subnormal
  std::uint64_t kept = 0, rest = 0, half = 0;             // of what is dropped
  if (drop <= 0) {
    kept = bits << -drop;
  } else if (drop > 63) {
    rest = 1;
    half = 2;
  } else {
    kept = bits >> drop;
    rest = bits & ((1ULL << drop) - 1);
    half = 1ULL << (drop - 1);
  }
  bool away = false;
  switch (rounding) {
  case Rounding::nearest_even:
    away = rest > half || (rest == half && rest != 0 && (kept & 1) != 0);
    break;
  case Rounding::nearest_away: away = rest != 0 && rest >= half; break;
  case Rounding::to_zero: break;
  case Rounding::down: away = negative && rest != 0; break;
  case Rounding::up: away = !negative && rest != 0; break;
  }
  kept += away ? 1 : 0;
  int power = exponent + drop; // of the last bit kept
  if (kept >> (F::kMantissa + 1) != 0) {
    kept >>= 1;
    ++power;
  }
  if (kept == 0) return bits_as<T>(sign);
  const bool subnormal = kept >> F::kMantissa == 0;
  const int biased = subnormal ? 0 : power + F::kMantissa + kBias;
  if (biased >= (1 << F::kExponent) - 1) {
    const bool stays = rounding == Rounding::to_zero || (rounding == Rounding::down && !negative) ||
                       (rounding == Rounding::up && negative);
    return bits_as<T>(static_cast<BitsOf<T>>(sign | (stays ? kExponentOf<T> - 1 : kExponentOf<T>)));
  }
  const std::uint64_t mantissa = kept & ((1ULL << F::kMantissa) - 1);
  return bits_as<T>(static_cast<BitsOf<T>>(
      sign |
      static_cast<BitsOf<T>>(static_cast<std::uint64_t>(biased) << F::kMantissa | mantissa)));
}

/// A finite number as sign, significand and exponent.
struct Parts {
  bool negative, infinite, nan;
  std::uint64_t significand;
  int exponent;
};
template <class T>
Parts parts_of(T x) {
  using F = FloatOf<T>;
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
  const std::uint64_t bits = bits_as<BitsOf<T>>(x);
  const std::uint64_t mantissa = bits & ((1ULL << F::kMantissa) - 1);
  const int biased = static_cast<int>(bits >> F::kMantissa & ((1ULL << F::kExponent) - 1));
  const bool special = biased == (1 << F::kExponent) - 1;
  Parts parts;
  parts.negative = (bits & kSignOf<T>) != 0;
  parts.infinite = special && mantissa == 0;
  parts.nan = special && mantissa != 0;
  parts.significand = biased == 0 ? mantissa : mantissa | 1ULL << F::kMantissa;
  parts.exponent = (biased == 0 ? 1 : biased) - kBias - F::kMantissa;
  return parts;
}

/// f16 and bf16 as f32, which has all of them.
inline float widened(Half x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000) << 16;
  const std::uint32_t magnitude = x.bits & 0x7fff;
  if (magnitude > 0x7c00) return canonical_nan<float>();
  if (magnitude == 0x7c00) return bits_as<float>(sign | 0x7f800000);
  if (magnitude < 0x400) { // subnormal: a whole number of 2^-24
    const float value = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
    return bits_as<float>(sign | bits_as<std::uint32_t>(value));
  }
  return bits_as<float>(sign | ((magnitude << 13) + (112U << 23)));
}
inline float widened(Brain x) {
  return canonical(bits_as<float>(static_cast<std::uint32_t>(x.bits) << 16));
}

/// A number as another type, rounded once.
template <class To, class From>
[[gnu::noinline]] To narrowed(From x, Rounding rounding) {
  const Parts parts = parts_of(x);
  if (parts.nan) return canonical_nan<To>();
  if (parts.infinite)
    return bits_as<To>(
        static_cast<BitsOf<To>>(kExponentOf<To> | (parts.negative ? kSignOf<To> : 0)));
  return rounded<To>(parts.negative, parts.significand, parts.exponent, false, rounding);
}

} // namespace
} // namespace weft::emulator
