// Elementwise functions made of ops.

#ifndef WEFT_IR_COMPOSITES
#define WEFT_IR_COMPOSITES

include "Weft/IR/CompositeBase.td"

class Weft_ElementwiseFn<string name> : Weft_CompositeFn<name> {
  let resultShape = "of the shape that the operands broadcast to";
  let resultDType = "their dtype";
  let raises = [shapes_do_not_broadcast];
}
class Weft_UnaryFn<string name, Weft_TensorOf operand> : Weft_ElementwiseFn<name> {
  let parameters = (params operand:$x);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [];
  let samples = samplesOfOne;
}
class Weft_UnaryFloatFn<string name, Weft_TensorOf operand = Weft_Float> : Weft_UnaryFn<name, operand> {
  let promotion = "floating";
}
class Weft_TestFn<string name> : Weft_UnaryFn<name, Weft_Computable> { let resultDType = "bool"; }
class Weft_BinaryFn<string name, Weft_TensorOf operand> : Weft_ElementwiseFn<name> {
  let parameters = (params operand:$x, operand:$y);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of x"];
  let samples = samplesOfTwo;
  let promotion = "common";
}
class Weft_BinaryFloatFn<string name> : Weft_BinaryFn<name, Weft_Float> { let promotion = "floating"; }

//===----------------------------------------------------------------------===//
// Limits, whole numbers, what is no number
//===----------------------------------------------------------------------===//

def Weft_ClipFn : Weft_ElementwiseFn<"clip"> {
  let summary = "Each element, but at least min and at most max; one that is not given is no limit.";
  let parameters = (params Weft_Number:$x, Weft_Optional<Weft_Number>:$min, Weft_Optional<Weft_Number>:$max);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of x",
                       "of a shape that broadcasts with that of x"];
  let promotion = "common";
  let body = (if_given $max, (minimum (if_given $min, (maximum $x, $min), $x), $max),
                             (if_given $min, (maximum $x, $min), $x));
  let samples = samplesOfThree;
  let numpy = "np.minimum(np.maximum(x, min), max)";
  let signedZeros = 0;
  let example = "clip([1, 5, 9], 2, 6)  ->  [2, 5, 6]";
  let method = 1;
}

def Weft_RoundFn : Weft_UnaryFn<"round", Weft_Computable> {
  let summary = "The nearest number of so many decimals, of two the one whose last digit is even.";
  let description = "Has a gradient of 0.";
  let parameters = (params Weft_Computable:$x, Weft_Int<"0", "how many decimals, of integers whole digits if negative">:$decimals);
  let cppBody = "round";
  let samples = !listconcat(!foreach(one, samplesOfOne, Sample<one.operands, ["0"]>),
                            [Sample<["finite 2x3"], ["2"]>, Sample<["finite 33"], ["-1"]>]);
  let numpy = "x if x.dtype == bool else np.round(x, decimals)";
  let tolerance = "ulps(1)";
  let example = "round([0.5, 1.5, -1.4])  ->  [0, 2, -1]";
  let method = 1;
  let names = [Np<"around">, Np<"rint">];
}

def Weft_TruncFn : Weft_UnaryFn<"trunc", Weft_Ordered> {
  let summary = "The whole number next to x on the side of 0.";
  let description = "Has a gradient of 0.";
  let cppBody = "trunc";
  let numpy = "x if x.dtype.kind != 'f' else np.trunc(x)";
  let example = "trunc([1.7, -1.7])  ->  [1, -1]";
}

def Weft_IsnanFn : Weft_TestFn<"isnan"> {
  let summary = "Whether each element is NaN.";
  let body = (ne $x, $x);
  let numpy = "np.isnan(x)";
  let example = "isnan([1.0, nan, inf])  ->  [false, true, false]";
}

def Weft_IsinfFn : Weft_TestFn<"isinf"> {
  let summary = "Whether each element is infinite, of either sign.";
  let cppBody = "isinf";
  let numpy = "np.isinf(x)";
  let example = "isinf([1.0, nan, -inf])  ->  [false, false, true]";
}

def Weft_IsfiniteFn : Weft_TestFn<"isfinite"> {
  let summary = "Whether each element is neither infinite nor NaN.";
  let cppBody = "isfinite";
  let numpy = "np.isfinite(x)";
  let example = "isfinite([1.0, nan, inf])  ->  [true, false, false]";
}

def Weft_NanToNumFn : Weft_UnaryFn<"nan_to_num", Weft_Ordered> {
  let moves = 1; // the numbers are of the dtype
  let summary = "Each element, but numbers in place of NaN and of infinity.";
  let parameters = (params Weft_Ordered:$x, star, Weft_Real<"0", "what NaN becomes">:$nan,
                           Weft_OptionalReal<"what infinity becomes; the largest number of the dtype if not given">:$posinf,
                           Weft_OptionalReal<"what -infinity becomes; the lowest number if not given">:$neginf);
  let cppBody = "nan_to_num";
  let numpy = "np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)";
  let samples = !listconcat(samplesOfOne, [Sample<["special"], ["1", "2", "3"]>]);
  let example = "nan_to_num([1.0, nan, inf], {.posinf = 9})  ->  [1, 0, 9]";
}

//===----------------------------------------------------------------------===//
// Quotients, logarithms, powers
//===----------------------------------------------------------------------===//

def Weft_FloorDivideFn : Weft_BinaryFn<"floor_divide", Weft_Number> {
  let summary = "The quotient, rounded down, as Python's //.";
  let description = "Of an integer by 0 it is 0; of floating numbers by 0 and of infinite ones it is their quotient, as the array API has it: of 1 by -inf -0.";
  let cppBody = "floor_divide";
  let numpy = "floor_divide(x, y)";
  let example = "floor_divide([7, -7], 2)  ->  [3, -4]";
}

def Weft_ReciprocalFn : Weft_UnaryFloatFn<"reciprocal", Weft_Inexact> {
  let summary = "1 / x.";
  let body = (div 1, $x);
  let numpy = "1 / x";
  let example = "reciprocal([2.0, 4.0])  ->  [0.5, 0.25]";
}

def Weft_Exp2Fn : Weft_UnaryFloatFn<"exp2", Weft_Inexact> {
  let summary = "2 to the power of x.";
  let body = (pow 2, $x);
  let numpy = "np.exp2(x)";
  let tolerance = "ulps(2) + smallest()";
  let example = "exp2([3.0, -1.0])  ->  [8, 0.5]";
}

def Weft_LogaddexpFn : Weft_BinaryFloatFn<"logaddexp"> {
  let summary = "log(exp(x) + exp(y)), without overflow.";
  let cppBody = "logaddexp";
  let numpy = "np.logaddexp(x, y)";
  let tolerance = "sums(4)";
  let signedZeros = 0;
  let example = "logaddexp(0.0, 0.0)  ->  0.6931472";
}

def Weft_CopysignFn : Weft_BinaryFloatFn<"copysign"> {
  let summary = "The size of x with the sign of y, which zeros have as well.";
  let cppBody = "copysign";
  let numpy = "np.copysign(x, y)";
  let example = "copysign([1.0, -2.0], -0.0)  ->  [-1, -2]";
}

def Weft_FmaxFn : Weft_BinaryFn<"fmax", Weft_Number> {
  let summary = "The larger of two tensors, element by element; the other where one is NaN.";
  let body = (where (ne $x, $x), $y, (where (ne $y, $y), $x, (maximum $x, $y)));
  let numpy = "np.fmax(x, y)";
  let signedZeros = 0;
  let example = "fmax([1.0, nan], [2.0, 3.0])  ->  [2, 3]";
}

def Weft_FminFn : Weft_BinaryFn<"fmin", Weft_Number> {
  let summary = "The smaller of two tensors, element by element; the other where one is NaN.";
  let body = (where (ne $x, $x), $y, (where (ne $y, $y), $x, (minimum $x, $y)));
  let numpy = "np.fmin(x, y)";
  let signedZeros = 0;
  let example = "fmin([1.0, nan], [2.0, 3.0])  ->  [1, 3]";
}

def Weft_HeavisideFn : Weft_BinaryFloatFn<"heaviside"> {
  let summary = "0 where x is negative, 1 where it is positive, y where it is 0.";
  let body = (where (lt $x, 0), 0, (where (gt $x, 0), 1, (where (eq $x, 0), $y, $x)));
  let numpy = "np.heaviside(x, y)";
  let example = "heaviside([-2.0, 0.0, 2.0], 0.5)  ->  [0, 0.5, 1]";
}

def Weft_XlogyFn : Weft_BinaryFloatFn<"xlogy"> {
  let summary = "x * log(y), and 0 where x is 0 and y is no NaN.";
  let cppBody = "xlogy";
  let domain = "positive";
  let numpy = "np.where((x == 0) & (y == y), 0, x * np.log(y))";
  let tolerance = "ulps(3) + smallest()";
  let signedZeros = 0;
  let example = "xlogy([0.0, 2.0], [0.0, 1.0])  ->  [0, 0]";
}

def Weft_Xlog1pyFn : Weft_BinaryFloatFn<"xlog1py"> {
  let summary = "x * log(1 + y), exact near a y of 0, and 0 where x is 0 and y is no NaN.";
  let cppBody = "xlog1py";
  let numpy = "np.where((x == 0) & (y == y), 0, x * np.log1p(y))";
  let tolerance = "ulps(3) + smallest()";
  let signedZeros = 0;
  let example = "xlog1py([0.0, 2.0], [-1.0, 1.0])  ->  [0, 1.3862944]";
}

def Weft_PolygammaFn : Weft_UnaryFloatFn<"polygamma"> {
  let summary = "The derivative of order n of `digamma`.";
  let parameters = (params Weft_Int<"", "the order, from 0 on">:$n, Weft_Float:$x);
  let raises = [Raises<ValueError, "the order is negative">];
  let cppBody = "polygamma";
  let domain = "positive";
  let samples = !listconcat(!foreach(one, samplesOfOne, Sample<one.operands, ["1"]>),
                            [Sample<["finite 33"], ["0"]>, Sample<["[1, 2, 20]"], ["4"]>]);
  let numpy = "polygamma(n, x)";
  let tolerance = "np.maximum(ulps(8), 8 * np.finfo(x.dtype).eps) + smallest()";
  let example = "polygamma(1, [1.0, 2.0])  ->  [1.644934, 0.64493406]";
}

def Weft_EntrFn : Weft_UnaryFloatFn<"entr"> {
  let summary = "-x * log(x), the summands of an entropy: 0 of 0, -inf of negative numbers.";
  let cppBody = "entr";
  let domain = "positive";
  let numpy = "np.where(x < 0, -np.inf, np.where(x == 0, 0, -x * np.log(x)))";
  let tolerance = "ulps(3) + smallest()";
  let signedZeros = 0;
  let example = "entr([0.0, 1.0])  ->  [0, 0]";
}

def Weft_LogitFn : Weft_UnaryFloatFn<"logit"> {
  let summary = "log(x / (1 - x)), of which `logistic` is the inverse; NaN below 0 and above 1.";
  let cppBody = "logit";
  let numpy = "np.log(x / (1 - x))";
  let tolerance = "ulps(4)";
  let signedZeros = 0;
  let samples = [Sample<["special"]>, Sample<["[[0, 1], [-1, 2]]"]>];
  let example = "logit([0.5, 0.75])  ->  [0, 1.0986123]";
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

def Weft_Deg2radFn : Weft_UnaryFloatFn<"deg2rad"> {
  let summary = "Degrees in radians.";
  let body = (mul $x, "0.017453292519943295");
  let numpy = "np.deg2rad(x)";
  let tolerance = "ulps(2) + smallest()";
  let example = "deg2rad(180.0)  ->  3.1415927";
  let names = [Np<"radians">];
}

def Weft_Rad2degFn : Weft_UnaryFloatFn<"rad2deg"> {
  let summary = "Radians in degrees.";
  let body = (mul $x, "57.29577951308232");
  let numpy = "np.rad2deg(x)";
  let tolerance = "ulps(2) + smallest()";
  let example = "rad2deg(3.1415927)  ->  180";
  let names = [Np<"degrees">];
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

class Weft_PartFn<string name> : Weft_UnaryFn<name, Weft_Numeric> {
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let cppBody = name;
  let numpy = "np." # name # "(x)";
}
def Weft_RealFn : Weft_PartFn<"real"> {
  let summary = "The real part of each element, of a real one itself.";
  let example = "real([1.0, -2.0])  ->  [1, -2]";
}
def Weft_ImagFn : Weft_PartFn<"imag"> {
  let summary = "The imaginary part of each element, of a real one 0.";
  let example = "imag([1.0, -2.0])  ->  [0, 0]";
}
def Weft_ConjFn : Weft_PartFn<"conj"> {
  let summary = "Each element with the sign of its imaginary part changed, of a real one itself.";
  let resultDType = "x's dtype";
  let example = "conj([1.0, -2.0])  ->  [1, -2]";
}
def Weft_SignFn : Weft_UnaryFn<"sign", Weft_Numeric> {
  let summary = "-1, 0 or 1 by the sign of each element, of a complex one x / |x|; NaN stays NaN.";
  let description = "Of -0.0 it is 0.0.";
  let cppBody = "sign";
  let numpy = "np.sign(x)";
  let tolerance = "ulps(2) * (x.dtype.kind == 'c')";
  let example = "sign([5, -2, 0])  ->  [1, -1, 0]";
}
def Weft_AngleFn : Weft_UnaryFloatFn<"angle", Weft_Inexact> {
  let summary = "The angle between -pi and pi of each element as a point of the complex plane; of a real one 0 or pi.";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let cppBody = "angle";
  let numpy = "np.angle(x)";
  let tolerance = "ulps(4) + smallest()";
  let example = "angle([1.0, -1.0])  ->  [0, 3.1415927]";
}

#endif // WEFT_IR_COMPOSITES
