// Expands the incomplete gamma functions: the power series below a, the continued fraction beyond,
// and Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979) where a is large and x near it; as
// Boost.Math and Cephes choose among them. Series and fractions run until all lanes are done.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

Flt excessOfLog(Flt mu) {
  Bool isNear = (mu > -0.29) & (mu < 0.41);
  return select(isNear, -logTail(select(isNear, mu, 0.0)), mu - log1p(mu));
}

namespace {

/// Where sums and products end: what follows no longer counts.
constexpr double epsilon = 0x1p-55;
/// After so many steps they end anyway.
constexpr double mostSteps = 1e7;

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

/// A continued fraction with its derivative by a, if that is wanted.
struct Fraction {
  Flt value, slope;
};

/// gamma(a, x) / (x^a exp(-x)), for x above a, by Steed's method: convergents are summed up by
/// their differences, of which each is the one before it times a product without cancellation.
Fraction continuedFraction(Flt a, Flt x, bool withSlope) {
  Flt b = x + 1.0 - a, d = 1.0 / b, zero = x.like(0.0);
  SmallVector<Flt> start{zero, b, d, d, d};
  if (withSlope) start.append({d * d, d * d, d * d});
  SmallVector<Flt> end = loop(
      start,
      [&](ArrayRef<Flt> now) {
        Bool more = abs(now[3]) > abs(now[4]) * epsilon;
        if (withSlope) more = more | (abs(now[6]) > abs(now[7]) * epsilon);
        return more & (now[0] < mostSteps);
      },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt i = now[0] + 1.0, factor = i * (a - i), b = now[1] + 2.0, before = now[2];
        Flt d = 1.0 / fma(factor, before, b), both = before * d;
        Flt ratio = -(factor * both), change = now[3] * ratio;
        SmallVector<Flt> next{i, b, d, change, now[4] + change};
        if (withSlope) {
          Flt ofD = -(fma(factor, now[5], i * before) - 1.0) * (d * d);
          Flt ofRatio = -fma(i, both, factor * fma(now[5], d, before * ofD));
          Flt ofChange = fma(now[6], ratio, now[3] * ofRatio);
          next.append({ofD, ofChange, now[7] + ofChange});
        }
        return next;
      });
  return {end[4], withSlope ? end[7] : zero};
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

/// The share beyond of an x up to 1.1 and an a so small that it is not the larger one: what is left
/// of 1 without the series of gamma(a) - gamma(a, x), whose first term is 1 / a.
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
  // Where the share below is the larger one, as Boost.Math has it.
  Bool isSmall = (x.like(1.1) >= x) & (select(x < 0.5, -0.4 / log(atMost(x, 0.5)), x * 0.75) >= a);
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
  least = atMost(least, 1.0);
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
