// Expands the exponentials. All use x = n ln 2 + r with |r| <= ln(2)/2 and a minimax polynomial for
// r (Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 6). The reduction
// subtracts n ln 2 with two fused steps, the first of which is exact (Muller et al., Handbook of
// Floating-Point Arithmetic, 2nd ed., 11.2).
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// x = n ln 2 + high + low, where `low` is so small that only `high` needs care in sums.
struct ExpReduced {
  Flt high; ///< Exact.
  Flt low;
  Flt r; ///< high + low, rounded.
  Rounded n;
};

ExpReduced reduce(Flt x) {
  const double *ln2 = x.pick(ln2F32, ln2F64);
  Rounded n = takeInteger(fma(x, x.pick(log2OfEF32, log2OfEF64)[0], x.format().shifter()));
  // Exact: both sides are multiples of the last bit of ln2[0], and their difference is below 1.
  Flt high = fma(n.asFloat, -ln2[0], x);
  return {high, n.asFloat * -ln2[1], fma(n.asFloat, -ln2[1], high), n};
}

/// The exponential of a reduced argument, without 2^n.
Flt expOfReduced(const ExpReduced &reduced) {
  Flt r = reduced.r;
  Flt q = r.isF32() ? polynomial(r, expF32) : polynomial(r, expF64);
  return 1.0 + (reduced.high + fma(r * r, q, reduced.low));
}

/// x, but not so far out that the exponent of exp(x) wraps around. Values at the bounds overflow or
/// vanish anyway.
Flt clampExponent(Flt x, double lowF32, double highF32, double lowF64, double highF64) {
  return atMost(atLeast(x, x.pick(lowF32, lowF64)), x.pick(highF32, highF64));
}

} // namespace

Flt scaleByPow2(Flt p, Int n) {
  // Two steps, since 2^n itself may overflow or underflow. The first is exact.
  Int half = shiftRightSigned(n, 1);
  return (p * pow2(half, p.format())) * pow2(n - half, p.format());
}

Flt expInRange(Flt x) {
  ExpReduced reduced = reduce(x);
  return expOfReduced(reduced) * pow2(reduced.n.asInt, x.format());
}

Flt exp(Flt x) {
  // A NaN meets only itself in every step, so its bits do not depend on the operand that a
  // processor prefers. This is why the reduction has negative constants and negates nothing.
  ExpReduced reduced = reduce(clampExponent(x, -104.0, 89.0, -746.0, 710.0));
  return scaleByPow2(expOfReduced(reduced), reduced.n.asInt);
}

Flt expOfSum(Flt high, Flt low) {
  ExpReduced reduced = reduce(clampExponent(high, -104.0, 89.0, -746.0, 710.0));
  reduced.low = reduced.low + low;
  reduced.r = reduced.high + reduced.low;
  return scaleByPow2(expOfReduced(reduced), reduced.n.asInt);
}

Pair quarterOfExp(Flt x) {
  ExpReduced reduced = reduce(x);
  Flt r = reduced.r;
  Pair sum = fastTwoSum(x.like(1.0), reduced.high);
  sum = fastTwoSum(sum.high, sum.low + fma(r * r, polynomial(r, expF64), reduced.low));
  Flt scale = pow2(reduced.n.asInt - 2, x.format());
  return {sum.high * scale, sum.low * scale};
}

Flt exp2(Flt x) {
  Flt clamped = clampExponent(x, -151.0, 129.0, -1076.0, 1025.0);
  Rounded n = takeInteger(clamped + x.format().shifter());
  Flt fraction = clamped - n.asFloat; // Exact.
  // fraction * ln 2 as a sum of two floats; the low part joins the tail of the polynomial.
  const double *ln2 = x.pick(ln2F32, ln2F64);
  Flt r = fraction * ln2[0];
  Flt rLow = fma(fraction, ln2[1], fma(fraction, ln2[0], -r));
  Flt q = x.isF32() ? polynomial(r, expF32) : polynomial(r, expF64);
  Flt result = scaleByPow2(1.0 + (r + fma(r * r, q, rLow)), n.asInt);
  return select(unordered(x, x), x, result);
}

Flt expm1(Flt x) {
  // Below the lower bound the result rounds to -1.
  ExpReduced reduced = reduce(clampExponent(x, -18.0, 89.0, -38.0, 710.0));
  Flt r = reduced.r, square = r * r;
  Flt q = x.isF32() ? polynomial(r, expm1F32) : polynomial(r, expm1F64);
  Flt tail = fma(square, 0.5, fma(square * r, q, reduced.low));
  // expm1(x) = 2^n (high + tail) + (2^n - 1). The sums of the large terms keep their rounding
  // errors. Everything is halved until the end so that 2^n does not overflow before the result
  // does.
  Flt scale = pow2(reduced.n.asInt - 1, x.format());
  Flt offset = scale - 0.5;
  Flt sum = fma(scale, reduced.high, offset);
  Flt error = fma(scale, reduced.high, offset - sum) + ((scale - offset) - 0.5);
  Flt half = sum + fma(scale, tail, error);
  // A tiny x is its own result: this keeps -0 and does not halve a denormal. So is a NaN.
  return select(abs(x) >= x.pick(0x1p-26, 0x1p-55), half + half, x);
}

} // namespace mlir::weft::expand
