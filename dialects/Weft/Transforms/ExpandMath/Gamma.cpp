// Expands gamma, the logarithm of its absolute value and the derivative of that: polynomials around
// 2, to which smaller and larger arguments are moved by the recurrence, Stirling's series from 8
// on, and reflection for negative ones (Hart et al., Computer Approximations, 1968; Cody and
// Hillstrom, Math. Comp. 21, 1967; Cody, Strecok and Thacher, Math. Comp. 27, 1973). lgamma has a
// shorter form in f64 for what is rounded to f32.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// Where Stirling's series takes over.
constexpr double stirlingFrom = 8.0;

} // namespace

Flt stirlingRest(Flt x) {
  Flt inverse = 1.0 / x;
  return inverse * polynomial(inverse * inverse, stirlingSeries);
}

Flt lgammaNextToOne(Flt a) {
  Flt near = fma(a, (1.0 + lgammaAtTwo[0]) + a * polynomial(a, ArrayRef(lgammaAtTwo).drop_front()),
                 -log1p(a));
  return select(a < 0.7, near, lgammaOfPositive(1.0 + a));
}

Flt riseOfLgamma(Flt a, Flt b) {
  // From 8 on by Stirling's formula, of whose parts each is a difference; below, gamma(a + b) has
  // the factors a + b, a + b + 1, .. of gamma(a + b + 8): their quotients' product, less 1.
  Bool isSmall = a < 8.0;
  Flt grown = a.like(0.0);
  for (int i = 0; i < 8; ++i) grown = fma(1.0 + grown, b / (a + static_cast<double>(i)), grown);
  Flt from = select(isSmall, a + 8.0, a), to = from + b;
  Flt u = 1.0 / to, v = 1.0 / from, square = u * u, other = v * v;
  // P(u^2) - P(v^2) over u^2 - v^2, and P(v^2).
  constexpr ArrayRef<double> series = stirlingSeries;
  Flt quotient = a.like(0.0), p = a.like(series.back());
  for (double coefficient : llvm::reverse(series.drop_back())) {
    quotient = fma(quotient, square, p);
    p = fma(p, other, coefficient);
  }
  Flt change = -(b * u * v); // u - v
  Flt rest = change * fma(u, (u + v) * quotient, p);
  Flt rise = fma(from - 0.5, log1p(b / from), fma(b, log(to), rest - b));
  return select(isSmall, rise - log1p(grown), rise);
}

Flt lgammaOfPositive(Flt x) {
  // Down to below 2.7, where the factors are exact: gamma(x) = gamma(rest) factors.
  Flt rest = x, factors = x.like(1.0);
  for (int i = 0; i < 6; ++i) {
    Bool above = rest >= 2.7;
    rest = select(above, rest - 1.0, rest);
    factors = select(above, factors * rest, factors);
  }
  // What is near 1 or below is moved up by two logarithms; around 1 their first term, x - 1, is
  // left out of the difference that vanishes.
  Bool isLow = x < 0.7072, isMiddle = !isLow & (x < 1.41);
  Flt f = select(isLow, x, select(isMiddle, x - 1.0, rest - 2.0));
  Flt series = f * polynomial(f, ArrayRef(lgammaAtTwo).drop_front());
  Pair logarithm = logOfSum(select(isLow, x * (x + 1.0), select(isMiddle, x, factors)));
  Flt atMiddle = f * (lgammaAtTwo[0] + series) - ((logarithm.high - f) + logarithm.low);
  Flt ofFactors = logarithm.high + logarithm.low;
  Flt atTwo = fma(f, (1.0 + lgammaAtTwo[0]) + series, select(isLow, -ofFactors, ofFactors));
  Flt small = select(isMiddle, atMiddle, atTwo) + 0.0; // which -0 is not

  Flt large = atLeast(x, stirlingFrom), inverse = 1.0 / large;
  Pair of = logOfSum(large);
  Flt correction =
      fma(inverse, polynomial(inverse * inverse, stirlingSeries), halfLogTwoPi[0] - 0.5);
  Flt shifted = large - 0.5;
  large = fma(shifted, of.high - 1.0, fma(shifted, of.low, correction));
  Flt result = select(x >= stirlingFrom, large, small);
  return select((x == 0.0) | (x == x.infinity()), x.infinity(), result);
}

Flt digammaOfPositive(Flt x) {
  // To between 1 and 2, and the reciprocals on the way as one fraction.
  Bool isLow = x < 1.0;
  Flt rest = x, above = select(isLow, -x.like(1.0), x.like(0.0)), below = select(isLow, x, 1.0);
  for (int i = 0; i < 6; ++i) {
    Bool far = rest > 2.0;
    rest = select(far, rest - 1.0, rest);
    above = select(far, fma(above, rest, below), above);
    below = select(far, below * rest, below);
  }
  // Of x + 1 for the low ones, which is never rounded.
  Flt fromRoot =
      select(isLow, rest - (digammaRoot[0] - 1.0), rest - digammaRoot[0]) - digammaRoot[1];
  Flt fromMiddle = rest - select(isLow, x.like(0.5), x.like(1.5));
  Flt small = fma(fromRoot, polynomial(fromMiddle, digammaCentral), above / below);

  Flt large = atLeast(x, stirlingFrom), inverse = 1.0 / large, square = inverse * inverse;
  Pair of = logOfSum(large);
  large = of.high + (of.low - fma(square, polynomial(square, digammaSeries), 0.5 * inverse));
  return select(x == x.infinity(), x, select(x >= stirlingFrom, large, small));
}

namespace {

/// gamma(x) for x below 8 and not below 0, with nothing lost by the recurrence.
Flt gammaOfSmall(Flt x) {
  // Down or up to between 1.5 and 2.5.
  Flt rest = x;
  Pair factors = {x.like(1.0), x.like(0.0)};
  for (int i = 0; i < 6; ++i) {
    Bool above = rest >= 2.5;
    rest = select(above, rest - 1.0, rest);
    Pair product = twoProduct(factors.high, rest);
    factors = {select(above, product.high, factors.high),
               select(above, fma(factors.low, rest, product.low), factors.low)};
  }
  Bool isLow = x < 0.5, isMiddle = !isLow & (x < 1.5);
  Flt f = select(isLow, x, select(isMiddle, x - 1.0, rest - 2.0));
  Flt excess = f * polynomial(f, gammaAtTwo); // gamma(2 + f) - 1
  Flt product = factors.high + fma(factors.high, excess, factors.low);
  Flt divisor = select(isLow, fma(x, x, x), select(isMiddle, x, 1.0));
  return select(isLow | isMiddle, (1.0 + excess) / divisor, product);
}

/// The logarithm to base 2 of gamma(x) / sqrt(2 pi), from 8 on.
Pair log2OfGamma(Flt x) {
  Pair logarithm = log2OfSum(x);
  Flt shifted = x - 0.5;
  Pair first = twoProduct(shifted, logarithm.high), second = twoProduct(x, x.like(-log2OfEF64[0]));
  Pair sum = twoSum(first.high, second.high);
  Flt correction = stirlingRest(x);
  Flt low = fma(shifted, logarithm.low, first.low) + fma(x, -log2OfEF64[1], second.low);
  return {sum.high, sum.low + fma(correction, log2OfEF64[0], low)};
}

} // namespace

ScaledGamma scaledGamma(Flt x) {
  Bool isLarge = x >= stirlingFrom;
  Pair exponent = log2OfGamma(atLeast(x, stirlingFrom));
  return {select(isLarge, sqrtTwoPi[0], gammaOfSmall(atMost(x, stirlingFrom))),
          {select(isLarge, exponent.high, 0.0), select(isLarge, exponent.low, 0.0)}};
}

namespace {

/// Of an f64; of a NaN some number or other.
Flt lgammaOfF64(Flt x) {
  Flt a = abs(x), positive = lgammaOfPositive(a);
  // gamma(-a) gamma(a) = -pi / (a sin(pi a)). Around the zeros between whole numbers this has only
  // as many digits as there are in 1.
  auto reflected = [&] {
    Flt product = a * abs(sinpiOfF64(a));
    Pair logarithm = logOfSum(atLeast(product, 0x1p-1070));
    Flt result = (logPi[0] - logarithm.high) - (positive + (logarithm.low - logPi[1]));
    result = select(product == 0.0, x.infinity(), result);
    // Next to 0 both are the same, and the product has no digits left.
    result = select(a < 0x1p-60, positive, result);
    return select(x < 0.0, result, positive);
  };
  Flt result = branchWhereAny(x < 0.0, reflected, positive);
  return select(a == a.infinity(), a, result);
}

/// Of an f64; of a NaN some number or other.
Flt digammaOfF64(Flt x) {
  Bool isNegative = !(x > 0.0);
  Flt positive = digammaOfPositive(select(isNegative, 1.0 - x, x));
  // digamma(x) = digamma(1 - x) - pi / tan(pi x).
  auto reflected = [&] {
    Flt cotangent = piParts[0] * (cospiOfF64(x) / sinpiOfF64(x));
    Flt result = positive - cotangent;
    // There is a value on either side of a pole, but for 0, whose sign says which.
    result = select(trunc(x) == x, x.nan(), result);
    result = select(x == 0.0, copysign(x.infinity(), -x), result);
    return select(isNegative, result, positive);
  };
  Flt result = branchWhereAny(isNegative, reflected, positive);
  return select(x == -x.infinity(), x.nan(), result);
}

/// betaln for 0 < a <= b and b >= 8, where the three logarithms may be far larger than their sum.
Flt betalnOfLarge(Flt a, Flt b) {
  Flt sum = a + b, ratio = a / b;
  Flt tails = stirlingRest(b) - stirlingRest(atLeast(sum, stirlingFrom));
  Flt steep = log1p(ratio);
  // lgamma(b) - lgamma(a + b) without Stirling's rests is -a (log(b) - 1) - (a + b - 1/2) log1p(a /
  // b).
  Flt logOfB = log(b);
  Flt small = lgammaOfPositive(a) - fma(a, logOfB - 1.0, fma(sum - 0.5, steep, -tails));
  Flt large = atLeast(a, stirlingFrom);
  Flt both =
      fma(large - 0.5, log(ratio) - steep, fma(-b, steep, fma(logOfB, -0.5, halfLogTwoPi[0])));
  both = both + (stirlingRest(large) + tails);
  return select(a >= stirlingFrom, both, small);
}

} // namespace

Flt betaln(Flt a, Flt b) {
  return inF64(a, b, [](Flt a, Flt b) {
    Flt plain = (lgammaOfF64(a) + lgammaOfF64(b)) - lgammaOfF64(a + b);
    Bool swapped = a > b;
    Flt least = select(swapped, b, a), most = select(swapped, a, b);
    Bool isLarge = (least > 0.0) & (most >= stirlingFrom) & (most < most.infinity());
    auto large = [&] {
      Flt result = betalnOfLarge(select(isLarge, least, 1.0), atLeast(most, stirlingFrom));
      return select(isLarge, result, plain);
    };
    Flt result = branchWhereAny(isLarge, large, plain);
    result = result + 0.0; // which -0 is not
    result = select((least > 0.0) & (most == most.infinity()), -most.infinity(), result);
    return keepNaN(a, keepNaN(b, result));
  });
}

namespace {

/// In f64, of an f32 from 0 on, with a relative error below 2^-32 before it is rounded; of 0 and
/// infinity some number or other.
Flt lgammaOfPositiveF32(Flt x) {
  // From 2.5 on by Stirling's formula; below, by a polynomial around 2, or around 1 with
  // lgamma(x) = lgamma(1 + x) - log(x), of which the terms next to 1 have opposite signs but the
  // larger is twice the other. The logarithm is the same for all, and with the reciprocal of x it
  // takes one division.
  Decomposed parts = decompose(x, /*mayBeDenormal=*/false);
  Flt f = parts.fraction, divisor = f + 2.0;
  Flt both = 1.0 / (x * divisor), inverse = divisor * both;
  Flt s = f * (x * both), square = s * s;
  Flt logarithm =
      fma(toFloat(parts.exponent), ln2F64[0], fma(s * square, polynomial(square, logMid), s + s));
  Bool isLarge = x >= 2.5, isLow = x < 1.5;
  Flt large = fma(inverse, polynomial(inverse * inverse, stirlingSeriesF32), halfLogTwoPi[0] - x);
  Flt fromTwo = select(isLow, x - 1.0, x - 2.0);
  Flt small = fromTwo * polynomial(fromTwo, lgammaAtTwoF32);
  Flt factor = select(isLarge, x - 0.5, select(isLow, -1.0, x.like(0.0)));
  return fma(factor, logarithm, select(isLarge, large, small));
}

Flt lgammaOfF32(Flt x) {
  Flt a = abs(x), infinity = x.infinity();
  Flt positive = inF64(a, lgammaOfPositiveF32);
  positive = select((a == 0.0) | (a == infinity), infinity, keepNaN(x, positive));
  // Around the zeros between negative whole numbers both terms of the reflection need more digits.
  auto reflected = [&] { return select(x < 0.0, inF64(x, lgammaOfF64), positive); };
  return branchWhereAny(x < 0.0, reflected, positive);
}

} // namespace

Flt lgamma(Flt x) { return x.isF32() ? lgammaOfF32(x) : keepNaN(x, lgammaOfF64(x)); }

Flt digamma(Flt x) {
  return inF64(x, [](Flt x) { return keepNaN(x, digammaOfF64(x)); });
}

Flt gamma(Flt x) {
  return inF64(x, [](Flt x) {
    Flt a = abs(x);
    Bool isNegative = x < 0.0, isLarge = a >= stirlingFrom;
    Flt small = gammaOfSmall(atMost(a, stirlingFrom));
    Pair exponent = log2OfGamma(atMost(atLeast(a, stirlingFrom), 200.0));
    // For a negative number the reciprocal.
    exponent = {select(isNegative, -exponent.high, exponent.high),
                select(isNegative, -exponent.low, exponent.low)};
    Flt root = select(isNegative, 1.0 / x.like(sqrtTwoPi[0]), x.like(sqrtTwoPi[0]));
    // The root first: it is larger than 1, and the power may not be a normal number.
    Flt sine = sinpiOfF64(a);
    Flt reflection = -piParts[0] / (a * sine);
    Flt factor = select(isNegative, reflection * root, root);
    Flt large = exp2OfSum(exponent.high, exponent.low, factor);
    small = select(isNegative, -piParts[0] / ((a * sine) * small), small);
    Flt result = select(isLarge, large, small);
    // Poles: of 0 the sign says from which side, at negative whole numbers there are both.
    result = select(isNegative & (trunc(x) == x), x.nan(), result);
    // 1/x less Euler's constant; a times the sine is too small for a number long before a is.
    result = select(a < 0x1p-60, 1.0 / x, result);
    result = select(x == x.infinity(), x, result);
    return keepNaN(x, result);
  });
}

} // namespace mlir::weft::expand
