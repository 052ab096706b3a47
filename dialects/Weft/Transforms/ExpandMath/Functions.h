// Declares the expansions of ExpandMath, one per function, and the steps they share. Arguments and
// results are f32 or f64, scalars or vectors; every special value comes out as C99 Annex F says.
#pragma once

#include "Weft/Transforms/ExpandMath/Builder.h"

namespace mlir::weft {
enum class SpecialFunction : uint32_t;
}

namespace mlir::weft::expand {

// Special.cpp
/// The function of a weft.special.
Flt special(SpecialFunction function, ArrayRef<Flt> operands);
/// What `f` gives of an f64, of an f32 by way of it, which leaves one rounding.
Flt inF64(Flt x, llvm::function_ref<Flt(Flt)> f);
Flt inF64(Flt x, Flt y, llvm::function_ref<Flt(Flt, Flt)> f);
Flt inF64(Flt x, Flt y, Flt z, llvm::function_ref<Flt(Flt, Flt, Flt)> f);
/// The result, but x where that is NaN.
inline Flt keepNaN(Flt x, Flt result) { return select(unordered(x, x), x, result); }

// Erf.cpp
Flt erf(Flt x);

// Erfc.cpp
Flt erfc(Flt x);
/// exp(x^2) erfc(x).
Flt erfcx(Flt x);
Flt erfinv(Flt x);
/// The normal distribution, its logarithm and its inverse.
Flt ndtr(Flt x);
Flt logNdtr(Flt x);
Flt ndtri(Flt p);

// SinPi.cpp
/// sin(pi x) and cos(pi x).
Flt sinpi(Flt x);
Flt cospi(Flt x);
/// sin(pi x) / (pi x).
Flt sinc(Flt x);
/// Of an f64; of a NaN some number or other.
Flt sinpiOfF64(Flt x);
Flt cospiOfF64(Flt x);

// Gamma.cpp
Flt gamma(Flt x);
/// log(|gamma(x)|).
Flt lgamma(Flt x);
/// The derivative of lgamma.
Flt digamma(Flt x);
/// log(|gamma(a) gamma(b) / gamma(a + b)|).
Flt betaln(Flt a, Flt b);

/// Of an f64 from 0 on.
Flt lgammaOfPositive(Flt x);
/// log(gamma(1 + a)) for an f64 from 0 to 1.
Flt lgammaNextToOne(Flt a);
/// log(gamma(a + b) / gamma(a)) of f64s above 0, with few digits lost where b is small.
Flt riseOfLgamma(Flt a, Flt b);
/// digamma of an f64 above 0.
Flt digammaOfPositive(Flt x);
/// gamma(x) = factor 2^exponent of an f64 above 0, with more digits than an f64 has in the
/// exponent.
struct ScaledGamma {
  Flt factor;
  Pair exponent;
};
ScaledGamma scaledGamma(Flt x);
/// What Stirling's formula leaves of lgamma, from 8 on.
Flt stirlingRest(Flt x);

// IncompleteGamma.cpp
/// mu - log(1 + mu) of an f64 above -1.
Flt excessOfLog(Flt mu);
/// The shares of gamma(a) up to x and beyond, and the derivative of the former by a.
Flt gammainc(Flt a, Flt x);
Flt gammaincc(Flt a, Flt x);
Flt gammaincDa(Flt a, Flt x);

// IncompleteBeta.cpp
/// The share of beta(a, b) up to x.
Flt betainc(Flt a, Flt b, Flt x);

// Zeta.cpp
/// The sum of (q + k)^-s over k from 0 on, for s > 1; for q < 0 of whole s alone.
Flt zeta(Flt s, Flt q);

// Bessel.cpp
/// The modified Bessel functions of the first kind, and the same times exp(-|x|).
Flt i0(Flt x);
Flt i0e(Flt x);
Flt i1(Flt x);
Flt i1e(Flt x);

// Exp.cpp
Flt exp(Flt x);
Flt exp2(Flt x);
Flt expm1(Flt x);
/// p * 2^n, rounded once where it underflows; n may leave the range of normal exponents by a factor
/// of two.
Flt scaleByPow2(Flt p, Int n);
/// exp(high + low) of an f64, where `low` is small.
Flt expOfSum(Flt high, Flt low);
/// exp(x) / 4 of an f64 from 0 to 710.5, as a sum of two.
Pair quarterOfExp(Flt x);
/// exp(x) without a guard against overflow and underflow, for |x| < 700 (f64) or 87 (f32).
Flt expInRange(Flt x);

// Log.cpp
Flt log(Flt x);
Flt log2(Flt x);
Flt log10(Flt x);
Flt log1p(Flt x);
/// log(1+f) - f for 1 + f between sqrt(1/2) and sqrt(2), with an error far below the last place of
/// f unless f is large.
Flt logTail(Flt f);
/// log(x) of a positive finite number as a sum of two with a few digits more.
Pair logOfSum(Flt x);

/// x = 2^exponent * (1 + fraction) with 1 + fraction between sqrt(1/2) and sqrt(2). Any x that is
/// not positive and finite gives some numbers or other.
struct Decomposed {
  Int exponent;
  Flt fraction; ///< Exact.
};
Decomposed decompose(Flt x, bool mayBeDenormal = true);

// Tanh.cpp
Flt tanh(Flt x);

// Trig.cpp
Flt sin(Flt x);
Flt cos(Flt x);
/// sin and cos of one argument, which share its reduction.
std::pair<Flt, Flt> sincos(Flt x);
Flt tan(Flt x);

// InverseTrig.cpp
Flt atan(Flt x);
Flt atan2(Flt y, Flt x);
Flt asin(Flt x);
Flt acos(Flt x);
Flt hypot(Flt x, Flt y);

// Hyperbolic.cpp
Flt sinh(Flt x);
Flt cosh(Flt x);
Flt asinh(Flt x);
Flt acosh(Flt x);
Flt atanh(Flt x);
Flt cbrt(Flt x);

// TrigReduction.cpp
/// x = (quadrant + 4 k) pi/2 + angle for some integer k, |angle| about pi/4 at most.
struct ReducedAngle {
  Pair angle;
  Int quadrant; ///< Only its two lowest bits count.
};
/// Reduces an f64. Where `low` is false the low part of the angle is left out, which is enough for
/// an f32 argument.
ReducedAngle reduceAngle(Flt x, bool low);
/// The bound of what `reduceF32` takes.
constexpr double shortReductionTo = 0x1p17;
/// Reduces an f32 below the bound in magnitude, in f32; any other gives some numbers or other.
/// Where the angle is tiny the low part may be a 16th of it.
ReducedAngle reduceF32(Flt x);

// Pow.cpp
/// The integers from -8 to 8 (f32) or -1 to 4 (f64), and 0.5 and -0.5, are short exponents: their
/// powers are products, quotients and roots, whether the exponent is a constant or a value.
Flt pow(Flt x, Flt y);
/// log2(x) of a positive finite f64 as a sum of two with about 15 digits more.
Pair log2OfSum(Flt x);
/// 2^(high + low) of an f64, times a factor that is rounded with it where the result underflows.
Flt exp2OfSum(Flt high, Flt low, std::optional<Flt> factor = std::nullopt);
/// Whether this is a constant, and a short exponent.
bool isShortPower(Value exponent);

// Remainder.cpp
/// C's fmod, exact: by one division where all quotients are small, else by a loop that ends when
/// all lanes are done; not for scalable vectors.
Flt remainder(Flt dividend, Flt divisor);

} // namespace mlir::weft::expand
