// Expands the incomplete beta function by its continued fraction (Press et al., Numerical
// Recipes, 6.4), which runs until all lanes are done, on the side of the mean where it converges
// soon.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

constexpr double mostSteps = 1e7;

/// x^a (1 - x)^b / beta(a, b), where y = 1 - x is a sum of two: a power of 2 with a long exponent.
Flt density(Flt a, Flt b, Flt x, Pair y) {
  Pair sum = twoSum(a, b);
  ScaledGamma ofA = scaledGamma(a), ofB = scaledGamma(b), ofSum = scaledGamma(sum.high);
  Pair logX = log2OfSum(x), logY = log2OfSum(y.high);
  Flt lowY = fma(y.low / y.high, log2OfEF64[0], logY.low);
  Pair first = twoProduct(a, logX.high), second = twoProduct(b, logY.high);
  Pair total = twoSum(first.high, second.high);
  Flt low = (total.low + fma(a, logX.low, first.low)) + fma(b, lowY, second.low);
  for (Pair part : {ofSum.exponent, Pair{-ofA.exponent.high, -ofA.exponent.low},
                    Pair{-ofB.exponent.high, -ofB.exponent.low}}) {
    Pair next = twoSum(total.high, part.high);
    low = low + (next.low + part.low);
    total.high = next.high;
  }
  // What the sum of a and b has lost, times the slope of log2(gamma).
  low = fma(sum.low * log2OfEF64[0], log(atLeast(sum.high, 1.0)), low);
  Flt exponent = atMost(atLeast(total.high, -1100.0), 1100.0);
  Flt factor = (ofSum.factor / ofA.factor) / ofB.factor;
  return exp2OfSum(exponent, select(exponent == total.high, low, 0.0), factor);
}

/// A number that is not 0, so that it has a reciprocal.
Flt notZero(Flt x) { return select(abs(x) < 0x1p-1000, 0x1p-1000, x); }

/// The fraction by Lentz's method, for x below (a + 1) / (a + b + 2).
Flt continuedFraction(Flt a, Flt b, Flt x) {
  Flt both = a + b, one = x.like(1.0);
  Flt first = 1.0 / notZero(1.0 - both * x / (a + 1.0));
  return loop(
      {x.like(0.0), one, first, first, x.like(2.0)},
      [](ArrayRef<Flt> now) { return (abs(now[4] - 1.0) > 0x1p-52) & (now[0] < mostSteps); },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt m = now[0] + 1.0, twice = a + (m + m);
        Flt even = m * (b - m) * x / ((twice - 1.0) * twice);
        Flt below = 1.0 / notZero(fma(even, now[2], 1.0)), above = notZero(1.0 + even / now[1]);
        Flt product = now[3] * (below * above);
        Flt odd = -((a + m) / twice) * ((both + m) * x / (twice + 1.0));
        below = 1.0 / notZero(fma(odd, below, 1.0));
        above = notZero(1.0 + odd / above);
        Flt step = below * above;
        return {m, above, below, product * step, step};
      })[3];
}

/// a times the series of beta(a, b) up to x over x^a, for b x up to 1: 1 + a sum of (1 - b) .. (n -
/// b) x^n / (n! (a + n)).
Flt powerSeries(Flt a, Flt b, Flt x) {
  return loop(
      {x.like(0.0), x.like(1.0), x.like(1.0)},
      [&](ArrayRef<Flt> now) {
        return (abs(now[1]) > abs(now[2]) * 0x1p-55) & (now[0] < mostSteps);
      },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt n = now[0] + 1.0, term = now[1] * ((n - b) * x / n);
        return {n, term, fma(term, a / (a + n), now[2])};
      })[2];
}

} // namespace

Flt betainc(Flt a, Flt b, Flt x) {
  return inF64(a, b, x, [](Flt a, Flt b, Flt x) {
    Flt infinity = x.infinity();
    Bool isRegular =
        (a > 0.0) & (a < infinity) & (b > 0.0) & (b < infinity) & (x > 0.0) & (x < 1.0);
    // Nearer to 0 and to infinity nothing changes but that gamma is no number any more.
    Flt p = atMost(atLeast(select(isRegular, a, 1.0), 0x1p-1000), 0x1p900);
    Flt q = atMost(atLeast(select(isRegular, b, 1.0), 0x1p-1000), 0x1p900);
    Flt t = select(isRegular, x, 0.5);
    Pair rest = twoSum(x.like(1.0), -t);
    Flt front = density(p, q, t, rest);
    // On the other side of the mean it is 1 less that of 1 - x.
    Bool isSwapped = t > (p + 1.0) / (p + q + 2.0);
    // But not where that is small and the power series soon ends.
    Bool isSeries = isSwapped & (x.like(1.0) >= q * t) & (t < 0.95);
    isSwapped = isSwapped & !isSeries;
    Flt first = select(isSwapped, q, p);
    Flt second = select(isSwapped, p, q), least = select(isSwapped, rest.high, t);
    Flt factor = branchWhereAny(
        !isSeries,
        [&] {
          return continuedFraction(select(isSeries, 1.0, first), select(isSeries, 1.0, second),
                                   select(isSeries, 0.5, least));
        },
        first);
    factor = branchWhereAny(
        isSeries,
        [&] {
          Flt series = powerSeries(p, q, select(isSeries, t, 0.5)) * exp(-(q * log1p(-t)));
          return select(isSeries, series, factor);
        },
        factor);
    Flt result = front * factor / first;
    result = select(isSwapped, 1.0 - result, result);
    result = select(isRegular, result, select(x == 0.0, x, 1.0));
    Bool isKnown =
        (a > 0.0) & (b > 0.0) & (a < infinity) & (b < infinity) & (x >= 0.0) & !(x > 1.0);
    return keepNaN(a, keepNaN(b, keepNaN(x, select(isKnown, result, x.nan()))));
  });
}

} // namespace mlir::weft::expand
