// Expands the incomplete gamma functions: the power series below a, the continued fraction beyond,
// and Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979) where a is large and x near it; as
// Boost.Math and Cephes choose among them. Series and fractions run until all lanes are done.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// Where sums and products end: what follows no longer counts.
constexpr double epsilon = 0x1p-55;
/// After so many steps they end anyway.
constexpr double mostSteps = 1e7;

/// mu - log(1 + mu), where mu is above -1.
Flt excessOfLog(Flt mu) {
  Bool isNear = (mu > -0.29) & (mu < 0.41);
  return select(isNear, -logTail(select(isNear, mu, 0.0)), mu - log1p(mu));
}

/// x^a exp(-x) / gamma(a), for positive a and x.
Flt density(Flt a, Flt x) {
  // As a power of 2 with a long exponent; where a is so large that this has too few digits, the
  // distance of x and a has them.
  ScaledGamma gamma = scaledGamma(atMost(a, 0x1p20));
  Pair logarithm = log2OfSum(x);
  Pair rise = twoProduct(a, logarithm.high), fall = twoProduct(x, x.like(-log2OfEF64[0]));
  Pair both = twoSum(rise.high, fall.high);
  Pair sum = twoSum(both.high, -gamma.exponent.high);
  Flt low = fma(a, logarithm.low, rise.low) + fma(x, -log2OfEF64[1], fall.low);
  low = (low + (both.low - gamma.exponent.low)) + sum.low;
  Flt exponent = atMost(atLeast(sum.high, -1100.0), 1100.0);
  Flt plain = exp2OfSum(exponent, select(exponent == sum.high, low, 0.0), 1.0 / gamma.factor);
  Flt large = atLeast(a, 8.0), mu = (x - large) / large;
  Flt far = exp(fma(-large, excessOfLog(mu), -stirlingRest(large))) *
            (sqrt(large) * (1.0 / sqrtTwoPi[0]));
  return select(a > 0x1p20, far, plain);
}

/// The sum of x^n / ((a + 1) .. (a + n)) from 1 on.
Flt powerSeries(Flt a, Flt x) {
  return loop(
      {a, x.like(1.0), x.like(1.0)},
      [&](ArrayRef<Flt> now) { return (now[1] > now[2] * epsilon) & (now[0] < a + mostSteps); },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt next = now[0] + 1.0, term = now[1] * (x / next);
        return {next, term, now[2] + term};
      })[2];
}

/// A continued fraction by Lentz's method with its derivative by a, if that is wanted.
struct Fraction {
  Flt value, slope;
};

/// gamma(a, x) / (x^a exp(-x)), for x above a.
Fraction continuedFraction(Flt a, Flt x, bool withSlope) {
  Flt b = x + 1.0 - a, d = 1.0 / b, zero = x.like(0.0);
  SmallVector<Flt> start{zero, b, x.like(0x1p1000), d, d, x.like(2.0)};
  if (withSlope) start.append({zero, d * d, d * d, x.like(2.0)});
  SmallVector<Flt> end = loop(
      start,
      [&](ArrayRef<Flt> now) {
        Bool more = abs(now[5] - 1.0) > epsilon * 8.0;
        if (withSlope) more = more | (abs(now[9]) > abs(now[8]) * epsilon * 8.0);
        return more & (now[0] < mostSteps);
      },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt i = now[0] + 1.0, factor = i * (a - i), b = now[1] + 2.0;
        Flt below = 1.0 / fma(factor, now[3], b), ratio = factor / now[2];
        Flt above = b + ratio, step = below * above;
        SmallVector<Flt> next{i, b, above, below, now[4] * step, step};
        if (withSlope) {
          Flt ofRatio = (i - ratio * now[6]) / now[2];
          Flt ofAbove = ofRatio - 1.0;
          Flt ofBelow = -(fma(factor, now[7], i * now[3]) - 1.0) * (below * below);
          Flt ofStep = fma(ofBelow, above, below * ofAbove);
          Flt change = now[4] * ofStep;
          next.append(
              {ofAbove, ofBelow, fma(now[8], step, change), fma(now[8], step - 1.0, change)});
        }
        return next;
      });
  return {end[4], withSlope ? end[8] : zero};
}

/// The smaller of both shares, where a is above 20 and x near it, given the density.
Flt uniform(Flt a, Flt mu, Flt density) {
  Flt half = excessOfLog(mu); // eta^2 / 2
  Flt eta = copysign(sqrt(half + half), mu), inverse = 1.0 / a;
  const ArrayRef<double> rows[] = {temme0, temme1, temme2, temme3, temme4,
                                   temme5, temme6, temme7, temme8, temme9};
  Flt sum = polynomial(eta, rows[9]);
  for (int k = 8; k >= 0; --k) sum = fma(sum, inverse, polynomial(eta, rows[k]));
  // exp(-a eta^2 / 2) / sqrt(2 pi a) is the density over a, times what Stirling's formula leaves.
  Flt scale = density * inverse * exp(stirlingRest(a));
  Flt tail = (0.5 * sqrtTwoPi[0]) * sqrt(a) * erfcx(sqrt(a * half));
  return scale * (tail + select(mu < 0.0, -sum, sum));
}

/// log(gamma(1 + a)) for a from 0 to 1.
Flt lgammaNextToOne(Flt a) {
  Flt near = fma(a, (1.0 + lgammaAtTwo[0]) + a * polynomial(a, ArrayRef(lgammaAtTwo).drop_front()),
                 -log1p(a));
  return select(a < 0.7, near, lgammaOfPositive(1.0 + a));
}

/// The share beyond of an x up to 1.1 and an a that is not larger: what is left of 1 without the
/// series of gamma(a) - gamma(a, x), whose first term is 1 / a.
Flt beyondSmall(Flt a, Flt x) {
  Flt term = x.like(1.0), sum = x.like(0.0);
  for (int n = 1; n <= 20; ++n) {
    term = term * (x * (-1.0 / n));
    sum = sum + term / (a + static_cast<double>(n));
  }
  Flt logarithm = a * log(x) - lgammaNextToOne(a);
  return -expm1(logarithm) - exp(logarithm) * (a * sum);
}

/// One of the shares of positive finite numbers.
Flt share(Flt a, Flt x, bool beyond) {
  Flt mu = (x - a) / a;
  Bool isUniform = (a > 20.0) & (abs(mu) < 0.28);
  Bool isFraction = (x > 1.1) & (x > a) & !isUniform;
  Bool isSmall = (x.like(1.1) >= x) & (x * 1.1 >= a);
  if (!beyond) isSmall = isSmall & !isSmall;
  Bool isSeries = !(isUniform | isFraction | isSmall);
  Flt front = density(a, x), none = x.like(0.5);
  Flt below = branchWhereAny(
      isSeries,
      [&] { return front / a * powerSeries(select(isSeries, a, 1.0), select(isSeries, x, 0.5)); },
      none);
  Flt above = branchWhereAny(
      isFraction,
      [&] {
        return front *
               continuedFraction(select(isFraction, a, 1.0), select(isFraction, x, 2.0), false)
                   .value;
      },
      none);
  Flt near = branchWhereAny(
      isUniform,
      [&] { return uniform(select(isUniform, a, 30.0), select(isUniform, mu, 0.0), front); }, none);
  Bool isAbove = isFraction | (isUniform & (mu >= 0.0));
  Flt least = select(isUniform, near, select(isFraction, above, below));
  Flt result = beyond ? select(isAbove, least, 1.0 - least) : select(isAbove, 1.0 - least, least);
  if (!beyond) return result;
  Flt small = branchWhereAny(
      isSmall, [&] { return beyondSmall(select(isSmall, a, 0.5), select(isSmall, x, 0.5)); }, none);
  return select(isSmall, small, result);
}

/// `result`, but what the function is of 0, infinity and numbers that it is not of.
Flt withEnds(Flt a, Flt x, double ofZero, double ofInfinity, Flt result) {
  Flt infinity = x.infinity();
  result = select(x == 0.0, ofZero, result);
  result = select(a == infinity, ofZero, result);
  result = select(x == infinity, ofInfinity, result);
  result = select(a == 0.0, ofInfinity, result);
  Bool isKnown =
      (a >= 0.0) & (x >= 0.0) & !((a == 0.0) & (x == 0.0)) & !((a == infinity) & (x == infinity));
  return keepNaN(a, keepNaN(x, select(isKnown, result, result.nan())));
}

/// The function of positive finite numbers, with those ends.
Flt ofPositive(Flt a, Flt x, double ofZero, double ofInfinity,
               llvm::function_ref<Flt(Flt, Flt)> f) {
  return inF64(a, x, [&](Flt a, Flt x) {
    Bool isRegular = (a > 0.0) & (a < a.infinity()) & (x > 0.0) & (x < x.infinity());
    Flt result = f(select(isRegular, a, 1.0), select(isRegular, x, 1.0));
    return withEnds(a, x, ofZero, ofInfinity, result);
  });
}

} // namespace

Flt gammainc(Flt a, Flt x) {
  return ofPositive(a, x, 0.0, 1.0, [](Flt a, Flt x) { return share(a, x, /*beyond=*/false); });
}

Flt gammaincc(Flt a, Flt x) {
  return ofPositive(a, x, 1.0, 0.0, [](Flt a, Flt x) { return share(a, x, /*beyond=*/true); });
}

Flt gammaincDa(Flt a, Flt x) {
  return ofPositive(a, x, 0.0, 0.0, [](Flt a, Flt x) {
    Bool isFraction = (x > 1.1) & (x > a);
    Flt front = density(a, x), logarithm = log(x);
    Flt digammaOfA = digammaOfPositive(a);
    // The series and its derivative: of the terms, each times the sum of the reciprocals so far.
    Flt below = branchWhereAny(
        !isFraction,
        [&] {
          Flt first = select(isFraction, 1.0, a), y = select(isFraction, 0.5, x);
          SmallVector<Flt> end = loop(
              {first, y.like(1.0), y.like(0.0), y.like(1.0), y.like(0.0)},
              [&](ArrayRef<Flt> now) {
                Bool more = (now[1] > now[3] * epsilon) | (now[1] * now[2] > now[4] * epsilon);
                return more & (now[0] < first + mostSteps);
              },
              [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
                Flt next = now[0] + 1.0, inverse = 1.0 / next;
                Flt term = now[1] * (y * inverse), slope = now[2] + inverse;
                return {next, term, slope, now[3] + term, fma(term, slope, now[4])};
              });
          Flt factor = logarithm - (digammaOfA + 1.0 / a);
          return front / a * fma(factor, end[3], -end[4]);
        },
        front);
    Flt above = branchWhereAny(
        isFraction,
        [&] {
          Fraction fraction =
              continuedFraction(select(isFraction, a, 1.0), select(isFraction, x, 2.0), true);
          return -front * fma(logarithm - digammaOfA, fraction.value, fraction.slope);
        },
        front);
    return select(isFraction, above, below);
  });
}

} // namespace mlir::weft::expand
