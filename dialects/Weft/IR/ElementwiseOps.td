// Elementwise ops: a scalar body applied to operands that broadcast against each other.

#ifndef WEFT_IR_ELEMENTWISE_OPS
#define WEFT_IR_ELEMENTWISE_OPS

include "Weft/IR/Base.td"

class Weft_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Weft_PureOp<mnemonic, traits # [Weft_CheapToRerun]> {
  let kind = "elementwise";
  let widening = "floats";
  let shapeFunction = "elementwise";
  let resultShape = "of the shape that the operands broadcast to";
  let resultDType = "their dtype";
  let raises = [shapes_do_not_broadcast];
  let batching = "elementwise";
}

/// Samples of one operand, two that broadcast, and three that do.
defvar samplesOfOne =
    !foreach(operand, ["scalar", "0", "1", "3", "17", "33", "64", "1000", "2x3", "5x7", "0x3", "2x0x3", "special",
                       "transposed 7x5"], Sample<[operand]>);
defvar samplesOfTwo = [
  Sample<["scalar", "scalar"]>, Sample<["0", "0"]>, Sample<["3", "3"]>, Sample<["33", "33"]>, Sample<["1000", "1000"]>,
  Sample<["2x3", "2x3"]>, Sample<["0x3", "0x3"]>, Sample<["2x0x3", "2x0x3"]>, Sample<["scalar", "33"]>,
  Sample<["33", "scalar"]>, Sample<["scalar", "2x2"]>, Sample<["scalar", "2x0"]>, Sample<["2x3", "3"]>,
  Sample<["5x7", "7"]>, Sample<["2x1", "1x3"]>, Sample<["5x1", "1x7"]>, Sample<["0x3", "1"]>, Sample<["3x1x5", "4x1"]>,
  Sample<["special", "special"]>, Sample<["transposed 7x5", "backwards 14"]>
];
defvar samplesOfThree = !foreach(two, samplesOfTwo, Sample<[two.operands[0], two.operands[1], two.operands[0]]>);

class Weft_UnaryOp<string mnemonic, TypeConstraint operand, list<Trait> traits = []> : Weft_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins operand:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [];
  let samples = samplesOfOne;
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
class Weft_UnaryFloatOp<string mnemonic, TypeConstraint operand = Weft_Float> : Weft_UnaryOp<mnemonic, operand> {
  let promotion = "floating";
  let cost = 20;
}

class Weft_BinaryOp<string mnemonic, TypeConstraint operand, list<Trait> traits = []>
    : Weft_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of lhs"];
  let samples = samplesOfTwo;
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` custom<OperandTypes>(type($lhs), type($rhs))";
  let promotion = "common";
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Weft_AddOp : Weft_BinaryOp<"add", Weft_Numeric, [Commutative, Weft_TellsApart, Weft_IsAdditive]> {
  let summary = "Sum of two tensors, element by element.";
  let description = "Integers wrap around on overflow.";
  let body = (s_add $lhs, $rhs);
  let onComplex = each_part;
  let vjp = [(copy $dy), (copy $dy)];
  let numpy = "lhs + rhs";
  let example = "add([1, 2, 3], [10, 20, 30])  ->  [11, 22, 33]";
}

def Weft_SubtractOp : Weft_BinaryOp<"subtract", Weft_Numeric, [Weft_TellsApart, Weft_IsAdditive]> {
  let summary = "Difference of two tensors, element by element.";
  let description = "Integers wrap around on overflow.";
  let body = (s_sub $lhs, $rhs);
  let onComplex = each_part;
  let vjp = [(copy $dy), (neg $dy)];
  let numpy = "lhs - rhs";
  let example = "subtract([1, 2, 3], [10, 20, 30])  ->  [-9, -18, -27]";
}

def Weft_MultiplyOp : Weft_BinaryOp<"multiply", Weft_Numeric, [Commutative]> {
  let summary = "Product of two tensors, element by element.";
  let description = "Integers wrap around on overflow.";
  let body = (s_mul $lhs, $rhs);
  let onComplex = Formula<"multiply">;
  let vjp = [(mul $dy, $rhs), (mul $dy, $lhs)];
  let numpy = "lhs * rhs";
  let example = "multiply([1, 2, 3], [10, 20, 30])  ->  [10, 40, 90]";
}

def Weft_DivideOp : Weft_BinaryOp<"divide", Weft_Inexact> {
  let summary = "True quotient of two tensors, element by element.";
  let description = "IEEE division: x / 0 is an infinity, 0 / 0 is NaN.";
  let promotion = "floating";
  let body = (s_div $lhs, $rhs);
  let onComplex = Formula<"divide">;
  let vjp = [(div $dy, $rhs), (neg (div (mul $dy, $y), $rhs))];
  let cost = 4;
  let numpy = "lhs / rhs";
  let example = "divide([1, 2, 3], [2, 4, 8])  ->  [0.5, 0.5, 0.375]";
  let names = [Np<"true_divide">];
}

def Weft_RemainderOp : Weft_BinaryOp<"remainder", Weft_Number> {
  let summary = "Remainder of division, with the sign of the divisor, as Python's %.";
  let description = "An integer remainder by zero is 0; a floating one is NaN.";
  let body = (s_rem $lhs, $rhs);
  let vjp = [(copy $dy), (neg (mul $dy, (floor (div $lhs, $rhs))))];
  let cost = 12;
  let numpy = "np.remainder(lhs, rhs)";
  let signedZeros = 0;
  let example = "remainder([5, -5, 5], [3, 3, -3])  ->  [2, 1, -1]";
  let names = [Np<"mod">];
}

def Weft_PowerOp : Weft_BinaryOp<"power", Weft_Numeric> {
  let widening = "value";
  let summary = "lhs raised to the power rhs, element by element.";
  let description = [{
    Floating powers follow C99's pow. Integer powers wrap around; calls refuse a negative exponent,
    and in the text it gives 0, but for the bases 1 and -1. The derivative by the exponent is 0 where
    the base is 0.
  }];
  let body = (s_pow $lhs, $rhs);
  let onComplex = Formula<"power">;
  let vjp = [
    (mul $dy, (where (eq $rhs, 0), 0,
                     (mul $rhs, (pow $lhs, (where (eq $rhs, 0), 1, (sub $rhs, 1)))))),
    (mul $dy, (where (eq $lhs, 0), 0, (mul $y, (log (where (eq $lhs, 0), 1, $lhs)))))
  ];
  let cost = 20;
  let raises = [shapes_do_not_broadcast, Raises<ValueError, "an integer is raised to a negative integer">];
  let numpy = "power(lhs, rhs)";
  let tolerance = "ulps(1)";
  let signedZeros = 0;
  let domain = "positive";
  let example = "power([2, 3, 4], [3, 2, 0.5])  ->  [8, 9, 2]";
  let names = [Np<"pow">];
}

def Weft_MaximumOp : Weft_BinaryOp<"maximum", Weft_Number, [Commutative]> {
  let summary = "The larger of two tensors, element by element.";
  let description = "NaN if either is NaN. Where both are equal the gradient is shared by halves.";
  let body = (s_max $lhs, $rhs);
  let vjp = [(where (gt $lhs, $rhs), $dy, (where (eq $lhs, $rhs), (mul $dy, "0.5"), 0)),
             (where (gt $rhs, $lhs), $dy, (where (eq $lhs, $rhs), (mul $dy, "0.5"), 0))];
  let numpy = "np.maximum(lhs, rhs)";
  let signedZeros = 0;
  let example = "maximum([1, 5, 3], [4, 2, 3])  ->  [4, 5, 3]";
}

def Weft_MinimumOp : Weft_BinaryOp<"minimum", Weft_Number, [Commutative]> {
  let summary = "The smaller of two tensors, element by element.";
  let description = "NaN if either is NaN. Where both are equal the gradient is shared by halves.";
  let body = (s_min $lhs, $rhs);
  let vjp = [(where (lt $lhs, $rhs), $dy, (where (eq $lhs, $rhs), (mul $dy, "0.5"), 0)),
             (where (lt $rhs, $lhs), $dy, (where (eq $lhs, $rhs), (mul $dy, "0.5"), 0))];
  let numpy = "np.minimum(lhs, rhs)";
  let signedZeros = 0;
  let example = "minimum([1, 5, 3], [4, 2, 3])  ->  [1, 2, 3]";
}

def Weft_NegateOp : Weft_UnaryOp<"negate", Weft_Numeric, [Weft_IsAdditive]> {
  let summary = "Each element with its sign changed.";
  let body = (s_neg $x);
  let onComplex = each_part;
  let vjp = [(neg $dy)];
  let numpy = "-x";
  let example = "negate([1, -2, 0.5])  ->  [-1, 2, -0.5]";
  let names = [Np<"negative">];
}

def Weft_AbsOp : Weft_UnaryOp<"abs", Weft_Numeric> {
  let summary = "Absolute value of each element; of a complex one its distance from 0, which is real.";
  let description = "The gradient at 0 is 0.";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let shapeFunction = "magnitude";
  let body = (s_abs $x);
  let onComplex = Formula<"magnitude">;
  let vjp = [(abs_back $x, $dy)];
  let jvp = (abs_forward $x, $dx);
  let numpy = "np.abs(x)";
  let example = "abs([1, -2, 0])  ->  [1, 2, 0]";
  let names = [Np<"absolute">];
}

def Weft_SignOp : Weft_UnaryOp<"sign", Weft_Number> {
  let cppName = "real_sign"; // `sign` takes complex numbers too
  let pythonName = "";
  let summary = "-1, 0 or 1 by the sign of each element; NaN stays NaN.";
  let description = "Of -0.0 it is 0.0.";
  let body = (s_sign $x);
  let cost = 5;
  let inactive = "it is constant wherever it has a derivative";
  let numpy = "np.sign(x)";
  let example = "real_sign([5, -2, 0])  ->  [1, -1, 0]";
}

def Weft_FloorOp : Weft_UnaryOp<"floor", Weft_Number> {
  let summary = "The largest whole number that is not above each element; integers are that already.";
  let body = (s_floor $x);
  let inactive = "it is constant wherever it has a derivative";
  let numpy = "np.floor(x)";
  let example = "floor([1.5, -1.5, 2])  ->  [1, -2, 2]";
}

def Weft_CeilOp : Weft_UnaryOp<"ceil", Weft_Number> {
  let summary = "The smallest whole number that is not below each element; integers are that already.";
  let body = (s_ceil $x);
  let inactive = "it is constant wherever it has a derivative";
  let numpy = "np.ceil(x)";
  let example = "ceil([1.5, -1.5, 2])  ->  [2, -1, 2]";
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

// Ops on complex numbers have no scalar code: the library computes them, and the pass weft-expand-complex replaces
// them, by what lib/Complex says of real ones. Derivatives are those of PyTorch and TensorFlow: the gradient by a complex x of a real
// loss is that by its real part, and i times that by its imaginary part, so that `x - rate * gradient` descends. That
// of a function which has a complex derivative f' is f' conjugated times the cotangent, so that saved values are conjugated where
// rules take them (tools/weft-tblgen/Derivatives.cpp).

class Weft_ComplexPartOp<string mnemonic, string name> : Weft_UnaryOp<mnemonic, Weft_Complex> {
  let cppName = name;
  let pythonName = ""; // the composite of the name takes real numbers too
  let resultDType = "the dtype of x's parts";
  let shapeFunction = "component";
  let jvp = (linear);
  let domain = "nowhere"; // of real numbers
}
def Weft_RealOp : Weft_ComplexPartOp<"real", "real_part"> {
  let summary = "The real part of each element.";
  let eagerFunction = "real_part";
  let onComplex = Formula<"real_part">;
  let vjp = [(real_back $dy)];
  let numpy = "np.real(x)";
}
def Weft_ImagOp : Weft_ComplexPartOp<"imag", "imaginary_part"> {
  let summary = "The imaginary part of each element.";
  let eagerFunction = "imaginary_part";
  let onComplex = Formula<"imaginary_part">;
  let vjp = [(imag_back $dy)];
  let numpy = "np.imag(x)";
}
def Weft_ConjOp : Weft_ComplexPartOp<"conj", "conjugate"> {
  let summary = "Each element with the sign of its imaginary part changed.";
  let resultDType = "x's dtype";
  let shapeFunction = "same";
  let onComplex = Formula<"conjugate">;
  let vjp = [(conj_back $dy)];
  let numpy = "np.conj(x)";
}
def Weft_ComplexOp : Weft_BinaryOp<"complex", Weft_Float> {
  let summary = "Complex numbers of these real and imaginary parts.";
  let arguments = (ins Weft_Float:$real, Weft_Float:$imag);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of real"];
  let assemblyFormat = "$real `,` $imag attr-dict `:` custom<OperandTypes>(type($real), type($imag))";
  let promotion = "floating";
  let resultDType = "the complex dtype of parts of their dtype";
  let shapeFunction = "complex";
  let domain = "nowhere";
  let onComplex = Formula<"joined">;
  let vjp = [(complex_back $dy), (complex_back $dy)];
  let jvp = (linear);
  let numpy = "complex_of(real, imag)";
  let example = "complex([1.0, 2.0], 0.0)  ->  [1, 2]";
}

//===----------------------------------------------------------------------===//
// Exponentials, roots, trigonometry
//===----------------------------------------------------------------------===//

def Weft_ExpOp : Weft_UnaryFloatOp<"exp", Weft_Inexact> {
  let summary = "e raised to each element.";
  let body = (math_exp $x);
  let onComplex = Formula<"exp">;
  let vjp = [(mul $dy, $y)];
  let numpy = "np.exp(x)";
  let tolerance = "ulps(1)";
  let example = "exp([0, 1, -1])  ->  [1, 2.7182817, 0.36787945]";
}

def Weft_LogOp : Weft_UnaryFloatOp<"log", Weft_Inexact> {
  let summary = "Natural logarithm of each element.";
  let description = "log(0) is -inf, the logarithm of a negative number is NaN.";
  let body = (math_log $x);
  let onComplex = Formula<"log">;
  let vjp = [(div $dy, $x)];
  let numpy = "np.log(x)";
  let tolerance = "ulps(1)";
  let domain = "positive";
  let example = "log([1, 2, 10])  ->  [0, 0.6931472, 2.3025851]";
}

def Weft_Log2Op : Weft_UnaryFloatOp<"log2", Weft_Inexact> {
  let summary = "Logarithm of each element to base 2, which of powers of 2 is exact.";
  let description = "log2(0) is -inf, the logarithm of a negative number is NaN.";
  let body = (math_log2 $x);
  let onComplex = Formula<"log2">;
  // The logarithm of 2.
  let vjp = [(div $dy, (mul "0.69314718055994530942", $x))];
  let numpy = "np.log2(x)";
  let tolerance = "ulps(1)";
  let domain = "positive";
  let example = "log2([1.0, 8.0])  ->  [0, 3]";
}

def Weft_Log10Op : Weft_UnaryFloatOp<"log10", Weft_Inexact> {
  let summary = "Logarithm of each element to base 10, which of powers of 10 is exact.";
  let description = "log10(0) is -inf, the logarithm of a negative number is NaN.";
  let body = (math_log10 $x);
  let onComplex = Formula<"log10">;
  // The logarithm of 10.
  let vjp = [(div $dy, (mul "2.30258509299404568402", $x))];
  let numpy = "np.log10(x)";
  let tolerance = "ulps(1)";
  let domain = "positive";
  let example = "log10([1.0, 100.0])  ->  [0, 2]";
}

def Weft_Expm1Op : Weft_UnaryFloatOp<"expm1", Weft_Inexact> {
  let summary = "exp(x) - 1 of each element, exact near 0.";
  let body = (math_expm1 $x);
  let onComplex = Formula<"expm1">;
  let vjp = [(mul $dy, (add $y, 1))];
  let numpy = "np.expm1(x)";
  let tolerance = "ulps(1)";
  let example = "expm1([0, 1, -1])  ->  [0, 1.7182819, -0.63212055]";
}

def Weft_Log1pOp : Weft_UnaryFloatOp<"log1p", Weft_Inexact> {
  let summary = "log(1 + x) of each element, exact near 0.";
  let body = (math_log1p $x);
  let onComplex = Formula<"log1p">;
  let vjp = [(div $dy, (add $x, 1))];
  let numpy = "np.log1p(x)";
  let tolerance = "ulps(1)";
  let domain = "positive";
  let example = "log1p([0, 1, -0.5])  ->  [0, 0.6931472, -0.6931472]";
}

def Weft_TanhOp : Weft_UnaryFloatOp<"tanh", Weft_Inexact> {
  let summary = "Hyperbolic tangent of each element.";
  let body = (math_tanh $x);
  let onComplex = Formula<"tanh">;
  let vjp = [(mul $dy, (sub (one), (square $y)))];
  let numpy = "np.tanh(x)";
  let tolerance = "ulps(1)";
  let example = "tanh([-1, 0, 1])  ->  [-0.7615942, 0, 0.7615942]";
}

def Weft_ErfOp : Weft_UnaryFloatOp<"erf"> {
  let summary = "Error function of each element: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.";
  let body = (math_erf $x);
  // 2 / sqrt(pi).
  let vjp = [(mul $dy, (mul "1.1283791670955126", (exp (neg (square $x)))))];
  let numpy = "erf(x)";
  let tolerance = "ulps(2)";
  let example = "erf([-1, 0, 2])  ->  [-0.8427008, 0, 0.9953223]";
}

def Weft_LogisticOp : Weft_UnaryFloatOp<"logistic"> {
  let summary = "1 / (1 + exp(-x)) of each element.";
  // Of exp(-|x|), which never overflows: exp(-x) would, and lose the results below it.
  let body = (s_div (s_select (s_lt $x, 0), (math_exp (s_neg (s_abs $x))), 1),
                    (s_add 1, (math_exp (s_neg (s_abs $x)))));
  let vjp = [(mul $dy, (mul $y, (sub (one), $y)))];
  let cost = 29;
  let numpy = "1 / (1 + np.exp(-x))";
  let tolerance = "ulps(3) + smallest()";
  let example = "logistic([-1, 0, 1])  ->  [0.26894143, 0.5, 0.7310586]";
  let names = [Np<"expit">];
}

def Weft_SqrtOp : Weft_UnaryFloatOp<"sqrt", Weft_Inexact> {
  let summary = "Square root of each element.";
  let description = "NaN for negative elements; correctly rounded.";
  let body = (math_sqrt $x);
  let onComplex = Formula<"sqrt">;
  let vjp = [(div $dy, (mul $y, 2))];
  let cost = 4;
  let numpy = "np.sqrt(x)";
  let domain = "positive";
  let example = "sqrt([0, 4, 2])  ->  [0, 2, 1.4142135]";
}

def Weft_RsqrtOp : Weft_UnaryFloatOp<"rsqrt"> {
  let summary = "1 / sqrt(x) of each element.";
  let body = (math_rsqrt $x);
  let vjp = [(mul $dy, (mul "-0.5", (mul $y, (square $y))))];
  let cost = 8;
  let numpy = "1 / np.sqrt(x)";
  let tolerance = "ulps(1)";
  let domain = "positive";
  let example = "rsqrt([1, 4, 0.25])  ->  [1, 0.5, 2]";
}

def Weft_SinOp : Weft_UnaryFloatOp<"sin", Weft_Inexact> {
  let summary = "Sine of each element, in radians.";
  let body = (math_sin $x);
  let onComplex = Formula<"sin">;
  let vjp = [(mul $dy, (cos $x))];
  let numpy = "np.sin(x)";
  let tolerance = "ulps(1)";
  let example = "sin([0, 1, -1])  ->  [0, 0.84147096, -0.84147096]";
}

def Weft_CosOp : Weft_UnaryFloatOp<"cos", Weft_Inexact> {
  let summary = "Cosine of each element, in radians.";
  let body = (math_cos $x);
  let onComplex = Formula<"cos">;
  let vjp = [(neg (mul $dy, (sin $x)))];
  let numpy = "np.cos(x)";
  let tolerance = "ulps(1)";
  let example = "cos([0, 1, -1])  ->  [1, 0.5403023, 0.5403023]";
}

//===----------------------------------------------------------------------===//
// Comparison, logic
//===----------------------------------------------------------------------===//

class Weft_ComparisonOp<string mnemonic, list<Trait> traits = [], TypeConstraint operand = Weft_Ordered>
    : Weft_BinaryOp<mnemonic, operand, traits> {
  let shapeFunction = "comparison";
  let resultDType = "bool";
  let inactive = "its result is bool";
}
def Weft_EqualOp : Weft_ComparisonOp<"equal", [Commutative], Weft_Computable> {
  let summary = "lhs == rhs, element by element; NaN equals nothing.";
  let body = (s_eq $lhs, $rhs);
  let onComplex = Formula<"equal">;
  let numpy = "lhs == rhs";
  let example = "equal([1, 2, 3], [1, 3, 3])  ->  [true, false, true]";
}
def Weft_NotEqualOp : Weft_ComparisonOp<"not_equal", [Commutative], Weft_Computable> {
  let summary = "lhs != rhs, element by element; NaN differs from everything.";
  let body = (s_ne $lhs, $rhs);
  let onComplex = Formula<"not_equal">;
  let numpy = "lhs != rhs";
  let example = "not_equal([1, 2, 3], [1, 3, 3])  ->  [false, true, false]";
}
def Weft_LessOp : Weft_ComparisonOp<"less"> {
  let summary = "lhs < rhs, element by element.";
  let body = (s_lt $lhs, $rhs);
  let numpy = "lhs < rhs";
  let example = "less([1, 2, 3], [2, 2, 2])  ->  [true, false, false]";
}
def Weft_LessEqualOp : Weft_ComparisonOp<"less_equal"> {
  let summary = "lhs <= rhs, element by element.";
  let body = (s_le $lhs, $rhs);
  let numpy = "lhs <= rhs";
  let example = "less_equal([1, 2, 3], [2, 2, 2])  ->  [true, true, false]";
}
def Weft_GreaterOp : Weft_ComparisonOp<"greater"> {
  let summary = "lhs > rhs, element by element.";
  let body = (s_gt $lhs, $rhs);
  let numpy = "lhs > rhs";
  let example = "greater([1, 2, 3], [2, 2, 2])  ->  [false, false, true]";
}
def Weft_GreaterEqualOp : Weft_ComparisonOp<"greater_equal"> {
  let summary = "lhs >= rhs, element by element.";
  let body = (s_ge $lhs, $rhs);
  let numpy = "lhs >= rhs";
  let example = "greater_equal([1, 2, 3], [2, 2, 2])  ->  [false, true, true]";
}

class Weft_LogicalOp<string mnemonic> : Weft_BinaryOp<mnemonic, Weft_Bool, [Commutative]> {
  let promotion = "truth";
  let inactive = "its result is bool";
}
def Weft_LogicalAndOp : Weft_LogicalOp<"logical_and"> {
  let summary = "lhs and rhs, element by element.";
  let body = (s_and $lhs, $rhs);
  let numpy = "lhs & rhs";
  let example = "logical_and([true, true, false], [true, false, false])  ->  [true, false, false]";
}
def Weft_LogicalOrOp : Weft_LogicalOp<"logical_or"> {
  let summary = "lhs or rhs, element by element.";
  let body = (s_or $lhs, $rhs);
  let numpy = "lhs | rhs";
  let example = "logical_or([true, true, false], [true, false, false])  ->  [true, true, false]";
}
def Weft_LogicalXorOp : Weft_LogicalOp<"logical_xor"> {
  let summary = "Exactly one of lhs and rhs, element by element.";
  let body = (s_xor $lhs, $rhs);
  let numpy = "lhs ^ rhs";
  let example = "logical_xor([true, true, false], [true, false, false])  ->  [false, true, false]";
}
def Weft_LogicalNotOp : Weft_UnaryOp<"logical_not", Weft_Bool> {
  let summary = "not x, element by element.";
  let promotion = "truth";
  let body = (s_not $x);
  let inactive = "its result is bool";
  let numpy = "~x";
  let example = "logical_not([true, false])  ->  [false, true]";
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

def Weft_Bits : Weft_TensorOf<"an integer or bool", ["boolean", "integer", "unsigned_integer"]>;

class Weft_BitwiseOp<string mnemonic, TypeConstraint operand, list<Trait> traits = []>
    : Weft_BinaryOp<mnemonic, operand, traits> {
  let inactive = "its result is an integer or bool";
}
def Weft_BitwiseAndOp : Weft_BitwiseOp<"bitwise_and", Weft_Bits, [Commutative]> {
  let summary = "The bits that lhs and rhs both have, of bools lhs and rhs.";
  let body = (s_and $lhs, $rhs);
  let numpy = "lhs & rhs";
  let example = "bitwise_and([12, 10], 6)  ->  [4, 2]";
}
def Weft_BitwiseOrOp : Weft_BitwiseOp<"bitwise_or", Weft_Bits, [Commutative]> {
  let summary = "The bits that lhs or rhs has, of bools lhs or rhs.";
  let body = (s_or $lhs, $rhs);
  let numpy = "lhs | rhs";
  let example = "bitwise_or([12, 10], 6)  ->  [14, 14]";
}
def Weft_BitwiseXorOp : Weft_BitwiseOp<"bitwise_xor", Weft_Bits, [Commutative]> {
  let summary = "The bits that exactly one of lhs and rhs has, of bools exactly one of them.";
  let body = (s_xor $lhs, $rhs);
  let numpy = "lhs ^ rhs";
  let example = "bitwise_xor([12, 10], 6)  ->  [10, 12]";
}
def Weft_BitwiseInvertOp : Weft_UnaryOp<"bitwise_invert", Weft_Bits> {
  let summary = "The bits that x does not have, -1 - x of an integer, of bools not x.";
  let body = (s_invert $x);
  let inactive = "its result is an integer or bool";
  let numpy = "~x";
  let example = "bitwise_invert([0, 5])  ->  [-1, -6]";
  let names = [Np<"bitwise_not">, Np<"invert">];
}
def Weft_BitwiseLeftShiftOp : Weft_BitwiseOp<"bitwise_left_shift", Weft_Integer> {
  let summary = "The bits of lhs moved up by rhs, with zeros below.";
  let description = "By less than 0, or by as many bits as the dtype has or more, it is 0.";
  let body = (s_shift_left $lhs, $rhs);
  let cost = 4;
  let numpy = "np.left_shift(lhs, rhs)";
  let example = "bitwise_left_shift([1, 3, 1], [4, 1, 40])  ->  [16, 6, 0]";
  let names = [Np<"left_shift">];
}
def Weft_BitwiseRightShiftOp : Weft_BitwiseOp<"bitwise_right_shift", Weft_Integer> {
  let summary = "The bits of lhs moved down by rhs, with its sign above, zeros where it is unsigned: lhs / 2^rhs, rounded down.";
  let description = "By less than 0, or by as many bits as the dtype has or more, it is 0, or -1 where lhs is negative.";
  let body = (s_shift_right $lhs, $rhs);
  let cost = 2;
  let numpy = "np.right_shift(lhs, rhs)";
  let example = "bitwise_right_shift([16, -5, -5], [3, 1, 40])  ->  [2, -3, -1]";
  let names = [Np<"right_shift">];
}

def Weft_SignbitOp : Weft_UnaryOp<"signbit", Weft_Number> {
  let summary = "Whether each element is negative, or a zero or NaN with a negative sign.";
  let resultDType = "bool";
  let shapeFunction = "comparison";
  let body = (s_signbit $x);
  let cost = 2;
  let inactive = "its result is bool";
  let numpy = "np.signbit(x)";
  let example = "signbit([1.0, -0.0, -2.0])  ->  [false, true, true]";
}
def Weft_NextafterOp : Weft_BinaryOp<"nextafter", Weft_Float> {
  let widening = "none";
  let summary = "The number of the dtype that is next to lhs on the way to rhs.";
  let description = "rhs where both are equal, NaN if either is.";
  let promotion = "floating";
  let body = (s_nextafter $lhs, $rhs);
  let vjp = [(copy $dy), (where (eq $lhs, $lhs), 0, $dy)];
  let cost = 20;
  let numpy = "np.nextafter(lhs, rhs)";
  let example = "nextafter([1.0, 2.0], 3.0)  ->  [1.0000001, 2.0000002]";
}

//===----------------------------------------------------------------------===//
// Selection, conversion
//===----------------------------------------------------------------------===//

def Weft_SelectOp : Weft_ElementwiseOp<"select"> {
  let widening = "none";
  let summary = "on_true where pred holds, on_false elsewhere.";
  let arguments = (ins Weft_Predicate:$pred, Weft_Any:$on_true, Weft_Any:$on_false);
  let results = (outs Weft_Any:$y);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    custom<OperandTypes>(type($pred), type($on_true), type($on_false))
  }];
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of pred",
                       "of a shape that broadcasts with those of the others"];
  let resultDType = "the dtype of on_true and on_false";
  let shapeFunction = "select";
  let promotion = "common";
  let body = (s_select $pred, $on_true, $on_false);
  let onComplex = each_part;
  let vjp = [(no_grad), (where $pred, $dy, 0), (where $pred, 0, $dy)];
  let samples = samplesOfThree;
  let numpy = "np.where(pred, on_true, on_false)";
  let example = "select([true, false], [1, 2], [10, 20])  ->  [1, 20]";
}

def Weft_CastOp : Weft_ElementwiseOp<"cast"> {
  let widening = "none";
  let summary = "The same values in another dtype.";
  let description = [{
    Floating to integer truncates towards zero; values out of range saturate and NaN becomes 0.
    To bool: whether the value differs from 0. Complex to real is refused: `real` says what is meant. The gradient
    flows between floating and complex dtypes only.
  }];
  let arguments = (ins Weft_Any:$x, Weft_DTypeAttr:$dtype);
  let results = (outs Weft_Any:$y);
  let assemblyFormat = "$x `to` $dtype attr-dict `:` type($x)";
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "the dtype given";
  let raises = [Raises<DTypeError, "x is complex and the dtype real">];
  let shapeFunction = "cast";
  let eagerFunction = "cast";
  let body = (s_cast $x);
  let onComplex = Formula<"converted">;
  let vjp = [(cast_back $dy)];
  let jvp = (linear);
  let samples = samplesOfOne;
  let numpy = "cast_to(x, dtype)";
  let example = "cast([1.5, -1.5, 0], i32)  ->  [1, -1, 0]";
  let names = [Np<"astype">];
  let pythonParameters = [Weft_CopiesAnyway, Weft_OnDevice];
}

#endif // WEFT_IR_ELEMENTWISE_OPS
