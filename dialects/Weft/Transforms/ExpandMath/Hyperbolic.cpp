// Expands the hyperbolic functions and their inverses, by exponentials and logarithms as sums of
// two, by odd polynomials around 0 (Cody and Waite 1980, chapters 12 and 13), the tangent by the
// kernels of sine and cosine, and the cube root by Halley's steps.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// x with an odd polynomial's rest: x + x z P(z), z = x^2.
Flt oddSum(Flt x, Flt z, ArrayRef<double> tail) { return fma(x * z, polynomial(z, tail), x); }

/// log(high + low) of a positive sum of two, whose second part is small.
Flt logOfPair(Flt high, Flt low) {
  Pair logarithm = logOfSum(high);
  return logarithm.high + (logarithm.low + low / high);
}

/// exp(a) / 2 +- exp(-a) / 2 for a from 0 on, in an f64.
Flt halfSum(Flt a, double sign) {
  // In quarters: exp(a) overflows before its half does.
  Pair e = quarterOfExp(atMost(a, 710.5));
  Flt reciprocal = 0.0625 / e.high;
  Flt rest = fma(-reciprocal, e.high, 0.0625) - reciprocal * e.low;
  Flt low = rest * (16.0 * reciprocal);
  Pair sum = fastTwoSum(e.high, sign * reciprocal);
  return 2.0 * (sum.high + (sum.low + fma(low, sign, e.low)));
}

} // namespace

Flt sinh(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x), z = x * x;
    Flt near = oddSum(a, z, sinhTail);
    Flt result = select(a < 1.0, near, halfSum(a, -1.0));
    return keepNaN(x, copysign(select(a == x.infinity(), a, result), x));
  });
}

Flt cosh(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    return keepNaN(x, select(a == x.infinity(), a, halfSum(a, 1.0)));
  });
}

Flt asinh(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x), z = a * a;
    // log(a + sqrt(a^2 + 1)), sums and root as sums of two; far out log(2a).
    Flt middle = atMost(a, 0x1p30);
    Pair square = twoProduct(middle, middle);
    Pair sum = twoSum(square.high, middle.like(1.0));
    Flt root = sqrt(sum.high);
    Flt rootLow = (fma(-root, root, sum.high) + (sum.low + square.low)) * (0.5 / root);
    Pair both = twoSum(root, middle);
    Flt near = oddSum(a, z, asinhTail);
    Flt result = logOfPair(both.high, both.low + rootLow);
    Pair far = logOfSum(a);
    Pair doubled = fastTwoSum(far.high, a.like(ln2F64[0]));
    result = select(a > 0x1p30, doubled.high + (doubled.low + (far.low + ln2F64[1])), result);
    result = select(a < 0.5, near, result);
    return keepNaN(x, copysign(select(a == x.infinity(), a, result), x));
  });
}

Flt acosh(Flt x) {
  return inF64(x, [](Flt x) {
    // log1p(t + sqrt(t (t + 2))) for t = x - 1, which is exact up to 2; beyond log(x + sqrt(x^2 -
    // 1)).
    Flt middle = atMost(atLeast(x, 1.0), 0x1p30);
    Flt t = middle - 1.0;
    Pair product = twoProduct(t, t);
    Pair sum = fastTwoSum(t + t, product.high); // t (t + 2), for t up to 2
    Flt root = sqrt(sum.high);
    Flt rootLow = select(root == 0.0, 0.0,
                         (fma(-root, root, sum.high) + (sum.low + product.low)) / (root + root));
    Pair near = twoSum(root, t);
    Flt argument = near.high, rest = near.low + rootLow;
    Flt small = log1p(argument) + rest / (1.0 + argument);
    Pair square = twoProduct(middle, middle);
    Pair below = fastTwoSum(square.high, middle.like(-1.0));
    Flt edge = sqrt(below.high);
    Flt edgeLow = select(edge == 0.0, 0.0,
                         (fma(-edge, edge, below.high) + (below.low + square.low)) / (edge + edge));
    Pair both = fastTwoSum(middle, edge);
    Flt large = logOfPair(both.high, both.low + edgeLow);
    Pair of = logOfSum(atLeast(x, 1.0));
    Pair doubled = twoSum(of.high, x.like(ln2F64[0]));
    Flt far = doubled.high + (doubled.low + (of.low + ln2F64[1]));
    Flt result = select(x > 0x1p30, far, select(x < 2.0, small, large));
    result = select(x == x.infinity(), x, select(x >= 1.0, result, x.nan()));
    return keepNaN(x, result);
  });
}

Flt atanh(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x), z = a * a;
    Flt near = oddSum(a, z, atanhTail);
    // log((1 + a) / (1 - a)) / 2, where 1 - a is exact from 1/2 on.
    Flt inner = atMost(a, 1.0 - 0x1p-53), above = 1.0 + inner, below = 1.0 - inner;
    Flt aboveLow = inner - (above - 1.0);
    Flt quotient = above / below;
    Flt rest = (fma(-quotient, below, above) + aboveLow) / below;
    Flt far = 0.5 * logOfPair(quotient, rest);
    Flt result = select(a < 0.5, near, far);
    result = select(a == 1.0, x.infinity(), select(a > 1.0, x.nan(), result));
    return keepNaN(x, copysign(result, x));
  });
}

Flt cbrt(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    // Neither denormals nor what has no cubes beside it; 2^180 is a cube.
    Bool isSmall = a < 0x1p-900, isLarge = a > 0x1p900;
    Flt lifted = select(isSmall, a * 0x1p180, select(isLarge, a * 0x1p-180, a));
    Bool isRegular = (lifted > 0.0) & (lifted < x.infinity());
    lifted = select(isRegular, lifted, 1.0);
    // A third of the exponent: the bits of a number are nearly its logarithm.
    Flt third = toFloat(shiftRight(bits(lifted), 32)) * (1.0 / 3.0);
    Int thirdBits = takeInteger(third + x.format().shifter()).asInt;
    Flt y = fromBits(shiftLeft(thirdBits + 0x2A9F7893, 32));
    for (int i = 0; i < 2; ++i) { // Halley: of 5 digits 15, then 45
      Flt cube = y * y * y;
      y = y * ((cube + (lifted + lifted)) / ((cube + cube) + lifted));
    }
    // Of 22 bits the square is exact, so that a last step of Halley's has all digits.
    y = fromBits(bits(y) & ~int64_t(0x7FFFFFFF));
    Flt square = y * y;
    Flt rest = fma(-square, y, lifted) / square;
    Flt result = fma(y, rest / fma(y, 3.0, rest), y);
    result = select(isSmall, result * 0x1p-60, select(isLarge, result * 0x1p60, result));
    result = select((a > 0.0) & (a < x.infinity()), result, a);
    return keepNaN(x, copysign(result, x));
  });
}

} // namespace mlir::weft::expand
