// Expands the error function: an odd polynomial of small numbers; 1 less a power of a polynomial of
// larger ones, whose error counts little there (Abramowitz & Stegun 7.1.28 has the like), or less
// an exponential (Cody, Math. Comp. 23, 1969); in f32, where tables cost little, one of eight
// short polynomials. None needs a division.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

/// erf(t) of what is not small, at most 4 in f32 and 6 in f64.
static Flt largeErf(Flt t) {
  if (!t.isF32()) return 1.0 - expInRange(fma(t, polynomial(t, erfcF64), -t));
  Flt root = polynomial(t, erfcF32), half = root * root;
  return fma(half, -half, 1.0);
}

/// By the piece that x is nearest to the middle of.
static Flt erfByPieces(Flt x) {
  // The last piece ends beyond the first number whose result rounds to 1.
  Flt magnitude = atMost(abs(x), 7.4375 * erfPieceWidth);
  Flt shifted = fma(magnitude, 1 / erfPieceWidth, x.format().shifter());
  Flt piece = shifted - x.format().shifter();
  Flt r = fma(piece, -erfPieceWidth, magnitude);
  Int place = bits(shifted);
  const auto coefficients = [&](size_t power) { return lookUp(erfPieces[power], place); };
  size_t power = std::size(erfPieces) - 1;
  Flt factor = coefficients(power);
  while (--power > 0) factor = fma(r, factor, coefficients(power));
  return copysign(fma(r, factor, select(piece == 0.0, r, coefficients(0))), x);
}

Flt erf(Flt x) {
  if (x.isF32() && x.scope->target.tables) return erfByPieces(x);
  Flt magnitude = abs(x);
  // Beyond the bound the result rounds to 1.
  Flt large = largeErf(atMost(magnitude, x.pick(4.0, 6.0)));
  Flt z = x * x;
  Flt excess = fma(z, x.isF32() ? polynomial(z, erfF32) : polynomial(z, erfF64),
                   x.pick(erfExcessF32, erfExcessF64)[0]);
  return copysign(select(magnitude >= x.pick(1.125, 1.0), large, fma(x, excess, x)), x);
}

} // namespace mlir::weft::expand
