// Expands the error function: an odd polynomial up to 1, 1 - exp(log(erfc(|x|))) with a polynomial
// for the logarithm beyond, where its error counts little (Cody, Math. Comp. 23, 1969, has rational
// functions in its place, which need a division).
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

using namespace coefficients;

Flt erf(Flt x) {
  Flt magnitude = abs(x);
  // Beyond the bound the result rounds to 1.
  Flt t = atMost(magnitude, x.pick(4.0, 6.0));
  Flt logarithm = fma(t, x.isF32() ? polynomial(t, erfcF32) : polynomial(t, erfcF64), -t);
  Flt large = 1.0 - expInRange(logarithm);
  Flt z = x * x;
  Flt excess = fma(z, x.isF32() ? polynomial(z, erfF32) : polynomial(z, erfF64),
                   x.pick(erfExcessF32, erfExcessF64)[0]);
  return copysign(select(magnitude >= 1.0, large, fma(x, excess, x)), x);
}

} // namespace mlir::weft::expand
