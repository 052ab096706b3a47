// Expands the modified Bessel functions of orders 0 and 1, and the same times exp(-|x|): their
// power series' minimax forms up to 7.75, beyond exp(x) / sqrt(x) times a polynomial in 1/x, as
// Boost.Math has them.
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// Where the polynomial in 1/x takes over.
constexpr double farFrom = 7.75;

/// I of order 0 or 1 of an f64, or that times exp(-|x|).
Flt bessel(Flt x, int order, bool scaled) {
  Flt a = abs(x), near = atMost(a, farFrom), z = 0.25 * (near * near);
  Flt central = fma(z, order == 0 ? polynomial(z, i0Central) : polynomial(z, i1Central), 1.0);
  if (order == 1) central = central * (0.5 * near);
  if (scaled) central = central * expOfSum(-near, near.like(0.0));
  Flt far = atLeast(a, farFrom), v = 1.0 / far - 0.0625;
  Flt shape = (order == 0 ? polynomial(v, i0Far) : polynomial(v, i1Far)) / sqrt(far);
  if (!scaled) {
    // exp(x) overflows before the function does.
    Flt half = expOfSum(select(far > 700.0, far - 64.0, far), far.like(0.0));
    shape = half * shape;
    shape = select(far > 700.0, shape * expOf64[0] + shape * expOf64[1], shape);
    shape = select(a > 714.0, x.infinity(), shape);
  } else {
    shape = select(a == a.infinity(), 0.0, shape);
  }
  Flt result = select(a > farFrom, shape, central);
  return keepNaN(x, order == 1 ? copysign(result, x) : result);
}

} // namespace

Flt i0(Flt x) {
  return inF64(x, [](Flt x) { return bessel(x, 0, false); });
}
Flt i0e(Flt x) {
  return inF64(x, [](Flt x) { return bessel(x, 0, true); });
}
Flt i1(Flt x) {
  return inF64(x, [](Flt x) { return bessel(x, 1, false); });
}
Flt i1e(Flt x) {
  return inF64(x, [](Flt x) { return bessel(x, 1, true); });
}

} // namespace mlir::weft::expand
