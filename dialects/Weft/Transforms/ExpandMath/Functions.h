// Declares the expansions of ExpandMath, one per function, and the steps they share. Arguments and
// results are f32 or f64, scalars or vectors; every special value comes out as C99 Annex F says.
#pragma once

#include "Weft/Transforms/ExpandMath/Builder.h"

namespace mlir::weft::expand {

// Erf.cpp
Flt erf(Flt x);

// Exp.cpp
Flt exp(Flt x);
Flt exp2(Flt x);
Flt expm1(Flt x);
/// p * 2^n, rounded once where it underflows; n may leave the range of normal exponents by a factor
/// of two.
Flt scaleByPow2(Flt p, Int n);
/// exp(x) without a guard against overflow and underflow, for |x| < 700 (f64) or 87 (f32).
Flt expInRange(Flt x);

// Log.cpp
Flt log(Flt x);
Flt log2(Flt x);
Flt log10(Flt x);
Flt log1p(Flt x);

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

// TrigReduction.cpp
/// x = (quadrant + 4 k) pi/2 + angle for some integer k, |angle| about pi/4 at most.
struct ReducedAngle {
  Pair angle;
  Int quadrant; ///< Only its two lowest bits count.
};
/// Reduces an f64. Where `low` is false the low part of the angle is left out, which is enough for
/// an f32 argument.
ReducedAngle reduceAngle(Flt x, bool low);

// Pow.cpp
/// The integers from -8 to 8 (f32) or -1 to 4 (f64), and 0.5 and -0.5, are short exponents: their
/// powers are products, quotients and roots, whether the exponent is a constant or a value.
Flt pow(Flt x, Flt y);
/// Whether this is a constant, and a short exponent.
bool isShortPower(Value exponent);

// Remainder.cpp
/// C's fmod, exact: by one division where all quotients are small, else by a loop that ends when
/// all lanes are done; not for scalable vectors.
Flt remainder(Flt dividend, Flt divisor);

} // namespace mlir::weft::expand
