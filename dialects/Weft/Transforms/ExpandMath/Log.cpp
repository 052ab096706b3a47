// Expands the logarithms. All use x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). For
// f32, log(1+f) is a polynomial in f; for f64 one in s = f/(2+f), where the series of log(1+f) = 2
// artanh(s) is odd and short (Cody and Waite 1980, chapter 5; Tang, ACM TOMS 16, 1990). The sum k
// ln 2 + f keeps its rounding error.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

namespace mlir::weft::expand {

using namespace coefficients;

Flt logTail(Flt f) {
  if (f.isF32()) {
    Flt square = f * f;
    return fma(square, -0.5, (square * f) * polynomial(f, logF32));
  }
  // log(1+f) = f - (f^2/2 - s (f^2/2 + z R(z))), an identity that keeps the large terms exact.
  Flt s = f / (f + 2.0);
  Flt z = s * s;
  Flt halfSquare = 0.5 * (f * f);
  return fma(s, fma(z, polynomial(z, logF64), halfSquare), -halfSquare);
}

namespace {

/// The result for positive finite x; the value that IEEE prescribes for all others.
Flt withLogSpecials(Flt x, Flt zeroPoint, Flt result) {
  Flt special = select(x == zeroPoint, -x.infinity(), select(x < zeroPoint, x.nan(), x));
  return select((x > zeroPoint) & (x < x.infinity()), result, special);
}

/// log(1+f) as the sum of two floats.
Pair logOfReduced(Flt f) { return fastTwoSum(f, logTail(f)); }

/// k * unit + (log(1+f) / ln(base)), for units and reciprocals that are sums of two floats.
Flt logInBase(Flt k, Flt f, double unitHigh, double unitLow, double perNatHigh, double perNatLow) {
  Pair natural = logOfReduced(f);
  Pair scaled = twoProduct(natural.high, f.like(perNatHigh));
  Flt low = fma(natural.high, perNatLow, fma(natural.low, perNatHigh, scaled.low));
  Flt large = k * unitHigh; // Exact.
  Pair sum = fastTwoSum(large, scaled.high);
  return sum.high + (sum.low + fma(k, unitLow, low));
}

} // namespace

Decomposed decompose(Flt x, bool mayBeDenormal) {
  Format format = x.format();
  // A denormal is made normal first.
  int lift = mayBeDenormal ? format.mantissaBits + 2 : 0;
  Bool denormal =
      x < x.pick<double>(std::numeric_limits<float>::min(), std::numeric_limits<double>::min());
  Int image = bits(mayBeDenormal ? select(denormal, x * std::ldexp(1.0, lift), x) : x);
  // Subtracting the image of sqrt(1/2) moves the border between two exponents from 1 to there.
  int64_t border = x.isF32() ? llvm::bit_cast<int32_t>(0x1.6a09e6p-1f)
                             : llvm::bit_cast<int64_t>(0x1.6a09e667f3bcdp-1);
  Int moved = image - border;
  Int exponent = shiftRightSigned(moved, format.mantissaBits);
  Flt mantissa = fromBits((moved & format.mantissaMask()) + border);
  return {mayBeDenormal ? select(denormal, exponent - lift, exponent) : exponent, mantissa - 1.0};
}

Pair logOfSum(Flt x) {
  const double *ln2 = x.pick(ln2ShortF32, ln2ShortF64);
  Decomposed parts = decompose(x);
  Flt k = toFloat(parts.exponent), f = parts.fraction;
  Flt sum = fma(k, ln2[0], f);
  Flt error = fma(k, ln2[0], -sum) + f;
  return {sum, error + fma(k, ln2[1], logTail(f))};
}

Flt log(Flt x) {
  Pair parts = logOfSum(x);
  return withLogSpecials(x, x.like(0.0), parts.high + parts.low);
}

Flt log2(Flt x) {
  Decomposed parts = decompose(x);
  Flt result = logInBase(toFloat(parts.exponent), parts.fraction, 1.0, 0.0,
                         x.pick(log2OfEF32, log2OfEF64)[0], x.pick(log2OfEF32, log2OfEF64)[1]);
  return withLogSpecials(x, x.like(0.0), result);
}

Flt log10(Flt x) {
  const double *unit = x.pick(log10Of2F32, log10Of2F64), *perNat = x.pick(log10OfEF32, log10OfEF64);
  Decomposed parts = decompose(x);
  Flt result =
      logInBase(toFloat(parts.exponent), parts.fraction, unit[0], unit[1], perNat[0], perNat[1]);
  return withLogSpecials(x, x.like(0.0), result);
}

Flt log1p(Flt x) {
  const double *ln2 = x.pick(ln2ShortF32, ln2ShortF64);
  Format format = x.format();
  Flt one = x.like(1.0);
  Flt shifted = x + one;
  Decomposed parts = decompose(shifted, /*mayBeDenormal=*/false);
  Flt k = toFloat(parts.exponent);
  // What the addition lost, brought to the scale of the fraction. It no longer matters for large
  // exponents, where its scale would not be a normal number.
  Flt lost = select(x > one, one - (shifted - x), x - (shifted - one));
  Int small = select(parts.exponent > 64, parts.exponent.like(64), parts.exponent);
  Flt correction = lost * pow2(small.like(0) - small, format);
  // With k = 0 the fraction is x itself and nothing is lost.
  Bool direct = parts.exponent == 0;
  Flt f = select(direct, x, parts.fraction);
  correction = select(direct, x.like(0.0), correction);
  correction = fma(-f, correction, correction); // d log(1+f) = df / (1+f), nearly df (1-f).
  Flt sum = fma(k, ln2[0], f);
  Flt error = fma(k, ln2[0], -sum) + f;
  Flt result = sum + (error + (correction + fma(k, ln2[1], logTail(f))));
  // A tiny x, zeros among them, is its own result.
  result = select(abs(x) < x.pick(0x1p-26, 0x1p-55), x, result);
  return withLogSpecials(x, x.like(-1.0), result);
}

} // namespace mlir::weft::expand
