// Expands sin(pi x), cos(pi x) and sin(pi x) / (pi x): a polynomial on the distance to the nearest
// whole number, which is exact.
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// x = rest + n for a whole number n, |rest| <= 1/2, of which `sign` has the parity as a sign bit.
struct Halved {
  Flt rest;
  Int sign;
};
Halved distance(Flt x) {
  Flt y = fma(trunc(0.5 * x), -2.0, x); // Exact, and between -2 and 2.
  Rounded n = takeInteger(y + x.format().shifter());
  return {y - n.asFloat, shiftLeft(n.asInt & 1, 63)};
}

/// sin(pi r) for |r| <= 1/2.
Flt sineOf(Flt r) {
  Flt z = r * r;
  return fma(r, piParts[0], r * fma(z, polynomial(z, sinPi), piParts[1]));
}

Flt flipped(Flt x, Int sign) { return fromBits(bits(x) ^ sign); }

} // namespace

Flt sinpiOfF64(Flt x) {
  Halved parts = distance(x);
  return select(parts.rest == 0.0, copysign(parts.rest, x),
                flipped(sineOf(parts.rest), parts.sign));
}

Flt cospiOfF64(Flt x) {
  Halved parts = distance(x);
  return flipped(sineOf(0.5 - abs(parts.rest)), parts.sign);
}

Flt sinpi(Flt x) {
  return inF64(x, [](Flt x) { return keepNaN(x, sinpiOfF64(x)); });
}

Flt cospi(Flt x) {
  return inF64(x, [](Flt x) { return keepNaN(x, cospiOfF64(x)); });
}

Flt sinc(Flt x) {
  return inF64(x, [](Flt x) {
    Halved parts = distance(x);
    Flt z = parts.rest * parts.rest;
    // sin(pi r) / (pi r), times r / x.
    Flt shape = fma(z * inversePi[0], polynomial(z, sinPi), 1.0);
    Flt result = flipped(shape * select(x == parts.rest, 1.0, parts.rest / x), parts.sign);
    // Of whole numbers 0, which -0 is not.
    return keepNaN(x, select(abs(x) == x.infinity(), 0.0, result + 0.0));
  });
}

} // namespace mlir::weft::expand
