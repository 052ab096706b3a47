// Cumulative ops: every step of a reduction along one axis is an element of the result.

#ifndef WEFT_IR_CUMULATIVE_OPS
#define WEFT_IR_CUMULATIVE_OPS

include "Weft/IR/Base.td"

def Weft_Reverse : Weft_Flag<"from the last element to the first">;
def Weft_Exclusive : Weft_Flag<"each place gets what is before it">;

/// Samples of a cumulative op of that many operands, whose flags may be set as `sets` says.
class CumulativeSamples<int count, list<list<string>> sets> {
  defvar off = !foreach(flag, !head(sets), "false");
  defvar long = !foreach(shape, ["0", "1", "200", "0x3", "2x0x3", "3x33x5"], [shape, "*"]);
  defvar some = [["5", "*"], ["17", "0"], ["5x7", "*"], ["2x4x2", "*"], ["4x3x1", "1"]];
  defvar plain = !listconcat(long, [["special", "0"], ["transposed 7x5", "0"]]);
  list<Sample> all = !listconcat(
      !foreach(one, plain, Sample<!listsplat(one[0], count), !listconcat([one[1]], off)>),
      !foldl([]<Sample>, sets, made, flags, !listconcat(made,
          !foreach(one, some, Sample<!listsplat(one[0], count), !listconcat([one[1]], flags)>))));
}

// y[0] = x[0], y[i] = body(y[i - 1], x[i]) along one axis, in this order whatever runs it. With
// `reverse` the steps go from the last element to the first. With `exclusive` each element is the
// result before it: the first is `init`.
class Weft_CumulativeOp<string mnemonic, TypeConstraint operand> : Weft_PureOp<mnemonic> {
  let kind = "cumulative";
  let widening = "floats";
  let attrStruct = "CumulativeAttrs";
  let arguments = (ins operand:$x, Weft_LastAxis:$axis, Weft_Reverse:$reverse, Weft_Exclusive:$exclusive);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range];
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let shapeFunction = "cumulative";
  let batching = "every";
  let vjp = [(cumulative_back $x, $y, $dy)];
  let jvp = (cumulative_forward $x, $y, $dx);
  let samples = CumulativeSamples<1, [["*", "*"]]>.all;
}

def Weft_CumsumOp : Weft_CumulativeOp<"cumsum", Weft_Numeric> {
  let summary = "Sum of each element and all before it along one axis.";
  let promotion = "sum";
  let takesDType = 1;
  let description = "`reverse`: and all after it. `exclusive`: without the element itself.";
  let body = (s_add $acc, $x);
  let onComplex = each_part;
  let init = "zero";
  let vjp = [(cumsum_back $dy)];
  let jvp = (linear);
  let numpy = "cumulative(np.add, x, axis, reverse, exclusive, 0)";
  let example = "cumsum([1, 2, 3])  ->  [1, 3, 6]";
  let method = 1;
}
def Weft_CumprodOp : Weft_CumulativeOp<"cumprod", Weft_Numeric> {
  let summary = "Product of each element and all before it along one axis.";
  let promotion = "sum";
  let takesDType = 1;
  let description = "`reverse`: and all after it. `exclusive`: without the element itself.";
  let body = (s_mul $acc, $x);
  let onComplex = OwnFunction<"chain">;
  let init = "one";
  let numpy = "cumulative(np.multiply, x, axis, reverse, exclusive, 1)";
  let example = "cumprod([1, 2, 3, 4], {.exclusive = true})  ->  [1, 1, 2, 6]";
  let method = 1;
}
def Weft_CummaxOp : Weft_CumulativeOp<"cummax", Weft_Number> {
  let widening = "order";
  let summary = "The largest of each element and all before it along one axis; NaN from the first NaN on.";
  let description = [{
    `reverse`: and all after it. `exclusive`: without the element itself; of nothing it is -inf, or the
    lowest integer. Equal maxima share the gradient.
  }];
  let body = (s_max $acc, $x);
  let init = "lowest";
  let numpy = "cumulative(np.maximum, x, axis, reverse, exclusive, lowest(x))";
  let signedZeros = 0;
  let example = "cummax([1, 3, 2, 4])  ->  [1, 3, 3, 4]";
}
def Weft_CumminOp : Weft_CumulativeOp<"cummin", Weft_Number> {
  let widening = "order";
  let summary = "The smallest of each element and all before it along one axis; NaN from the first NaN on.";
  let description = [{
    `reverse`: and all after it. `exclusive`: without the element itself; of nothing it is inf, or the
    highest integer. Equal minima share the gradient.
  }];
  let body = (s_min $acc, $x);
  let init = "highest";
  let numpy = "cumulative(np.minimum, x, axis, reverse, exclusive, highest(x))";
  let signedZeros = 0;
  let example = "cummin([3, 4, 1, 2], {.reverse = true})  ->  [1, 1, 1, 2]";
}
def Weft_LogcumsumexpOp : Weft_CumulativeOp<"logcumsumexp", Weft_Float> {
  let summary = "log of the sum of exp of each element and all before it along one axis.";
  let description = [{
    Overflows nowhere but where the result does. `reverse`: and all after it. `exclusive`: without the
    element itself; of nothing it is -inf.
  }];
  let promotion = "floating";
  // Equal infinities have no difference.
  let body = (s_add (s_max $acc, $x),
                    (math_log1p (math_exp (s_neg (s_abs
                        (s_select (s_eq $acc, $x), 0, (s_sub $acc, $x)))))));
  let init = "lowest";
  let cost = 47;
  let numpy = "cumulative(np.logaddexp, x, axis, reverse, exclusive, -np.inf)";
  let tolerance = "sums(4 * x.shape[axis])";
  let signedZeros = 0;
  let example = "logcumsumexp([0, 0, 1])  ->  [0, 0.6931472, 1.5514448]";
}

def Weft_LinearRecurrenceOp : Weft_PureOp<"linear_recurrence"> {
  let summary = "y[i] = a[i] * y[i - 1] + x[i] along one axis, from y[0] = x[0] on.";
  let description = [{
    a has x's shape; its first element has no part in the result. `reverse` goes from the last element
    to the first, `exclusive` gives y[i - 1] in place i and 0 in the first. With `shifted` the factor of
    a step stands one place earlier, y[i] = a[i - 1] * y[i - 1] + x[i], which is how derivatives run
    back; it excludes `exclusive`. Discounted returns, moving averages and the derivatives of all
    cumulative ops are such recurrences.
  }];
  let kind = "cumulative";
  let widening = "floats";
  let cost = 2;
  let arguments = (ins Weft_Numeric:$a, Weft_Numeric:$x, Weft_LastAxis:$axis, Weft_Reverse:$reverse,
                       Weft_Exclusive:$exclusive,
                       Weft_Flag<"the factor of a step stands one place earlier">:$shifted);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of x's shape", "of rank 1 or more"];
  let resultShape = "of x's shape";
  let resultDType = "the operands' dtype";
  let raises = [Raises<ShapeError, "the shapes of a and x differ">, axis_out_of_range,
                Raises<ValueError, "it is asked for both exclusive and shifted">];
  let assemblyFormat = "$a `,` $x attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "linear_recurrence";
  let batching = "every";
  let promotion = "common";
  let body = (s_add (s_mul $a, $acc), $x);
  let onComplex = OwnFunction<"chain">;
  let init = "zero";
  let vjp = [(recurrence_factor_back $a, $x, $y, $dy), (recurrence_back $a, $dy)];
  let jvp = (recurrence_forward $a, $x, $y);
  let samples = CumulativeSamples<2, [["*", "false", "false"], ["*", "true", "false"], ["*", "false", "true"]]>.all;
  let numpy = "recurrence(a, x, axis, reverse, exclusive, shifted)";
  let example = "linear_recurrence([0.5, 0.5, 0.5], [8, 0, 4])  ->  [8, 4, 6]";
}

#endif // WEFT_IR_CUMULATIVE_OPS
