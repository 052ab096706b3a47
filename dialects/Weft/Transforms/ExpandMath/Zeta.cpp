// Expands the zeta function of Hurwitz: ten terms of the sum, and what is behind them by the
// formula of Euler and Maclaurin (Abramowitz and Stegun, 23.1.30).
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

namespace {

constexpr int termCount = 10;

/// The numbers of Bernoulli B2, B4, .. over 2!, 4!, ...
constexpr double bernoulliOverFactorial[] = {
    0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
    0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
    0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63,
};

/// (high + low)^s, for a low part that is the rest of a rounded sum.
Flt powerOfSum(Pair sum, Flt s) {
  Flt power = pow(sum.high, s);
  Flt result = fma(power, s * (sum.low / sum.high), power);
  return select(abs(result) < power.infinity(), result, power);
}

/// zeta(s, q) for s > 1, q > 0.
Flt zetaOfPositive(Flt s, Flt q) {
  // From the smallest term on.
  Flt last = q.like(termCount - 1);
  Flt sum = loop(
      {last, q.like(0.0)}, [](ArrayRef<Flt> now) { return now[0] >= 0.0; },
      [&](ArrayRef<Flt> now) -> SmallVector<Flt> {
        return {now[0] - 1.0, now[1] + powerOfSum(twoSum(q, now[0]), -s)};
      })[1];
  Pair next = twoSum(q, q.like(termCount));
  // a^(1 - s), the largest of what is left, may be a number where a^-s is none.
  Flt integral = powerOfSum(next, 1.0 - s);
  Flt inverse = 1.0 / next.high, square = inverse * inverse, power = integral * inverse;
  Flt factor = s * power * inverse;
  Flt rest = integral / (s - 1.0) + 0.5 * power;
  Flt series = q.like(0.0);
  for (int j = 0; j < static_cast<int>(std::size(bernoulliOverFactorial)); ++j) {
    series = fma(factor, bernoulliOverFactorial[j], series);
    factor = factor * ((s + (2.0 * j + 1.0)) * (s + (2.0 * j + 2.0)) * square);
  }
  // Where the power vanishes the factors of s may not be finite.
  return sum + select(integral == 0.0, 0.0, rest + series);
}

} // namespace

Flt zeta(Flt s, Flt q) {
  return inF64(s, q, [](Flt s, Flt q) {
    Bool isNegative = q < 0.0;
    // All terms with whole distances, of which those on the other side are a sum of that kind too:
    // sum over all n of (r + n)^-s - (-1)^s zeta(s, 1 - q), where r is q without its whole part.
    Flt n = takeInteger(atLeast(q, -0x1p49) + q.format().shifter()).asFloat, r = q - n;
    Flt first = zetaOfPositive(s, select(isNegative, 1.0 - q, q));
    auto reflected = [&] {
      Flt half = 0.5 * s;
      Bool isEven = trunc(half) == half;
      Flt above = zetaOfPositive(s, 1.0 + r), below = zetaOfPositive(s, 1.0 - r);
      Flt center = pow(r, -s);
      Flt others = select(isEven, below - first, first - below);
      Flt result = center + (above + others);
      return select(isNegative, select(trunc(s) == s, result, result.nan()), first);
    };
    Flt result = branchWhereAny(isNegative, reflected, first);
    result = select(!(q > 0.0) & (trunc(q) == q), result.infinity(), result);
    result = select(s == 1.0, result.infinity(), select(s < 1.0, result.nan(), result));
    return keepNaN(s, keepNaN(q, result));
  });
}

} // namespace mlir::weft::expand
