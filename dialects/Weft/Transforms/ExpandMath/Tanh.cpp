// Expands the hyperbolic tangent: an odd polynomial near zero, 1 - 2/(exp(2|x|) + 1) elsewhere
// (Cody and Waite 1980, chapter 13).
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

Flt tanh(Flt x) {
  Flt magnitude = abs(x);
  // Beyond the bound the result rounds to 1.
  Flt bounded = atMost(magnitude, x.pick(9.25, 19.5));
  Flt large = 1.0 - 2.0 / (expInRange(bounded + bounded) + 1.0);
  Flt z = x * x;
  Flt small = fma(x * z, x.isF32() ? polynomial(z, tanhF32) : polynomial(z, tanhF64), x);
  return copysign(select(magnitude >= 0.625, large, small), x);
}

} // namespace mlir::weft::expand
