// Expands pow(x, y) = 2^(y log2 |x|) with the sign and the special values of C99 Annex F, or as a
// product, quotient or root where the value of y is one of a few numbers. For f64 the logarithm is
// computed as a sum of two doubles with about 68 significant bits (Tang, ACM TOMS 17, 1991; the
// sums and products of Dekker, Numerische Mathematik 18, 1971); for f32 plain f64 has digits to
// spare.
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

#include "mlir/IR/Matchers.h"

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

// Sums and products of pairs that leave out the last step, which would make the low part as small
// as it can be: a few bits of the 106 are lost, far fewer than there are to spare, and the chain of
// dependent steps is much shorter.

Pair operator*(Pair a, Pair b) {
  Pair product = twoProduct(a.high, b.high);
  return {product.high, product.low + fma(a.high, b.low, a.low * b.high)};
}

/// c + a, where c is larger than a.
Pair operator+(const double (&c)[2], Pair a) {
  Pair sum = fastTwoSum(a.high.like(c[0]), a.high);
  return {sum.high, sum.low + (a.low + c[1])};
}

} // namespace

Pair log2OfSum(Flt x) {
  Decomposed parts = decompose(x);
  Flt f = parts.fraction;
  // s = f / (2 + f) as a sum of two, the second of which is the remainder of the first times the
  // reciprocal.
  Pair denominator = fastTwoSum(x.like(2.0), f);
  Flt reciprocal = 1.0 / denominator.high;
  Flt quotient = f * reciprocal;
  Flt remainder = fma(-quotient, denominator.low, fma(-quotient, denominator.high, f));
  Pair s = {quotient, remainder * reciprocal};
  Pair z = s * s;
  // s (c1 + z (c3 + z (c5 + z T(z)))); T contributes too little to need more than a double.
  Flt tail = z.high * polynomial(z.high, log2Tail);
  Pair series = s * (log2C1 + z * (log2C3 + z * (log2C5 + Pair{tail, tail.like(0.0)})));
  Pair sum = fastTwoSum(toFloat(parts.exponent), series.high);
  return {sum.high, sum.low + series.low};
}

Flt exp2OfSum(Flt high, Flt low, std::optional<Flt> factor) {
  Rounded n = takeInteger(high + high.format().shifter());
  Pair fraction = twoSum(high - n.asFloat, low);
  // Times ln 2, and the exponential of that.
  Flt r = fraction.high * ln2F64[0];
  Flt rLow = fma(fraction.low, ln2F64[0],
                 fma(fraction.high, ln2F64[1], fma(fraction.high, ln2F64[0], -r)));
  Flt q = polynomial(r, expF64);
  Pair sum = fastTwoSum(high.like(1.0), r);
  Flt p = sum.high + (sum.low + fma(r * r, q, fma(r, rLow, rLow)));
  return scaleByPow2(factor ? p * *factor : p, n.asInt);
}

namespace {

/// The magnitude of pow for f64: 2^(y log2(x)), x >= 0, NaN aside.
Flt powMagnitudeF64(Flt x, Flt y) {
  Pair logarithm = log2OfSum(x);
  Flt infinity = x.infinity();
  // With infinite logarithms for 0 and infinity the product below gives the special values by
  // itself.
  Bool isZero = x == 0.0, isInfinite = x == infinity;
  Flt logHigh = select(isZero, -infinity, select(isInfinite, infinity, logarithm.high));
  Pair product = twoProduct(y, logHigh);
  Flt low = fma(y, logarithm.low, product.low);
  Flt exponent = atMost(atLeast(product.high, -1100.0), 1100.0);
  low = select(exponent == product.high, low, 0.0);
  return exp2OfSum(exponent, low);
}

/// The magnitude of pow for f32 arguments that were extended to f64; the result is to be rounded to
/// f32.
Flt powMagnitudeF32(Flt x, Flt y) {
  Decomposed parts = decompose(x, /*mayBeDenormal=*/false); // A denormal f32 is a normal f64.
  Flt f = parts.fraction;
  Flt s = f / (f + 2.0);
  Flt z = s * s;
  Flt natural = s * fma(z, polynomial(z, logMid), 2.0);
  Flt logarithm = fma(natural, log2OfEF64[0], toFloat(parts.exponent));
  Flt infinity = x.infinity();
  logarithm = select(x == 0.0, -infinity, select(x == infinity, infinity, logarithm));
  Flt exponent = atMost(atLeast(y * logarithm, -200.0), 200.0);
  Rounded n = takeInteger(exponent + x.format().shifter());
  Flt r = (exponent - n.asFloat) * ln2F64[0];
  Flt p = 1.0 + fma(r * r, polynomial(r, expMid), r);
  return p * pow2(n.asInt, x.format());
}

/// pow of any operands, by the logarithm.
Flt powByLogarithm(Flt base, Flt power) {
  OpBuilder &builder = base.scope->builder;
  Flt x = convert(base, builder.getF64Type()), y = convert(power, builder.getF64Type());
  Flt magnitude = abs(x);
  Flt result = base.isF32() ? powMagnitudeF32(magnitude, y) : powMagnitudeF64(magnitude, y);
  result = select(magnitude == 1.0, 1.0, result); // An infinite y would give 0 * infinity.

  // A negative base: the sign of an odd power, and no real result between the integers. An infinite
  // y is even.
  Flt halfY = 0.5 * y;
  Bool isInteger = trunc(y) == y;
  Bool isOdd = isInteger & !(trunc(halfY) == halfY);
  result = select(isOdd, copysign(result, x), result);
  result = select((x < 0.0) & (magnitude < x.infinity()) & !isInteger, x.nan(), result);

  result = select(unordered(x, y), select(unordered(x, x), x, y), result);
  result = select((x == 1.0) | (y == 0.0), 1.0, result);
  return convert(result,
                 base.isF32() ? FloatType(builder.getF32Type()) : FloatType(builder.getF64Type()));
}

//===----------------------------------------------------------------------===//
// Short powers
//===----------------------------------------------------------------------===//

// Which way a power takes is a matter of the exponent's value alone, so that a constant and the
// same number at run time give the same bits.

/// The integers whose powers are products or quotients; of f64 those that a sum of two products
/// gives to the last place.
constexpr int kLeastF32 = -8, kMostF32 = 8, kLeastF64 = -1, kMostF64 = 4;

bool isShort(double exponent, bool f32) {
  if (std::abs(exponent) == 0.5) return true;
  return exponent == std::trunc(exponent) && exponent >= (f32 ? kLeastF32 : kLeastF64) &&
         exponent <= (f32 ? kMostF32 : kMostF64);
}

Bool isShort(Flt exponent) {
  Bool inRange = (exponent >= exponent.pick<double>(kLeastF32, kLeastF64)) &
                 !(exponent > exponent.pick<double>(kMostF32, kMostF64));
  return (inRange & (trunc(exponent) == exponent)) | (abs(exponent) == 0.5);
}

/// sqrt(x), but 0 of -0 and infinity of -infinity, as pow has them.
Flt root(Flt x) { return select(x == -x.infinity(), x.infinity(), sqrt(x) + 0.0); }

/// x, x^2, ... up to `most`; in f64, of an f32: exact up to the square, and with 29 bits to spare
/// from there on.
SmallVector<Flt> products(Flt x, int most) {
  SmallVector<Flt> powers{x};
  for (int n = 2; n <= most; ++n)
    powers.push_back(n % 2 == 0 ? powers[n / 2 - 1] * powers[n / 2 - 1] : powers[n - 2] * x);
  return powers;
}

/// x^3 or x^4 of an f64: the square as an exact sum of two, and its second part's share.
Flt cubeOrFourth(Flt x, bool fourth) {
  Pair square = twoProduct(x, x);
  Flt factor = fourth ? square.high : x;
  Flt plain = square.high * factor;
  Flt rest = square.low * factor;
  Flt result = fma(square.high, factor, fourth ? rest + rest : rest);
  // Where a part is infinite the sum is not a number.
  return select(abs(plain) < x.infinity(), result, plain);
}

/// x^n of an n that is short.
Flt shortPower(Flt x, double n) {
  OpBuilder &builder = x.scope->builder;
  if (n == 0) return x.like(1.0);
  if (n == 1) return x;
  if (n == 2) return x * x;
  if (n == -1) return 1.0 / x;
  if (n == 0.5) return root(x);
  if (n == -0.5) return 1.0 / root(x);
  if (!x.isF32()) return cubeOrFourth(x, n == 4);
  const int count = static_cast<int>(std::abs(n));
  Flt product = products(convert(x, builder.getF64Type()), count).back();
  return convert(n < 0 ? 1.0 / product : product, builder.getF32Type());
}

/// The same of an n that is a value; any result if it is not short.
Flt shortPower(Flt x, Flt n) {
  OpBuilder &builder = x.scope->builder;
  Flt result = x.like(1.0);
  if (x.isF32()) {
    // Products and quotients of f64, rounded to f32, are those of f32.
    Flt size = convert(abs(n), builder.getF64Type());
    Flt product = size.like(1.0);
    for (auto [i, power] : llvm::enumerate(products(convert(x, builder.getF64Type()), kMostF32)))
      product = select(size == static_cast<double>(i + 1), power, product);
    product = select(convert(n, builder.getF64Type()) < 0.0, 1.0 / product, product);
    result = convert(product, builder.getF32Type());
    result = select(n == 1.0, x, result); // Conversions change NaNs that signal.
  } else {
    for (int i = kLeastF64; i <= kMostF64; ++i)
      result = select(n == static_cast<double>(i), shortPower(x, static_cast<double>(i)), result);
  }
  Flt squareRoot = root(x);
  squareRoot = select(n < 0.0, 1.0 / squareRoot, squareRoot);
  return select(abs(n) == 0.5, squareRoot, result);
}

/// The number that all lanes are, if it is a constant.
std::optional<double> constantOf(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute))) return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attribute);
  if (!number) return std::nullopt;
  return number.getValueAsDouble();
}

} // namespace

bool isShortPower(Value exponent) {
  std::optional<double> number = constantOf(exponent);
  return number && isShort(*number, getElementTypeOrSelf(exponent.getType()).isF32());
}

Flt pow(Flt base, Flt power) {
  if (isShortPower(power.value)) return shortPower(base, *constantOf(power.value));
  if (constantOf(power.value)) return powByLogarithm(base, power);
  Bool isShortLane = isShort(power);
  Value anyShort = anyLane(isShortLane), anyLong = anyLane(!isShortLane);
  if (!anyShort) return select(isShortLane, shortPower(base, power), powByLogarithm(base, power));
  // Either way is long enough to be left out where no lane takes it.
  Flt result =
      branch(anyLong, [&] { return powByLogarithm(base, power); }, [&] { return base; }, base);
  return branch(
      anyShort, [&] { return select(isShortLane, shortPower(base, power), result); },
      [&] { return result; }, base);
}

} // namespace mlir::weft::expand
