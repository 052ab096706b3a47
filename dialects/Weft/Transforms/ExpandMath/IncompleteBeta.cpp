// Expands the incomplete beta function by the continued fraction of Didonato and Morris (ACM Trans.
// Math. Softw. 18, 1992), which runs until all lanes are done, on the side of the mean where it
// converges soon, by series where what is wanted is little beside the other side, and by the normal
// distribution where both parameters are large.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

constexpr double mostSteps = 1e7;
/// From here on both parameters are large, and the fraction would take a thousand steps and more.
constexpr double normalFrom = 0x1p20;

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

/// The rest of own log(part / (own / both)) without its slope: own (log(1 + mu) - mu), with its
/// sign turned, for mu = by / own and the share `part` of both.
Flt excessOfPower(Flt own, Flt part, Flt by, Flt both) {
  Flt mu = by / own;
  Bool isNear = abs(mu) < 0.3;
  return select(isNear, own * excessOfLog(select(isNear, mu, 0.0)),
                fma(-own, log(part * (both / own)), by));
}

/// The same where one of a and b is large: next to the mean m, which is a / (a + b), of
/// a log(x / m) + b log(y / (1 - m)) what these have but for their slopes, which cancel.
Flt densityOfLarge(Flt a, Flt b, Flt x, Pair y, Flt excess) {
  constexpr double stirlingFrom = 8.0;
  Flt both = a + b, least = select(a < b, a, b), most = select(a < b, b, a);
  Flt rests =
      stirlingRest(atLeast(most, stirlingFrom)) +
      (stirlingRest(atLeast(least, stirlingFrom)) - stirlingRest(atLeast(both, stirlingFrom)));
  Flt root = sqrt(least * (most / both)) * (1.0 / sqrtTwoPi[0]);
  Flt large =
      root *
      exp(-(excessOfPower(a, x, -excess, both) + excessOfPower(b, y.high, excess, both)) - rests);
  // A small one has no such formula.
  Flt few = atMost(least, stirlingFrom), of = select(a < b, x, y.high);
  Flt logarithm = most * select(a < b, log1p(-x), log(x));
  Flt small = exp(logarithm + (fma(few, log(of), riseOfLgamma(most, few)) - lgammaOfPositive(few)));
  return select(least < stirlingFrom, small, large);
}

/// A number that is not 0, so that it has a reciprocal.
Flt notZero(Flt x) { return select(abs(x) < 0x1p-1000, 0x1p-1000, x); }

/// a y - b x, which nearly vanishes next to the mean, for y = 1 - x as a sum of two.
Flt excess(Flt a, Flt b, Flt x, Pair y) {
  Pair first = twoProduct(a, y.high), second = twoProduct(b, x);
  Pair sum = twoSum(first.high, -second.high);
  return sum.high + (sum.low + fma(a, y.low, first.low - second.low));
}

/// The share of beta(a, b) up to x over its density, for x not far beyond the mean. The fraction's
/// convergents are summed up by their differences (Steed), of which each is the one before it times
/// a product without cancellation. `excess` is that above.
Flt continuedFraction(Flt a, Flt b, Flt x, Flt y, Flt excess) {
  Flt d = 1.0 / notZero(a * ((excess + 1.0) / (a + 1.0))), both = a + b;
  return loop(
      {x.like(0.0), d, d, d},
      [](ArrayRef<Flt> now) {
        return (abs(now[2]) > abs(now[3]) * 0x1p-54) & (now[0] < mostSteps);
      },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt n = now[0] + 1.0, place = a + (n + n), before = place - 1.0;
        Flt share = n * (b - n) * x / before; // n (b - n) x / (a + 2 n - 1)
        Flt above = share * ((a + (n - 1.0)) / before) * ((both + (n - 1.0)) * x);
        Flt below = (n + share) + (a + n) / (place + 1.0) * (excess + fma(n, 1.0 + y, 1.0));
        Flt d = 1.0 / notZero(fma(above, now[1], below));
        Flt change = now[2] * -(above * now[1] * d);
        return {n, d, change, now[3] + change};
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

/// 1 less the share of beta(b, a) up to y, where that is nearly 1 as b is small, and a y is up to
/// 1: the power of the first term of its series is near 0, and the others are small.
Flt beyondSmall(Flt a, Flt b, Flt y) {
  SmallVector<Flt> end = loop(
      {y.like(0.0), y.like(1.0), y.like(0.0)},
      [&](ArrayRef<Flt> now) {
        Bool more = (now[0] == 0.0) | (abs(now[1]) > abs(now[2]) * 0x1p-55);
        return more & (now[0] < mostSteps);
      },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        Flt n = now[0] + 1.0, term = now[1] * ((n - a) * y / n);
        return {n, term, now[2] + term / (b + n)};
      });
  Flt logarithm = fma(b, log(y), riseOfLgamma(a, b)) - lgammaNextToOne(atMost(b, 1.0));
  return -expm1(logarithm) - exp(logarithm) * (b * end[2]);
}

/// The share where both parameters are large, after Temme: with the exponent z^2 / 2 of the density
/// it is Phi(z) + phi(z) (r + ..). Beside z there is the distance from the mean in units of the
/// deviation s, which is u: where w = u / s, z / u is a series in w, r = 1 / z - 1 / u, and what
/// follows is (d / dz r - r'(0) z / u) / z, of the order of 1 / s^3. t is (b - a) / (a + b).
Flt shareOfLarge(Flt a, Flt b, Flt x, Pair y, Flt excess) {
  Flt both = a + b, least = select(a < b, a, b), most = select(a < b, b, a);
  Flt deviation = sqrt(least * (most / both)), inverse = 1.0 / deviation;
  Flt half = excessOfPower(a, x, -excess, both) + excessOfPower(b, y.high, excess, both);
  Flt u = -(excess * inverse), root = sqrt(half), z = copysign(sqrt(half + half), u);
  Flt w = u * inverse, t = (b - a) / both, square = t * t;
  Bool isNear = abs(w) < 0x1p-10;
  // Both series to as many digits as what they are added to leaves of them.
  Flt series = fma(w,
                   fma(w,
                       fma(w, -fma(square, fma(square, 329.0 / 207360, 27.0 / 1280), 7.0 / 1536),
                           t * fma(square, 11.0 / 2160, 3.0 / 80)),
                       -fma(square, 1.0 / 48, 1.0 / 16)),
                   t * (1.0 / 3));
  Flt first = select(isNear, series * inverse, 1.0 / notZero(z) - 1.0 / notZero(u));
  Flt second = fma(w, fma(square, fma(square, 1.0 / 4608, 1.0 / 768), 1.0 / 512),
                   t * fma(square, -23.0 / 2160, 1.0 / 80)) *
               (inverse * inverse * inverse);
  Flt rest = (first + second) * (1.0 / sqrtTwoPi[0]);
  // Beyond the mean it is the other tail that is little.
  Flt tail = exp(-half) * (erfcx(root) * 0.5 + select(u > 0.0, -rest, rest));
  return select(u > 0.0, 1.0 - tail, tail);
}

} // namespace

Flt betainc(Flt a, Flt b, Flt x) {
  return inF64(a, b, x, [](Flt a, Flt b, Flt x) {
    Flt infinity = x.infinity();
    Bool isRegular =
        (a > 0.0) & (a < infinity) & (b > 0.0) & (b < infinity) & (x > 0.0) & (x < 1.0);
    // Nearer to 0 and to infinity gamma is no number any more, nor what the fraction starts from.
    // Of two that are so large their ratio alone counts.
    Flt unit = select((a > 0x1p800) & (b > 0x1p800), 0x1p-200, x.like(1.0));
    Flt p = atMost(atLeast(select(isRegular, a * unit, 1.0), 0x1p-900), 0x1p900);
    Flt q = atMost(atLeast(select(isRegular, b * unit, 1.0), 0x1p-900), 0x1p900);
    Flt t = select(isRegular, x, 0.5);
    Pair rest = twoSum(x.like(1.0), -t);
    Flt ahead = excess(p, q, t, rest), largest = select(p < q, q, p);
    Bool isNormal = (p >= normalFrom) & (q >= normalFrom);
    Bool isLarge = (largest > 0x1p20) & !isNormal;
    Flt front =
        density(select(largest > 0x1p20, 1.0, p), select(largest > 0x1p20, 1.0, q), t, rest);
    Flt ofLarge = branchWhereAny(
        isLarge,
        [&] {
          return densityOfLarge(select(isLarge, p, 8.0), select(isLarge, q, 8.0), t, rest,
                                select(isLarge, ahead, 0.0));
        },
        front);
    front = select(isLarge, ofLarge, front);
    // On the other side of the mean it is 1 less that of 1 - x.
    Bool isSwapped = (t > (p + 1.0) / (p + q + 2.0)) & !isNormal;
    // But not where that is small and the power series soon ends.
    Bool isSeries = isSwapped & (x.like(1.0) >= q * t) & (t < 0.95);
    isSwapped = isSwapped & !isSeries;
    const auto fraction = [&](Bool here, Bool swapped) {
      const auto of = [&](Flt own, Flt other) { return select(swapped, other, own); };
      return branchWhereAny(
          here,
          [&] {
            return front * continuedFraction(select(here, of(p, q), 1.0),
                                             select(here, of(q, p), 1.0),
                                             select(here, of(t, rest.high), 0.5),
                                             select(here, of(rest.high, t), 0.5),
                                             select(here, of(ahead, -ahead), 0.0));
          },
          x.like(1.0));
    };
    Flt result = fraction(!isSeries & !isNormal, isSwapped);
    Flt series = branchWhereAny(
        isSeries,
        [&] {
          return front / p * powerSeries(p, q, select(isSeries, t, 0.5)) * exp(-(q * log1p(-t)));
        },
        front);
    result = select(isSeries, series, result);
    // What is left of 1 has few digits where it is little.
    Flt left = 1.0 - result;
    Bool isLittle = isSwapped & (left < 0.125);
    Bool isTail = isLittle & (x.like(1.0) >= p * rest.high) & (x.like(1.0) >= q);
    Bool isBeyond = isLittle & !isTail;
    Flt tail = branchWhereAny(
        isTail,
        [&] {
          return beyondSmall(select(isTail, p, 1.0), select(isTail, q, 0.5),
                             select(isTail, rest.high, 0.5));
        },
        front);
    Flt beyond = fraction(isBeyond, isBeyond & !isBeyond);
    left = select(isTail, tail, select(isBeyond, beyond, left));
    result = select(isSwapped, left, result);
    Flt ofNormal = branchWhereAny(
        isNormal,
        [&] {
          return shareOfLarge(select(isNormal, p, normalFrom), select(isNormal, q, normalFrom), t,
                              rest, select(isNormal, ahead, 0.0));
        },
        result);
    result = atMost(atLeast(select(isNormal, ofNormal, result), 0.0), 1.0);
    // It goes to 0 with b, and of two that are near 0 their ratio alone counts.
    result = select(b < 0x1p-900, result * (b * 0x1p900), result);
    result = select((a < 0x1p-500) & (b < 0x1p-500), b / (a + b), result);
    // With a parameter of 0 or of infinity all of it is at one end.
    Bool isAtOne = (b == 0.0) | (a == infinity), isAtZero = (a == 0.0) | (b == infinity);
    Flt beside = select((x < 1.0) & isAtOne, x.like(0.0), 1.0);
    result = select(isRegular, result, select(x == 0.0, x, beside));
    Bool isKnown = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & !(x > 1.0) & !(isAtOne & isAtZero);
    return keepNaN(a, keepNaN(b, keepNaN(x, select(isKnown, result, x.nan()))));
  });
}

} // namespace mlir::weft::expand
