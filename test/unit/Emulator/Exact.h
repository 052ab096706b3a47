// Rounding by its definition: an exact value lies between two neighbours of the type, and the mode
// says which one is taken.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace weft::emulator {

/// Wide enough for any sum of two products of f32, and for one product of f64.
using Quad = __float128;

enum class Mode : std::uint8_t { nearest, zero, down, up, away };

/// The modes by their modifiers of arithmetic.
struct NamedMode {
  const char *arithmetic, *whole;
  Mode mode;
};
inline constexpr std::array<NamedMode, 4> kModes = {{{"rn", "rni", Mode::nearest},
                                                     {"rz", "rzi", Mode::zero},
                                                     {"rm", "rmi", Mode::down},
                                                     {"rp", "rpi", Mode::up}}};

/// An exact value, as a number and what is left of it, which may be smaller than a Quad can add.
struct Exact {
  Quad value;
  Quad rest = 0;
  bool negative_zero = false;
};

/// The format of a type with this many bits of mantissa, without the first one, and of exponent.
struct Format {
  int mantissa, exponent;
  std::uint64_t nan;
};
inline constexpr Format kF32{23, 8, 0x7fffffff}, kF64{52, 11, 0xfff8000000000000},
    kF16{10, 5, 0x7fff}, kBf16{7, 8, 0x7fff};

inline Quad scaled(Quad x, int exponent) {
  const unsigned __int128 bits = static_cast<unsigned __int128>(16383 + exponent) << 112;
  return x * __builtin_bit_cast(Quad, bits);
}
inline int bias_of(const Format &format) { return (1 << (format.exponent - 1)) - 1; }
inline std::uint64_t infinity_of(const Format &format) {
  return ((1ULL << format.exponent) - 1) << format.mantissa;
}
inline std::uint64_t sign_of(const Format &format) {
  return 1ULL << (format.mantissa + format.exponent);
}

/// The value of bits that are finite, and of infinity as if it were the next power of two.
inline Quad value_of_bits(std::uint64_t bits, const Format &format) {
  const std::uint64_t mantissa = bits & ((1ULL << format.mantissa) - 1);
  const int biased = static_cast<int>(bits >> format.mantissa & ((1ULL << format.exponent) - 1));
  const Quad whole = static_cast<Quad>(biased == 0 ? mantissa : mantissa | 1ULL << format.mantissa);
  const Quad value = scaled(whole, (biased == 0 ? 1 : biased) - bias_of(format) - format.mantissa);
  return (bits & sign_of(format)) != 0 ? -value : value;
}

/// A finite value in a format.
inline std::uint64_t rounded(Exact exact, const Format &format, Mode mode) {
  bool negative = exact.value < 0 || (exact.value == 0 && exact.rest < 0);
  if (exact.value == 0 && exact.rest == 0) return exact.negative_zero ? sign_of(format) : 0;
  if (negative) exact = {-exact.value, -exact.rest};
  const auto is_at_most = [&](std::uint64_t bits) { // value of bits <= exact
    return value_of_bits(bits, format) - exact.value <= exact.rest;
  };
  std::uint64_t low = 0, high = infinity_of(format); // low <= exact; patterns ascend as values do
  if (is_at_most(high)) low = high - 1;
  else
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      (is_at_most(middle) ? low : high) = middle;
    }
  const std::uint64_t next = low + 1;
  const Quad below = exact.value - value_of_bits(low, format),
             above = value_of_bits(next, format) - exact.value;
  const bool is_exact = below == 0 && exact.rest == 0;
  // below + rest against above - rest
  const Quad balance = (below - above) + 2 * exact.rest;
  bool away = false;
  switch (mode) {
  case Mode::nearest: away = balance > 0 || (balance == 0 && (low & 1) != 0); break;
  case Mode::away: away = balance >= 0; break;
  case Mode::zero: break;
  case Mode::down: away = negative; break;
  case Mode::up: away = !negative; break;
  }
  return (negative ? sign_of(format) : 0) | (!is_exact && away ? next : low);
}

template <class T>
const Format &format_of() {
  return sizeof(T) == 4 ? kF32 : kF64;
}
template <class T>
T rounded_to(Exact exact, Mode mode) {
  const std::uint64_t bits = rounded(exact, format_of<T>(), mode);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
T the_nan() {
  T value;
  std::memcpy(&value, &format_of<T>().nan, sizeof value);
  return value;
}

/// a + b, exactly.
inline Exact exact_sum(Quad a, Quad b) {
  const Quad sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

} // namespace weft::emulator
