// Special functions: elementwise ops whose scalar code weft-expand-math has formulas for.

#ifndef WEFT_IR_SPECIAL_OPS
#define WEFT_IR_SPECIAL_OPS

include "Weft/IR/ElementwiseOps.td"
include "mlir/IR/EnumAttr.td"

def Weft_SpecialFunction : I32EnumAttr<"SpecialFunction", "a function that the dialect math does not have", [
    I32EnumAttrCase<"erfc", 0>, I32EnumAttrCase<"erfcx", 1>, I32EnumAttrCase<"erfinv", 2>, I32EnumAttrCase<"ndtr", 3>,
    I32EnumAttrCase<"log_ndtr", 4>, I32EnumAttrCase<"ndtri", 5>, I32EnumAttrCase<"gamma", 6>, I32EnumAttrCase<"lgamma", 7>,
    I32EnumAttrCase<"digamma", 8>, I32EnumAttrCase<"i0", 9>, I32EnumAttrCase<"i0e", 10>, I32EnumAttrCase<"i1", 11>,
    I32EnumAttrCase<"i1e", 12>, I32EnumAttrCase<"sinpi", 13>, I32EnumAttrCase<"cospi", 14>, I32EnumAttrCase<"sinc", 15>,
    I32EnumAttrCase<"zeta", 16>, I32EnumAttrCase<"betaln", 17>, I32EnumAttrCase<"gammainc", 18>, I32EnumAttrCase<"gammaincc", 19>,
    I32EnumAttrCase<"gammainc_da", 20>, I32EnumAttrCase<"betainc", 21>, I32EnumAttrCase<"tan", 22>, I32EnumAttrCase<"atan", 23>,
    I32EnumAttrCase<"atan2", 24>, I32EnumAttrCase<"asin", 25>, I32EnumAttrCase<"acos", 26>, I32EnumAttrCase<"sinh", 27>,
    I32EnumAttrCase<"cosh", 28>, I32EnumAttrCase<"asinh", 29>, I32EnumAttrCase<"acosh", 30>, I32EnumAttrCase<"atanh", 31>,
    I32EnumAttrCase<"cbrt", 32>, I32EnumAttrCase<"hypot", 33>]> {
  let cppNamespace = "::mlir::weft";
}

def Weft_SpecialOp : Op<Weft_Dialect, "special", [Pure, Weft_StaysInLinalg, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "A special function of floating numbers, or of vectors of them.";
  let description = [{
    The scalar code of the ops below, as ops of the dialect math are of others. The pass weft-expand-math computes it.

    ```mlir
    %y = weft.special zeta(%s, %q) : f64
    ```
  }];
  let arguments = (ins Weft_SpecialFunction:$function, Variadic<FloatLike>:$operands);
  let results = (outs FloatLike:$y);
  let assemblyFormat = "$function `(` $operands `)` attr-dict `:` type($y)";
  let hasVerifier = 1;
}

class Weft_UnarySpecialOp<string mnemonic, TypeConstraint operand = Weft_Float> : Weft_UnaryFloatOp<mnemonic, operand> {
  let cost = 60;
  let tolerance = "ulps(4)";
}
class Weft_BinarySpecialOp<string mnemonic> : Weft_ElementwiseOp<mnemonic> {
  let results = (outs Weft_Any:$y);
  let promotion = "floating";
  let cost = 60;
  let tolerance = "ulps(4)";
  let domain = "nowhere";
}

//===----------------------------------------------------------------------===//
// The error function and the normal distribution
//===----------------------------------------------------------------------===//

def Weft_ErfcOp : Weft_UnarySpecialOp<"erfc"> {
  let summary = "1 - erf(x) of each element, exact where that is small.";
  let body = (math_erfc $x);
  // 2 / sqrt(pi).
  let vjp = [(mul $dy, (mul "-1.1283791670955126", (exp (neg (square $x)))))];
  let numpy = "erfc(x)";
  let tolerance = "ulps(3) + smallest()";
  let example = "erfc([-1, 0, 1])  ->  [1.8427008, 1, 0.1572992]";
}

def Weft_ErfcxOp : Weft_UnarySpecialOp<"erfcx"> {
  let summary = "exp(x^2) erfc(x) of each element, without overflow and underflow of the factors.";
  let body = (math_erfcx $x);
  let vjp = [(mul $dy, (erfcx_slope $x, $y))];
  let numpy = "erfcx(x)";
  let tolerance = "ulps(3) + smallest()";
  let example = "erfcx([-1, 0, 1])  ->  [5.0089803, 1, 0.42758358]";
}

def Weft_ErfinvOp : Weft_UnarySpecialOp<"erfinv"> {
  let summary = "The number whose erf each element is; NaN beyond -1 and 1.";
  let body = (math_erfinv $x);
  // sqrt(pi) / 2.
  let vjp = [(mul $dy, (mul "0.88622692545275801", (exp (square $y))))];
  let numpy = "erfinv(x)";
  let domain = "nowhere";
  let example = "erfinv([-0.5, 0, 0.99])  ->  [-0.47693628, 0, 1.8213866]";
}

def Weft_NdtrOp : Weft_UnarySpecialOp<"ndtr"> {
  let summary = "The distribution function of the standard normal distribution.";
  let body = (math_ndtr $x);
  // 1 / sqrt(2 pi).
  let vjp = [(mul $dy, (mul "0.3989422804014327", (exp (mul "-0.5", (square $x)))))];
  let numpy = "ndtr(x)";
  let tolerance = "ulps(4) + smallest()";
  let example = "ndtr([-1, 0, 1])  ->  [0.15865526, 0.5, 0.8413448]";
}

def Weft_LogNdtrOp : Weft_UnarySpecialOp<"log_ndtr"> {
  let summary = "The logarithm of `ndtr`, also where that is 0 or 1 as a number.";
  let body = (math_log_ndtr $x);
  let vjp = [(mul $dy, (log_ndtr_slope $x, $y))];
  let numpy = "log_ndtr(x)";
  let tolerance = "ulps(4) + smallest()";
  let example = "log_ndtr([-9, 0, 1])  ->  [-43.62815, -0.6931472, -0.17275378]";
}

def Weft_NdtriOp : Weft_UnarySpecialOp<"ndtri"> {
  let summary = "The number whose `ndtr` each element is; NaN below 0 and above 1.";
  let body = (math_ndtri $x);
  // sqrt(2 pi).
  let vjp = [(mul $dy, (mul "2.5066282746310002", (exp (mul "0.5", (square $y)))))];
  let numpy = "ndtri(x)";
  let domain = "nowhere";
  let example = "ndtri([0.025, 0.5, 0.975])  ->  [-1.959964, 0, 1.9599644]";
}

//===----------------------------------------------------------------------===//
// The gamma function and its kin
//===----------------------------------------------------------------------===//

def Weft_GammaOp : Weft_UnarySpecialOp<"gamma"> {
  let summary = "The gamma function, (x - 1)! of whole numbers; NaN at negative whole numbers.";
  let body = (math_gamma $x);
  let vjp = [(mul $dy, (mul $y, (digamma $x)))];
  let numpy = "gamma(x)";
  let tolerance = "ulps(4) + smallest()";
  let domain = "positive";
  let example = "gamma([0.5, 1, 5])  ->  [1.7724539, 1, 24]";
}

def Weft_LgammaOp : Weft_UnarySpecialOp<"lgamma"> {
  let summary = "The logarithm of the absolute value of the gamma function.";
  let description = "Where it vanishes between negative whole numbers it has as many digits as beside 1.";
  let body = (math_lgamma $x);
  let vjp = [(mul $dy, (digamma $x))];
  let numpy = "lgamma(x)";
  let tolerance = "np.maximum(ulps(4), 4 * np.finfo(x.dtype).eps)";
  let domain = "positive";
  let example = "lgamma([0.5, 3, 100])  ->  [0.5723649, 0.6931472, 359.13422]";
}

def Weft_DigammaOp : Weft_UnarySpecialOp<"digamma"> {
  let summary = "The derivative of `lgamma`; NaN at negative whole numbers.";
  let description = "Where it vanishes between negative whole numbers it has as many digits as beside 1.";
  let body = (math_digamma $x);
  let vjp = [(mul $dy, (zeta 2, $x))];
  let numpy = "digamma(x)";
  let tolerance = "np.maximum(ulps(4), 8 * np.finfo(x.dtype).eps)";
  let domain = "positive";
  let example = "digamma([0.5, 1, 10])  ->  [-1.96351, -0.5772157, 2.2517526]";
}

def Weft_ZetaOp : Weft_BinarySpecialOp<"zeta"> {
  let summary = "The zeta function of Hurwitz, the sum of 1 / (q + k)^x over k from 0 on.";
  let description = [{
    Infinite for an x of 1 and for whole q that are not positive, NaN below; for other negative q it is that of whole x alone.
    It has no derivative by x.
  }];
  let arguments = (ins Weft_Float:$x, Weft_Float:$q);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of x"];
  let assemblyFormat = "$x `,` $q attr-dict `:` custom<OperandTypes>(type($x), type($q))";
  let body = (math_zeta $x, $q);
  let vjp = [(no_derivative), (mul $dy, (neg (mul $x, (zeta (add $x, 1), $q))))];
  let samples = samplesOfTwo;
  let numpy = "zeta(x, q)";
  let tolerance = "np.maximum(ulps(8), 8 * np.finfo(x.dtype).eps) + smallest()";
  let example = "zeta([2, 4, 2], [1, 1, 3])  ->  [1.644934, 1.0823232, 0.39493406]";
}

def Weft_BetalnOp : Weft_BinarySpecialOp<"betaln"> {
  let summary = "The logarithm of the absolute value of gamma(a) gamma(b) / gamma(a + b).";
  let arguments = (ins Weft_Float:$a, Weft_Float:$b);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of a"];
  let assemblyFormat = "$a `,` $b attr-dict `:` custom<OperandTypes>(type($a), type($b))";
  let body = (math_betaln $a, $b);
  let vjp = [(mul $dy, (sub (digamma $a), (digamma (add $a, $b)))), (mul $dy, (sub (digamma $b), (digamma (add $a, $b))))];
  let samples = [Sample<["[1, 2, 30, 1000]", "[5, 2, 7, 2000]"]>, Sample<["[[1], [9]]", "[3, 40]"]>];
  let numpy = "betaln(a, b)";
  let tolerance = "np.maximum(ulps(4), 4 * np.finfo(a.dtype).eps)";
  let example = "betaln([1, 2, 100], [1, 3, 100])  ->  [0, -2.4849067, -139.66525]";
}

class Weft_IncompleteGammaOp<string mnemonic> : Weft_BinarySpecialOp<mnemonic> {
  let arguments = (ins Weft_Float:$a, Weft_Float:$x);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of a"];
  let assemblyFormat = "$a `,` $x attr-dict `:` custom<OperandTypes>(type($a), type($x))";
  let samples = [Sample<["[[1]]", "special"]>, Sample<["[[3]]", "special"]>, Sample<["[[30]]", "special"]>,
                 Sample<["special", "[[2]]"]>, Sample<["[1, 2, 30, 700]", "[1, 3, 25, 710]"]>];
  let tolerance = "ulps(64) + smallest()";
}
def Weft_GammaincOp : Weft_IncompleteGammaOp<"gammainc"> {
  let summary = "The share of gamma(a) that the integral of t^(a - 1) exp(-t) has up to x; NaN of negative numbers.";
  let body = (math_gammainc $a, $x);
  let vjp = [(mul $dy, (gammainc_da $a, $x)), (mul $dy, (gammainc_slope $a, $x))];
  let numpy = "gammainc(a, x)";
  let example = "gammainc([1, 2, 10], [1, 2, 10])  ->  [0.63212055, 0.59399414, 0.54207027]";
}
def Weft_GammainccOp : Weft_IncompleteGammaOp<"gammaincc"> {
  let summary = "1 - gammainc(a, x), exact where that is small.";
  let body = (math_gammaincc $a, $x);
  let vjp = [(neg (mul $dy, (gammainc_da $a, $x))), (neg (mul $dy, (gammainc_slope $a, $x)))];
  let numpy = "gammaincc(a, x)";
  let example = "gammaincc([1, 2, 10], [1, 2, 10])  ->  [0.36787945, 0.40600586, 0.4579297]";
}
def Weft_GammaincDaOp : Weft_IncompleteGammaOp<"gammainc_da"> {
  let summary = "The derivative of gammainc(a, x) by a.";
  let description = "It has a derivative by x alone.";
  let body = (math_gammainc_da $a, $x);
  let vjp = [(no_derivative), (mul $dy, (mul (gammainc_slope $a, $x), (sub (log $x), (digamma $a))))];
  let samples = [Sample<["[1, 2, 30, 30]", "[1, 3, 25, 40]"]>, Sample<["[[1], [9]]", "[0, 40]"]>];
  let numpy = "gammainc_da(a, x)";
  let tolerance = "ulps(256)";
  let example = "gammainc_da([1, 2], [1, 2])  ->  [-0.4317297, -0.29400468]";
}

def Weft_BetaincOp : Weft_ElementwiseOp<"betainc"> {
  let summary = "The share of beta(a, b) that the integral of t^(a - 1) (1 - t)^(b - 1) has up to x; NaN unless a and b are not negative and x is from 0 to 1.";
  let description = "A parameter of 0 or infinity gives the limit, and NaN where two of them have none. It has a derivative by x alone.";
  let arguments = (ins Weft_Float:$a, Weft_Float:$b, Weft_Float:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of a", "of a shape that broadcasts with those of the others"];
  let assemblyFormat = "$a `,` $b `,` $x attr-dict `:` custom<OperandTypes>(type($a), type($b), type($x))";
  let promotion = "floating";
  let cost = 60;
  let body = (math_betainc $a, $b, $x);
  let vjp = [(no_derivative), (no_derivative), (mul $dy, (betainc_slope $a, $b, $x))];
  let samples = [Sample<["[1, 2, 5]", "[2, 3, 1]", "[0, 1, 1]"]>, Sample<["[[1]]", "[[3]]", "special"]>, Sample<["[[30]]", "[[2]]", "special"]>, Sample<["special", "[[2]]", "special"]>];
  let numpy = "betainc(a, b, x)";
  let tolerance = "ulps(64) + smallest()";
  let domain = "nowhere";
  let example = "betainc([1, 2, 10], [1, 3, 10], 0.5)  ->  [0.5, 0.6875, 0.5]";
}

//===----------------------------------------------------------------------===//
// Modified Bessel functions
//===----------------------------------------------------------------------===//

def Weft_I0Op : Weft_UnarySpecialOp<"i0"> {
  let summary = "The modified Bessel function of the first kind and of order 0.";
  let body = (math_i0 $x);
  let vjp = [(mul $dy, (i1 $x))];
  let numpy = "bessel(0, x, False)";
  let example = "i0([-1, 0, 5])  ->  [1.2660658, 1, 27.239872]";
}

def Weft_I0eOp : Weft_UnarySpecialOp<"i0e"> {
  let summary = "exp(-|x|) i0(x), which does not overflow.";
  let body = (math_i0e $x);
  let vjp = [(mul $dy, (sub (i1e $x), (mul (sign $x), $y)))];
  let numpy = "bessel(0, x, True)";
  let example = "i0e([-1, 0, 10])  ->  [0.4657596, 1, 0.12783334]";
}

def Weft_I1Op : Weft_UnarySpecialOp<"i1"> {
  let summary = "The modified Bessel function of the first kind and of order 1.";
  let body = (math_i1 $x);
  let vjp = [(mul $dy, (sub (i0 $x), (i1_over_x $x, $y)))];
  let numpy = "bessel(1, x, False)";
  let tolerance = "ulps(4) + smallest()";
  let example = "i1([-1, 0, 5])  ->  [-0.5651591, 0, 24.335642]";
}

def Weft_I1eOp : Weft_UnarySpecialOp<"i1e"> {
  let summary = "exp(-|x|) i1(x), which does not overflow.";
  let body = (math_i1e $x);
  let vjp = [(mul $dy, (sub (i0e $x), (add (mul (sign $x), $y), (i1e_over_x $x, $y))))];
  let numpy = "bessel(1, x, True)";
  let tolerance = "ulps(4) + smallest()";
  let example = "i1e([-1, 0, 1000])  ->  [-0.20791042, 0, 0.01261093]";
}

//===----------------------------------------------------------------------===//
// Angles in half circles
//===----------------------------------------------------------------------===//

def Weft_SinpiOp : Weft_UnarySpecialOp<"sinpi"> {
  let summary = "sin(pi x), 0 of every whole number.";
  let body = (math_sinpi $x);
  let vjp = [(mul $dy, (mul "3.1415926535897931", (cospi $x)))];
  let numpy = "sinpi(x)";
  let tolerance = "ulps(2) + smallest()";
  let example = "sinpi([0.5, 1, 1.5])  ->  [1, 0, -1]";
}

def Weft_CospiOp : Weft_UnarySpecialOp<"cospi"> {
  let summary = "cos(pi x), 0 halfway between whole numbers.";
  let body = (math_cospi $x);
  let vjp = [(mul $dy, (mul "-3.1415926535897931", (sinpi $x)))];
  let numpy = "cospi(x)";
  let tolerance = "ulps(2) + smallest()";
  let signedZeros = 0;
  let example = "cospi([0, 0.5, 1])  ->  [1, 0, -1]";
}

def Weft_SincOp : Weft_UnarySpecialOp<"sinc"> {
  let summary = "sin(pi x) / (pi x), and 1 of 0.";
  let body = (math_sinc $x);
  let vjp = [(mul $dy, (sinc_slope $x, $y))];
  let numpy = "sinc(x)";
  let tolerance = "ulps(3) + smallest()";
  let signedZeros = 0;
  let example = "sinc([0, 0.5, 1])  ->  [1, 0.63661975, 0]";
}

//===----------------------------------------------------------------------===//
// Angles, hyperbolic functions, roots
//===----------------------------------------------------------------------===//

class Weft_ElementaryOp<string mnemonic, TypeConstraint operand = Weft_Inexact> : Weft_UnarySpecialOp<mnemonic, operand> { let tolerance = "ulps(1)"; }
/// Of numbers from -1 to 1.
defvar samplesInside = [Sample<["special"]>, Sample<["[[0, 1], [-1, 0]]"]>];

def Weft_TanOp : Weft_ElementaryOp<"tan"> {
  let summary = "The tangent of an angle.";
  let body = (math_tan $x);
  let onComplex = Formula<"tan">;
  let vjp = [(mul $dy, (add (one), (square $y)))];
  let numpy = "np.tan(x)";
  let example = "tan([0.0, 1.0])  ->  [0, 1.5574077]";
}

def Weft_AtanOp : Weft_ElementaryOp<"atan"> {
  let summary = "The angle between -pi / 2 and pi / 2 whose tangent is x.";
  let body = (math_atan $x);
  let onComplex = Formula<"atan">;
  let vjp = [(div $dy, (add (one), (square $x)))];
  let numpy = "np.arctan(x)";
  let example = "atan([0.0, 1.0])  ->  [0, 0.7853982]";
  let names = [Np<"arctan">];
}

def Weft_AsinOp : Weft_ElementaryOp<"asin"> {
  let summary = "The angle between -pi / 2 and pi / 2 whose sine is x; of a real x NaN beyond -1 and 1.";
  let body = (math_asin $x);
  let onComplex = Formula<"asin">;
  let vjp = [(div $dy, (sqrt (mul (sub 1, $x), (add 1, $x))))];
  let numpy = "np.arcsin(x)";
  let samples = samplesInside;
  let domain = "nowhere";
  let example = "asin([0.0, 1.0])  ->  [0, 1.5707964]";
  let names = [Np<"arcsin">];
}

def Weft_AcosOp : Weft_ElementaryOp<"acos"> {
  let summary = "The angle between 0 and pi whose cosine is x; of a real x NaN beyond -1 and 1.";
  let body = (math_acos $x);
  let onComplex = Formula<"acos">;
  let vjp = [(neg (div $dy, (sqrt (mul (sub 1, $x), (add 1, $x)))))];
  let numpy = "np.arccos(x)";
  let samples = samplesInside;
  let domain = "nowhere";
  let example = "acos([1.0, 0.0])  ->  [0, 1.5707964]";
  let names = [Np<"arccos">];
}

def Weft_Atan2Op : Weft_ElementwiseOp<"atan2"> {
  let summary = "The angle between -pi and pi of the point (x, y), from the x axis on.";
  let description = "Its gradient is 0 where both are.";
  let arguments = (ins Weft_Float:$y, Weft_Float:$x);
  let results = (outs Weft_Any:$angle);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of y"];
  let assemblyFormat = "$y `,` $x attr-dict `:` custom<OperandTypes>(type($y), type($x))";
  let promotion = "floating";
  let cost = 60;
  let body = (math_atan2 $y, $x);
  // In two steps, since the sum of squares may not be a number of the dtype.
  let vjp = [(mul $dangle, (quotient_of_length (quotient_of_length $x, (hypot $y, $x)), (hypot $y, $x))),
             (neg (mul $dangle, (quotient_of_length (quotient_of_length $y, (hypot $y, $x)), (hypot $y, $x))))];
  let samples = samplesOfTwo;
  let numpy = "np.arctan2(y, x)";
  let tolerance = "ulps(1) + smallest()";
  let example = "atan2([1.0, -1.0], -1.0)  ->  [2.3561945, -2.3561945]";
  let names = [Np<"arctan2">];
}

def Weft_SinhOp : Weft_ElementaryOp<"sinh"> {
  let summary = "The hyperbolic sine, (exp(x) - exp(-x)) / 2.";
  let body = (math_sinh $x);
  let onComplex = Formula<"sinh">;
  let vjp = [(mul $dy, (cosh $x))];
  let numpy = "np.sinh(x)";
  let example = "sinh([0.0, 1.0])  ->  [0, 1.1752012]";
}

def Weft_CoshOp : Weft_ElementaryOp<"cosh"> {
  let summary = "The hyperbolic cosine, (exp(x) + exp(-x)) / 2.";
  let body = (math_cosh $x);
  let onComplex = Formula<"cosh">;
  let vjp = [(mul $dy, (sinh $x))];
  let numpy = "np.cosh(x)";
  let example = "cosh([0.0, 1.0])  ->  [1, 1.5430807]";
}

def Weft_AsinhOp : Weft_ElementaryOp<"asinh"> {
  let summary = "The number whose hyperbolic sine is x.";
  let body = (math_asinh $x);
  let onComplex = Formula<"asinh">;
  let vjp = [(div $dy, (asinh_slope $x))];
  let numpy = "np.arcsinh(x)";
  let example = "asinh([0.0, 1.0])  ->  [0, 0.8813736]";
  let names = [Np<"arcsinh">];
}

def Weft_AcoshOp : Weft_ElementaryOp<"acosh"> {
  let summary = "The number from 0 on whose hyperbolic cosine is x; of a real x NaN below 1.";
  let body = (math_acosh $x);
  let onComplex = Formula<"acosh">;
  let vjp = [(div $dy, (mul (sqrt (sub $x, 1)), (sqrt (add $x, 1))))];
  let numpy = "np.arccosh(x)";
  let domain = "nowhere";
  let example = "acosh([1.0, 2.0])  ->  [0, 1.316958]";
  let names = [Np<"arccosh">];
}

def Weft_AtanhOp : Weft_ElementaryOp<"atanh"> {
  let summary = "The number whose hyperbolic tangent is x; of a real x NaN beyond -1 and 1.";
  let body = (math_atanh $x);
  let onComplex = Formula<"atanh">;
  let vjp = [(div $dy, (mul (sub 1, $x), (add 1, $x)))];
  let numpy = "np.arctanh(x)";
  let samples = samplesInside;
  let domain = "nowhere";
  let example = "atanh([0.0, 0.5])  ->  [0, 0.54930615]";
  let names = [Np<"arctanh">];
}

def Weft_CbrtOp : Weft_ElementaryOp<"cbrt", Weft_Float> {
  let summary = "The cube root, of negative numbers too.";
  let body = (math_cbrt $x);
  let vjp = [(div $dy, (mul 3, (square $y)))];
  let numpy = "np.cbrt(x)";
  let example = "cbrt([8.0, -1.0])  ->  [2, -1]";
}

def Weft_HypotOp : Weft_ElementwiseOp<"hypot"> {
  let summary = "sqrt(x² + y²), without overflow; infinite where one is, also beside NaN.";
  let description = "Its gradient is 0 where both are.";
  let arguments = (ins Weft_Float:$x, Weft_Float:$y);
  let results = (outs Weft_Any:$length);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of x"];
  let assemblyFormat = "$x `,` $y attr-dict `:` custom<OperandTypes>(type($x), type($y))";
  let promotion = "floating";
  let cost = 60;
  let body = (math_hypot $x, $y);
  let vjp = [(mul $dlength, (quotient_of_length $x, $length)), (mul $dlength, (quotient_of_length $y, $length))];
  let samples = samplesOfTwo;
  let numpy = "np.hypot(x, y)";
  let tolerance = "ulps(1)";
  let example = "hypot(3.0, 4.0)  ->  5";
}

#endif // WEFT_IR_SPECIAL_OPS
