// Expands arith.remf exactly: where quotients are small by one division, else by a long division
// whose every step subtracts an exactly known multiple of the divisor with one fused operation, in
// a loop that ends when all lanes are done.
#include "Weft/Transforms/ExpandMath/Functions.h"

namespace mlir::weft::expand {

namespace {

/// The power of two that a positive normal number has as its exponent, as a float.
Flt powerOf(Flt x) { return fromBits(bits(x) & x.format().exponentMask()); }

/// One step of the division: r, which is not negative, shrinks by up to 50 bits and stays congruent
/// modulo y.
Flt divideStep(Flt r, Flt y) {
  // The divisor is y times a power of two, so that the quotient has at most 51 bits.
  Format format = r.format();
  Int gap = shiftRightSigned(bits(powerOf(r)) - bits(powerOf(y)), format.mantissaBits);
  Int step = gap - (format.mantissaBits - 2);
  Flt divisor =
      fromBits(bits(y) + shiftLeft(select(step > 0, step, step.like(0)), format.mantissaBits));
  // The truncated quotient is one too large where the division rounded up to an integer; then the
  // rest is negative. Either rest is exact: a multiple of the last bit of the divisor, and no
  // larger than it.
  Flt rest = fma(-trunc(r / divisor), divisor, r);
  return select(rest < 0.0, rest + divisor, rest);
}

/// The remainder of any operands.
Flt longRemainder(Flt dividend, Flt divisor) {
  Scope &scope = *dividend.scope;
  if (dividend.isF32()) { // In f64 the denormals are normal and a step removes more bits.
    FloatType wide = scope.builder.getF64Type();
    return convert(longRemainder(convert(dividend, wide), convert(divisor, wide)),
                   scope.builder.getF32Type());
  }
  Flt x = abs(dividend), y = abs(divisor);
  Bool regular = (x < x.infinity()) & (y < x.infinity()) & (y > 0.0);
  x = select(regular, x, 0.0);
  y = select(regular, y, 1.0);

  // A very small y is first replaced by y * 2^120, a multiple of it. Once the rest is below that,
  // the rest takes the same factor: it is exact then, and the division goes on as if both had been
  // scaled from the start.
  Bool isScaled = y < 0x1p-900;
  y = select(isScaled, y * 0x1p120, y);
  auto asFlt = [&](Value value) { return Flt{{value, &scope}}; };
  auto asBool = [&](Value value) { return Bool{{value, &scope}}; };
  SmallVector<Value> state = loop(
      scope, {x.value, isScaled.value},
      [&](ValueRange now) { return (asFlt(now[0]) >= y) | asBool(now[1]); },
      [&](ValueRange now) -> SmallVector<Value> {
        Flt rest = divideStep(asFlt(now[0]), y);
        Bool below = rest < y, pending = asBool(now[1]);
        return {select(below & pending, rest * 0x1p120, rest).value, (pending & !below).value};
      });
  Flt rest = select(isScaled, asFlt(state[0]) * 0x1p-120, asFlt(state[0]));

  Flt result = copysign(rest, dividend);
  Flt infinity = rest.infinity();
  Bool whole = (abs(divisor) == infinity) & (abs(dividend) < infinity);
  // One NaN operand is the result; of two, the first.
  Flt noNumber = select(unordered(divisor, divisor), divisor, rest.nan());
  noNumber = select(unordered(dividend, dividend), dividend, noNumber);
  return select(regular, result, select(whole, dividend, noNumber));
}

} // namespace

Flt remainder(Flt dividend, Flt divisor) {
  Flt x = abs(dividend), y = abs(divisor);
  // All integers up to twice this bound are exact, so that a rounded quotient's integer part is
  // that of the quotient, or one more where it was rounded up to an integer. The rest is exact
  // either way: a multiple of the last bit of the divisor, and no larger than it.
  Bool isSmall = (x < y * x.pick(0x1p22, 0x1p51)) & (y < y.infinity());
  auto shortRemainder = [&] {
    Flt rest = fma(-trunc(x / y), y, x);
    return copysign(select(rest < 0.0, rest + y, rest), dividend);
  };
  return branch(
      anyLane(!isSmall), [&] { return longRemainder(dividend, divisor); }, shortRemainder,
      dividend);
}

} // namespace mlir::weft::expand
