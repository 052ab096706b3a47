// Expands sin and cos: minimax polynomials on the reduced angle (Cody and Waite 1980, chapter 8),
// chosen and signed by the quadrant. For sin and cos an f32 is computed in f64, where no correction
// terms are needed; tan, of which a division is left, has a form for f32 too.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <tuple>

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// sin and cos of a reduced angle as sums of two.
std::pair<Pair, Pair> kernelPairs(Pair angle) {
  Flt r = angle.high, low = angle.low;
  Flt z = r * r, halfZ = 0.5 * z;
  // sin(r + low) = r + r z S(z) + low cos(r), with 1 - z/2 for cos(r).
  Flt sineRest = fma(z * r, polynomial(z, sinF64), fma(-halfZ, low, low));
  // cos(r + low) = (1 - z/2) + z^2 C(z) - r low; the first difference keeps its rounding error.
  Flt first = 1.0 - halfZ;
  Flt error = (1.0 - first) - halfZ;
  return {{r, sineRest}, {first, error + fma(z * z, polynomial(z, cosF64), -(r * low))}};
}

/// sin and cos of a reduced angle.
std::pair<Flt, Flt> kernels(Pair angle, bool isShort) {
  Flt r = angle.high;
  Flt z = r * r;
  if (isShort) {
    Flt sine = r * fma(z, polynomial(z, sinMid), 1.0);
    Flt cosine = fma(z, fma(z, polynomial(z, cosMid), -0.5), 1.0);
    return {sine, cosine};
  }
  auto [sine, cosine] = kernelPairs(angle);
  return {sine.high + sine.low, cosine.high + cosine.low};
}

/// Which of the two functions; the cosine is the sine a quadrant further on.
enum Function { kSine = 0, kCosine = 1 };

/// sin and cos of one f64; `isShort` if they will be rounded to f32.
class SinCos {
public:
  SinCos(Flt x, bool isShort) : x(x), reduced(reduceAngle(x, /*low=*/!isShort)) {
    std::tie(sine, cosine) = kernels(reduced.angle, isShort);
  }

  Flt get(Function function) const {
    Bool odd = (reduced.quadrant & 1) == 1;
    Flt magnitude = function == kSine ? select(odd, cosine, sine) : select(odd, sine, cosine);
    Int negative = function == kSine ? reduced.quadrant : reduced.quadrant + 1;
    Flt result = fromBits(bits(magnitude) ^ shiftLeft(negative & 2, 62));
    // A tiny x is its own sine: this keeps -0.
    if (function == kSine) result = select(abs(x) < 0x1p-27, x, result);
    // For infinity there is no result, and a NaN stays that NaN.
    return select(abs(x) < x.infinity(), result, select(unordered(x, x), x, x.nan()));
  }

private:
  Flt x;
  ReducedAngle reduced;
  Flt sine, cosine;
};

SmallVector<Flt, 2> evaluate(Flt x, ArrayRef<Function> functions) {
  OpBuilder &builder = x.scope->builder;
  FloatType wide = builder.getF64Type(), narrow = x.isF32() ? builder.getF32Type() : wide;
  SinCos both(convert(x, wide), /*isShort=*/x.isF32());
  return llvm::map_to_vector<2>(
      functions, [&](Function function) { return convert(both.get(function), narrow); });
}

} // namespace

Flt sin(Flt x) { return evaluate(x, kSine).front(); }
Flt cos(Flt x) { return evaluate(x, kCosine).front(); }

namespace {

/// By sine and cosine as sums of two, of an f64; `isShort` if the result will be rounded to f32.
Flt tanOfF64(Flt x, bool isShort) {
  ReducedAngle reduced = reduceAngle(x, /*low=*/!isShort);
  auto [sine, cosine] = kernelPairs(reduced.angle);
  sine = fastTwoSum(sine.high, sine.low);
  cosine = fastTwoSum(cosine.high, cosine.low);
  // The cotangent of the rest in odd quadrants, with the other sign.
  Bool odd = (reduced.quadrant & 1) == 1;
  Pair above = {select(odd, -cosine.high, sine.high), select(odd, -cosine.low, sine.low)};
  Pair below = {select(odd, sine.high, cosine.high), select(odd, sine.low, cosine.low)};
  Flt quotient = above.high / below.high;
  Flt rest = fma(-quotient, below.high, above.high) + fma(-quotient, below.low, above.low);
  Flt result = quotient + rest / below.high;
  // A tiny x is its own tangent: this keeps -0. Of infinity there is none.
  result = select(abs(x) < 0x1p-27, x, result);
  return select(abs(x) < x.infinity(), result, select(unordered(x, x), x, x.nan()));
}

/// Of an f32 below `shortReductionTo`, with an error of less than 1 ulp.
Flt tanOfSmallF32(Flt x) {
  auto [angle, quadrant] = reduceF32(x);
  auto [r, low] = angle;
  // tan(r) = r + r v, where v = z P(z). Near pi/4 the tail r v is a fifth of the result, so that
  // what rounding takes from z counts, to a digit or two, and so does the growth of the tangent by
  // 1 + tan(r)^2.
  Flt z = r * r, ofSquare = fma(r, r, -z);
  constexpr ArrayRef<double> c = tanTailF32;
  Flt inner = fma(z, fma(z, polynomial(z, c.drop_front(3)), c[2]), c[1]);
  Flt v = fma(z, c[0], fma(z * z, inner, ofSquare * 0.55));
  Pair tangent = fastTwoSum(r, fma(r, v, fma(z * 1.5, low, low)));
  // In odd quadrants -1 over that, with what the division leaves.
  Flt inverse = -1.0 / tangent.high;
  Flt rest = fma(inverse, tangent.low, fma(inverse, tangent.high, 1.0));
  Flt result = select((quadrant & 1) == 1, fma(inverse, rest, inverse), tangent.high);
  return select(x == 0.0, x, result); // which keeps -0
}

} // namespace

Flt tan(Flt x) {
  if (!x.isF32()) return tanOfF64(x, /*isShort=*/false);
  // Large arguments, infinities and NaN are rare; a branch skips them.
  Bool isSmall = abs(x) < shortReductionTo;
  Flt small = tanOfSmallF32(x);
  auto others = [&] {
    Flt large = inF64(x, [](Flt x) { return tanOfF64(x, /*isShort=*/true); });
    return select(isSmall, small, large);
  };
  return branchWhereAny(!isSmall, others, small);
}

std::pair<Flt, Flt> sincos(Flt x) {
  SmallVector<Flt, 2> both = evaluate(x, {kSine, kCosine});
  return {both[0], both[1]};
}

} // namespace mlir::weft::expand
