// Expands erfc, its scaled form, the normal distribution's and their inverses. erfc(x) = exp(-x^2)
// erfcx(x), of which (1 + 2x) erfcx(x) is a polynomial in (x - 4) / (x + 4) (Shepherd and
// Laframboise, Math. Comp. 36, 1981), and the square is taken as a sum of two. The inverses are
// polynomials in w = -log(1 - x^2), farther out in its root (Giles, GPU Computing Gems, Jade
// Edition, 2012). Of erfinv there is a form for f32.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// erfcx of a number that is not negative.
Flt erfcxOfPositive(Flt x) {
  Flt a = atMost(x, 0x1p60);
  // t = (a - 4) / (a + 4), with what the division leaves.
  Flt reciprocal = 1.0 / (a + 4.0);
  Flt quotient = (a - 4.0) * reciprocal;
  Flt rest = fma(quotient, -a, fma(quotient + 1.0, -4.0, a));
  Flt excess = polynomial(fma(reciprocal, rest, quotient), erfcxExcess);
  // (1 + excess) / (1 + 2a), again with what the division leaves.
  Flt half = 0.5 / (a + 0.5);
  Flt near = fma(excess, half, half);
  Flt result = fma(fma(near + near, -a, 1.0) + (excess - near), half, near);
  // Far out it is 1 / (sqrt(pi) x); 1 + 2x would overflow before that is 0.
  return select(x > 0x1p60, 0.5 * twoOverSqrtPi[0] / x, result);
}

/// exp(sign factor x^2), for a factor that is a power of two, of 0 <= x.
Flt expOfSquare(Flt x, double factor) {
  Flt a = atMost(x, 0x1p10); // beyond, the result has no other value
  Pair square = twoProduct(a, a);
  return expOfSum(square.high * factor, square.low * factor);
}

/// The part of the normal distribution beyond the distance `x`, which is not negative.
Flt normalTail(Flt x) { return 0.5 * (erfcxOfPositive(x * rootHalf[0]) * expOfSquare(x, -0.5)); }

/// erfinv(x), for x >= 0, where w is -log(1 - x^2) up to 36.1.
Flt erfinvOf(Flt x, Flt w) {
  Flt central = x * polynomial(w - 2.5, erfinvCentral);
  Flt tail = polynomial(sqrt(w) - 4.0, erfinvTail);
  return select(w > 5.0, tail, central);
}

/// Of an f32, with an error of less than 1.6 ulp.
Flt erfinvOfF32(Flt x) {
  // w = -log(1 - x^2), of which an absolute error counts, and 1 - x^2 is rounded once.
  Flt complement = fma(-x, x, 1.0);
  Decomposed parts = decompose(complement, /*mayBeDenormal=*/false);
  Flt f = parts.fraction, square = f * f;
  Flt logarithm = f + fma(square, -0.5, (square * f) * polynomial(f, logShortF32));
  Flt w = fma(toFloat(parts.exponent), -ln2F32[0], -logarithm);
  // x and what the slope is beyond 1, so that little of its error counts where it is nearly 1.
  constexpr ArrayRef<double> c = erfinvCentralF32;
  Flt rise = fma(w, polynomial(w, c.drop_front()), c[0]);
  Flt central = copysign(fma(x, fma(w, rise, 1.0 / twoOverSqrtPi[0] - 1.0), x), x); // of -0 too
  // Where w is beyond 5, and beyond the range; few numbers are.
  Bool isCentral = complement > 0x1.b993fep-8;
  auto others = [&] {
    Flt a = abs(x), s = sqrt(w);
    Flt tail = s + polynomial(s - 3.0, erfinvTailF32);
    tail = select(a < 1.0, tail, select(a == 1.0, a.infinity(), a.nan()));
    return select(isCentral, central, keepNaN(x, copysign(tail, x)));
  };
  return branchWhereAny(!isCentral, others, central);
}

} // namespace

Flt erfcx(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x), positive = erfcxOfPositive(a);
    Flt negative = 2.0 * expOfSquare(a, 1.0) - positive;
    return keepNaN(x, select(x < 0.0, negative, positive));
  });
}

Flt erfc(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x), positive = erfcxOfPositive(a) * expOfSquare(a, -1.0);
    return keepNaN(x, select(x < 0.0, 2.0 - positive, positive));
  });
}

Flt ndtr(Flt x) {
  return inF64(x, [](Flt x) {
    Flt tail = normalTail(abs(x));
    return keepNaN(x, select(x > 0.0, 1.0 - tail, tail));
  });
}

Flt logNdtr(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    Flt negative = fma(-0.5 * a, a, log(0.5 * erfcxOfPositive(a * rootHalf[0])));
    negative = select(a > 0x1p512, -a.infinity(), negative);
    return keepNaN(x, select(x < 0.0, negative, log1p(-normalTail(a))));
  });
}

Flt erfinv(Flt x) {
  if (x.isF32()) return erfinvOfF32(x);
  Flt a = abs(x);
  Flt inside = erfinvOf(a, -log((1.0 - a) * (1.0 + a)));
  Flt result = select(a < 1.0, inside, select(a == 1.0, a.infinity(), a.nan()));
  return keepNaN(x, copysign(result, x));
}

Flt ndtri(Flt p) {
  return inF64(p, [](Flt p) {
    Bool isLow = p < 0.5;
    Flt complement = 1.0 - p, least = select(isLow, p, complement);
    Flt w = -log(4.0 * least * (1.0 - least));
    Flt distance = erfinvOf(abs(fma(p, 2.0, -1.0)), w);
    Flt s = sqrt(w);
    distance = select(s > 6.0, s * polynomial(1.0 / s - 0.1, erfinvFar), distance);
    Flt result = distance * rootTwo[0];
    result = select(least == 0.0, result.infinity(), result);
    result = select((p >= 0.0) & !(p > 1.0), select(isLow, -result, result), result.nan());
    return keepNaN(p, result);
  });
}

} // namespace mlir::weft::expand
