// Sums of products as tensor cores round them.
//
// How a GPU does is not documented: here as an H200 does.
#pragma once

#include <algorithm>
#include <bit>

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

/// c + a[0] b[0] + .. as an H200's tensor cores sum it: all terms are cut to a multiple of one
/// unit, two bits below those of an f32 with the largest of their exponents, which of a product is
/// the sum of its factors'; what they are together is cut to an f32. All 1,152 sums that were
/// compared have these bits (test/unit/Emulator/MatrixH200.inc).
template <int K>
float sum_of_products(const float *a, const float *b, float c) {
  constexpr int kMantissa = FloatOf<float>::kMantissa, kMoreBits = 2, kLeast = -1000;
  float special = c;
  Parts x[K], y[K];
  const Parts start = parts_of(c);
  int largest = start.significand != 0 ? start.exponent + kMantissa : kLeast;
  bool finite = !start.infinite && !start.nan;
  for (int k = 0; k < K; ++k) {
    x[k] = parts_of(a[k]);
    y[k] = parts_of(b[k]);
    finite = finite && !x[k].infinite && !x[k].nan && !y[k].infinite && !y[k].nan;
    if (x[k].significand != 0 && y[k].significand != 0)
      largest = std::max(largest, x[k].exponent + y[k].exponent + 2 * kMantissa);
  }
  if (!finite) { // products of finite numbers do not count beside these
    for (int k = 0; k < K; ++k)
      if (x[k].infinite || x[k].nan || y[k].infinite || y[k].nan) special += a[k] * b[k];
    return canonical(special);
  }
  const int unit = largest - kMantissa - kMoreBits;
  const auto in_units = [&](bool negative, std::uint64_t significand, int exponent) {
    const int drop = unit - exponent;
    const std::uint64_t kept = drop <= 0   ? significand << -drop
                               : drop < 64 ? significand >> drop
                                           : 0;
    return negative ? -static_cast<std::int64_t>(kept) : static_cast<std::int64_t>(kept);
  };
  std::int64_t sum =
      start.significand == 0 ? 0 : in_units(start.negative, start.significand, start.exponent);
  for (int k = 0; k < K; ++k)
    if (x[k].significand != 0 && y[k].significand != 0)
      sum += in_units(x[k].negative != y[k].negative, x[k].significand * y[k].significand,
                      x[k].exponent + y[k].exponent);
  if (sum == 0) return 0;
  const bool negative = sum < 0;
  const auto magnitude = static_cast<std::uint64_t>(negative ? -sum : sum);
  if (64 - std::countl_zero(magnitude) + unit > 128) return negative ? -INFINITY : INFINITY;
  return rounded<float>(negative, magnitude, unit, false, Rounding::to_zero);
}

} // namespace
} // namespace WEFT_EMULATOR_LEVEL
