// Expands the inverse trigonometric functions and hypot: odd polynomials (Cody and Waite 1980,
// chapters 10 and 11), with what divisions and roots leave. atan and atan2 have forms for f32; of
// the others an f32 is computed in f64.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// The quotient as a sum of two.
Pair divide(Flt a, Flt b) {
  Flt quotient = a / b;
  return {quotient, fma(-quotient, b, a) / b};
}

/// The root as a sum of two, of a sum of two.
Pair root(Pair x) {
  Flt high = sqrt(x.high);
  Flt rest = fma(-high, high, x.high) + x.low;
  return {high, select(high == 0.0, 0.0, rest / (high + high))};
}

/// atan(t) for a t between 0 and 1 that is a sum of two.
Pair atanOf(Pair t) {
  Flt z = t.high * t.high;
  Flt tail = fma(t.high * z, polynomial(z, atanTail), t.low / (1.0 + z));
  return {t.high, tail};
}

/// The angle, of a steep one what it leaves of pi / 2.
Pair fromEitherAxis(Bool isSteep, Pair angle) {
  Pair rest = fastTwoSum(angle.high.like(halfPi[0]), -angle.high);
  return {select(isSteep, rest.high, angle.high),
          select(isSteep, rest.low + (halfPi[1] - angle.low), angle.low)};
}

/// asin(s) - s for s between 0 and 1/2, whose square is z.
Flt asinRest(Flt s, Flt z) { return s * z * polynomial(z, asinTail); }

/// asin(sqrt((1 - x) / 2)) for x from 1/2 to 1, as a sum of two.
Pair asinOfHalf(Flt x) {
  Flt z = 0.5 * (1.0 - x); // exact
  Pair s = root({z, z.like(0.0)});
  return {s.high, s.low + asinRest(s.high, z)};
}

/// base + atan(less / more) of f32s, |less| <= more, for a base that is 0 or pi/2 or pi rounded, of
/// which the rest is added. `more` must be from 2^-62 to 2^62. The error is less than 1 ulp.
Flt angleOfF32(Flt less, Flt more, Flt base) {
  Flt t = less / more;
  // What the division leaves, times a reciprocal that is the negated exponent and a step of
  // Newton's: it needs few digits. Of a tiny quotient the remainder would not be exact, nor does it
  // count.
  Flt reciprocal = fromBits(bits(more).like(0x7EF311C7) - bits(more));
  reciprocal = reciprocal * fma(-more, reciprocal, 2.0);
  Flt z = t * t;
  Flt low = select(z > 0x1p-40, fma(-t, more, less) * reciprocal, 0.0);
  // atan(t) = t + t v, where v = z P(z). Near 1 the tail t v is a quarter of the result, so that
  // what rounding takes from z counts, to a digit or two, and so does the slope 1 / (1 + z).
  Flt ofSquare = fma(t, t, -z);
  constexpr ArrayRef<double> c = atanTailF32;
  Flt inner = fma(z, fma(z, polynomial(z, c.drop_front(3)), c[2]), c[1]);
  Flt further = fma(z * z, inner, ofSquare * -0.15);
  Flt v = fma(z, c[0], further), rest = fma(z, c[0], -v) + further;
  Flt tail = fma(t, v, fma(t, rest, fma(low * z, -0.5, low)));
  Pair sum = fastTwoSum(base, t); // Exact also where the base is 0.
  return sum.high + (sum.low + fma(base, halfPiF32[1] / halfPiF32[0], tail));
}

} // namespace

Flt atan(Flt x) {
  if (x.isF32()) {
    Flt a = atMost(abs(x), 0x1p60); // beyond, the result has no other value
    Bool isSteep = a >= 1.0;
    Flt angle = angleOfF32(select(isSteep, -1.0, a), atLeast(a, 1.0),
                           select(isSteep, halfPiF32[0], a.like(0.0)));
    return keepNaN(x, copysign(angle, x));
  }
  Flt a = abs(x);
  Bool isSteep = a > 1.0;
  Pair inverse = divide(a.like(1.0), select(isSteep, a, 1.0));
  Bool isFar = a > 0x1p60; // where the inverse is as good as 0
  Pair t = {select(isSteep, select(isFar, 0.0, inverse.high), a),
            select(isSteep, select(isFar, 0.0, inverse.low), 0.0)};
  Pair angle = fromEitherAxis(isSteep, atanOf(t));
  return keepNaN(x, copysign(angle.high + angle.low, x));
}

namespace {

/// Of f64s.
Flt atan2OfF64(Flt y, Flt x) {
  Flt height = abs(y), width = abs(x);
  Bool isSteep = height > width;
  Flt less = select(isSteep, width, height), more = select(isSteep, height, width);
  // Of the quotient nothing is lost by a power of two: of those near the ends of the range.
  Flt scale = select(more > 0x1p500, more.like(0x1p-600),
                     select(more < 0x1p-500, more.like(0x1p500), more.like(1.0)));
  Flt infinity = x.infinity();
  Bool bothInfinite = less == infinity;
  Flt numerator = select(bothInfinite, 1.0, less * scale);
  Flt denominator = select(more == 0.0, 1.0, select(bothInfinite, 1.0, more * scale));
  Pair t = divide(numerator, denominator);
  // An infinite denominator, and a quotient that is 0 or next to it, leave nothing.
  t.low = select(t.high > 0x1p-900, t.low, 0.0);
  Pair angle = fromEitherAxis(isSteep, atanOf(t));
  // Left of the axis the angle is pi less that.
  Bool isLeft = bits(x).like(0) > bits(x);
  Pair left = fastTwoSum(x.like(piParts[0]), -angle.high);
  Flt ofLeft = left.high + (left.low + (piParts[1] - angle.low));
  Flt result = select(isLeft, ofLeft, angle.high + angle.low);
  return keepNaN(y, keepNaN(x, copysign(result, y)));
}

} // namespace

Flt atan2(Flt y, Flt x) {
  if (!x.isF32()) return atan2OfF64(y, x);
  Flt height = abs(y), width = abs(x);
  Bool isSteep = height >= width;
  Flt less = select(isSteep, width, height), more = select(isSteep, height, width);
  // Left of the axis pi less the angle, of a steep one pi/2 and the angle or less it.
  Bool isLeft = bits(x).like(0) > bits(x);
  Flt base = select(isSteep, halfPiF32[0], select(isLeft, 2.0 * halfPiF32[0], x.like(0.0)));
  Int sign = (bits(x) ^ select(isSteep, bits(x).like(-1), bits(x).like(0))) & x.format().signMask();
  Flt angle = copysign(angleOfF32(fromBits(bits(less) ^ sign), more, base), y);
  // Zeros, infinities, NaN and what is next to the ends of the range are rare; a branch skips them.
  Bool isInside = (more > 0x1p-62) & (more < 0x1p62) & (more >= less);
  auto others = [&] { return select(isInside, angle, inF64(y, x, atan2OfF64)); };
  return branchWhereAny(!isInside, others, angle);
}

Flt asin(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    Flt z = a * a, near = a + asinRest(a, z);
    Pair half = asinOfHalf(a);
    // pi/2 - 2 asin(sqrt((1 - a) / 2)).
    Pair difference = fastTwoSum(x.like(halfPi[0]), -2.0 * half.high);
    Flt far = difference.high + (difference.low + fma(half.low, -2.0, halfPi[1]));
    Flt result = select(a < 0.5, near, far);
    result = select(a > 1.0, x.nan(), result);
    return keepNaN(x, copysign(result, x));
  });
}

Flt acos(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    Pair middle = fastTwoSum(x.like(halfPi[0]), -x);
    Flt near = middle.high + (middle.low + (halfPi[1] - asinRest(x, x * x)));
    Pair half = asinOfHalf(a);
    Flt right = 2.0 * (half.high + half.low);
    Pair left = fastTwoSum(x.like(piParts[0]), -2.0 * half.high);
    Flt leftSum = left.high + (left.low + fma(half.low, -2.0, piParts[1]));
    Flt result = select(a < 0.5, near, select(x < 0.0, leftSum, right));
    return keepNaN(x, select(a > 1.0, x.nan(), result));
  });
}

Flt hypot(Flt x, Flt y) {
  return inF64(x, y, [](Flt x, Flt y) {
    Flt a = abs(x), b = abs(y), infinity = x.infinity();
    Bool isSwapped = b > a;
    Flt more = select(isSwapped, b, a), less = select(isSwapped, a, b);
    Flt scale = select(more > 0x1p500, more.like(0x1p-600),
                       select(more < 0x1p-450, more.like(0x1p600), more.like(1.0)));
    Flt back = select(more > 0x1p500, more.like(0x1p600),
                      select(more < 0x1p-450, more.like(0x1p-600), more.like(1.0)));
    Flt u = more * scale, v = less * scale;
    Pair square = twoProduct(u, u), other = twoProduct(v, v);
    Pair sum = fastTwoSum(square.high, other.high);
    Pair length = root({sum.high, sum.low + (square.low + other.low)});
    Flt result = (length.high + length.low) * back;
    result = select((a == infinity) | (b == infinity), infinity, result);
    Bool isNumber = !(unordered(x, y)) | (a == infinity) | (b == infinity);
    return select(isNumber, result, keepNaN(x, y));
  });
}

} // namespace mlir::weft::expand
