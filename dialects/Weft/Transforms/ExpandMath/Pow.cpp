// Expands pow(x, y) = 2^(y log2 |x|) with the sign and the special values of C99 Annex F. For f64
// the logarithm is computed as a sum of two doubles with about 68 significant bits (Tang, ACM TOMS
// 17, 1991; the sums and products of Dekker, Numerische Mathematik 18, 1971); for f32 plain f64 has
// digits to spare.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

// Sums and products of pairs that leave out the last step, which would make the low part as small
// as it can be: a few bits of the 106 are lost, far fewer than there are to spare, and the chain of
// dependent steps is much shorter.

Pair operator*(Pair a, Pair b) {
  Pair product = twoProduct(a.high, b.high);
  return {product.high, product.low + fma(a.high, b.low, a.low * b.high)};
}

/// c + a, where c is larger than a.
Pair operator+(const double (&c)[2], Pair a) {
  Pair sum = fastTwoSum(a.high.like(c[0]), a.high);
  return {sum.high, sum.low + (a.low + c[1])};
}

/// log2 of a positive finite f64.
Pair log2Pair(Flt x) {
  Decomposed parts = decompose(x);
  Flt f = parts.fraction;
  // s = f / (2 + f) as a sum of two, the second of which is the remainder of the first times the
  // reciprocal.
  Pair denominator = fastTwoSum(x.like(2.0), f);
  Flt reciprocal = 1.0 / denominator.high;
  Flt quotient = f * reciprocal;
  Flt remainder = fma(-quotient, denominator.low, fma(-quotient, denominator.high, f));
  Pair s = {quotient, remainder * reciprocal};
  Pair z = s * s;
  // s (c1 + z (c3 + z (c5 + z T(z)))); T contributes too little to need more than a double.
  Flt tail = z.high * polynomial(z.high, log2Tail);
  Pair series = s * (log2C1 + z * (log2C3 + z * (log2C5 + Pair{tail, tail.like(0.0)})));
  Pair sum = fastTwoSum(toFloat(parts.exponent), series.high);
  return {sum.high, sum.low + series.low};
}

/// The magnitude of pow for f64: 2^(y log2(x)), x >= 0, NaN aside.
Flt powMagnitudeF64(Flt x, Flt y) {
  Pair logarithm = log2Pair(x);
  Flt infinity = x.infinity();
  // With infinite logarithms for 0 and infinity the product below gives the special values by
  // itself.
  Bool isZero = x == 0.0, isInfinite = x == infinity;
  Flt logHigh = select(isZero, -infinity, select(isInfinite, infinity, logarithm.high));
  Pair product = twoProduct(y, logHigh);
  Flt low = fma(y, logarithm.low, product.low);
  Flt exponent = atMost(atLeast(product.high, -1100.0), 1100.0);
  low = select(exponent == product.high, low, 0.0);
  Rounded n = takeInteger(exponent + x.format().shifter());
  Pair fraction = twoSum(exponent - n.asFloat, low);
  // Times ln 2, and the exponential of that.
  Flt r = fraction.high * ln2F64[0];
  Flt rLow = fma(fraction.low, ln2F64[0],
                 fma(fraction.high, ln2F64[1], fma(fraction.high, ln2F64[0], -r)));
  Flt q = polynomial(r, expF64);
  Pair sum = fastTwoSum(x.like(1.0), r);
  Flt p = sum.high + (sum.low + fma(r * r, q, fma(r, rLow, rLow)));
  return scaleByPow2(p, n.asInt);
}

/// The magnitude of pow for f32 arguments that were extended to f64; the result is to be rounded to
/// f32.
Flt powMagnitudeF32(Flt x, Flt y) {
  Decomposed parts = decompose(x, /*mayBeDenormal=*/false); // A denormal f32 is a normal f64.
  Flt f = parts.fraction;
  Flt s = f / (f + 2.0);
  Flt z = s * s;
  Flt natural = s * fma(z, polynomial(z, logMid), 2.0);
  Flt logarithm = fma(natural, log2OfEF64[0], toFloat(parts.exponent));
  Flt infinity = x.infinity();
  logarithm = select(x == 0.0, -infinity, select(x == infinity, infinity, logarithm));
  Flt exponent = atMost(atLeast(y * logarithm, -200.0), 200.0);
  Rounded n = takeInteger(exponent + x.format().shifter());
  Flt r = (exponent - n.asFloat) * ln2F64[0];
  Flt p = 1.0 + fma(r * r, polynomial(r, expMid), r);
  return p * pow2(n.asInt, x.format());
}

} // namespace

Flt pow(Flt base, Flt power) {
  OpBuilder &builder = base.scope->builder;
  Flt x = convert(base, builder.getF64Type()), y = convert(power, builder.getF64Type());
  Flt magnitude = abs(x);
  Flt result = base.isF32() ? powMagnitudeF32(magnitude, y) : powMagnitudeF64(magnitude, y);
  result = select(magnitude == 1.0, 1.0, result); // An infinite y would give 0 * infinity.

  // A negative base: the sign of an odd power, and no real result between the integers. An infinite
  // y is even.
  Flt halfY = 0.5 * y;
  Bool isInteger = trunc(y) == y;
  Bool isOdd = isInteger & !(trunc(halfY) == halfY);
  result = select(isOdd, copysign(result, x), result);
  result = select((x < 0.0) & (magnitude < x.infinity()) & !isInteger, x.nan(), result);

  result = select(unordered(x, y), select(unordered(x, x), x, y), result);
  result = select((x == 1.0) | (y == 0.0), 1.0, result);
  return convert(result,
                 base.isF32() ? FloatType(builder.getF32Type()) : FloatType(builder.getF64Type()));
}

} // namespace mlir::weft::expand
