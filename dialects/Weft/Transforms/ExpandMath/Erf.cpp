// Expands the error function: an odd polynomial of small numbers; 1 less a power of a polynomial of
// larger ones, whose error counts little there (Abramowitz & Stegun 7.1.28 has the like), or less
// an exponential (Cody, Math. Comp. 23, 1969). None needs a division.
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

Flt erf(Flt x) {
  Flt magnitude = abs(x);
  // Beyond the bound the result rounds to 1.
  Flt large = largeErf(atMost(magnitude, x.pick(4.0, 6.0)));
  Flt z = x * x;
  Flt excess = fma(z, x.isF32() ? polynomial(z, erfF32) : polynomial(z, erfF64),
                   x.pick(erfExcessF32, erfExcessF64)[0]);
  return copysign(select(magnitude >= x.pick(1.125, 1.0), large, fma(x, excess, x)), x);
}

} // namespace mlir::weft::expand
