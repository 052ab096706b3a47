// Sums of products as tensor cores round them.
//
// How a GPU does is not documented: here as an H200 does.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"
#include "Emulator/Machine/Warp.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// Whether all 32 lanes are at the instruction, as .aligned wants it.
inline bool all_there(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return false;
  if (warp.live() != kAllLanes)
    warp.fail(FaultKind::illegal_instruction, in, std::countr_zero(mask),
              "all 32 lanes of the warp are wanted, and some have exited or never were");
  return warp.gather(in, mask, kAllLanes);
}

/// Factors along a sum, taken apart once for all sums that they are in.
template <int K>
struct Factors {
  float values[K];
  std::uint64_t significands[K], negative[K]; ///< the latter 0 or all ones
  std::int64_t exponents[K];                  ///< of the last bit
  bool finite = true;

  void set(int k, float value) {
    const Parts parts = parts_of(value);
    values[k] = value;
    significands[k] = parts.significand;
    negative[k] = parts.negative ? ~std::uint64_t{0} : 0;
    exponents[k] = parts.significand != 0 ? parts.exponent : kOfZero;
    finite = finite && !parts.infinite && !parts.nan;
  }
  /// That of a zero is below those of all others, and of all products.
  static constexpr std::int64_t kOfZero = -10000;
};

/// c + a[0] b[0] + .. as an H200's tensor cores sum it: all terms are cut to a multiple of one
/// unit, two bits below those of an f32 with the largest of their exponents, which of a product is
/// the sum of its factors'; what they are together is cut to an f32. All 1,152 sums that were
/// compared have these bits (test/unit/Emulator/MatrixH200.inc).
template <int K>
float sum_of_products(const Factors<K> &a, const Factors<K> &b, float c) {
  constexpr std::int64_t kMantissa = FloatOf<float>::kMantissa, kMoreBits = 2;
  const Parts start = parts_of(c);
  if (!a.finite || !b.finite || start.infinite || start.nan) {
    float special = c; // products of finite numbers do not count beside these
    for (int k = 0; k < K; ++k)
      if (!std::isfinite(a.values[k]) || !std::isfinite(b.values[k]))
        special += a.values[k] * b.values[k];
    return canonical(special);
  }
  constexpr std::int64_t kNone = Factors<K>::kOfZero / 2;
  std::int64_t largest = start.significand != 0 ? start.exponent + kMantissa : kNone;
  WEFT_EACH_LANE
  for (int k = 0; k < K; ++k)
    largest = std::max(largest, a.exponents[k] + b.exponents[k] + 2 * kMantissa);
  if (largest == kNone) return 0;
  const std::int64_t unit = largest - kMantissa - kMoreBits;
  std::uint64_t sum = 0; // of two's complement
  WEFT_EACH_LANE
  for (int k = 0; k < K; ++k) {
    const std::int64_t drop =
        std::min<std::int64_t>(unit - a.exponents[k] - b.exponents[k], 63); // above kMantissa - 2
    const std::uint64_t kept = a.significands[k] * b.significands[k] >> drop;
    const std::uint64_t negative = a.negative[k] ^ b.negative[k];
    sum += (kept ^ negative) - negative;
  }
  if (start.significand != 0) {
    const std::int64_t drop = unit - start.exponent;
    const std::uint64_t kept = drop <= 0   ? start.significand << -drop
                               : drop < 64 ? start.significand >> drop
                                           : 0;
    sum += start.negative ? -kept : kept;
  }
  if (sum == 0) return 0;
  const bool negative = static_cast<std::int64_t>(sum) < 0;
  const std::uint64_t magnitude = negative ? -sum : sum;
  if (64 - std::countl_zero(magnitude) + unit > 128) return negative ? -INFINITY : INFINITY;
  return rounded<float>(negative, magnitude, static_cast<int>(unit), false, Rounding::to_zero);
}

} // namespace
} // namespace WEFT_EMULATOR_LEVEL
