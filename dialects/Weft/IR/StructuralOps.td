// Ops with code of their own: constants, reductions, orders, products, and those about derivatives.

#ifndef WEFT_IR_STRUCTURAL_OPS
#define WEFT_IR_STRUCTURAL_OPS

include "Weft/IR/Base.td"

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

def Weft_ConstantOp : Weft_PureOp<"constant", [ConstantLike, Weft_CheapToRerun]> {
  let summary = "A tensor known when the program is written.";
  let arguments = (ins Weft_ValueAttr:$value);
  let results = (outs Weft_Any:$y);
  let operandShapes = [];
  let resultShape = "of the value's shape";
  let resultDType = "the value's dtype";
  let raises = [];
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
  let shapeFunction = "constant";
  let inactive = "it has no operand";
  let handwrittenApi = 1;
  let samples = !foldl([]<Sample>, ["bool", "i32", "i64", "f32", "f64"], made, dtype, !listconcat(made,
      !foreach(shape, ["scalar", "33", "0", "5x7"], Sample<[], [dtype # " " # shape]>)));
  let numpy = "value";
}

def Weft_IotaOp : Weft_PureOp<"iota", [Weft_CheapToRerun]> {
  let summary = "0, 1, 2, ... along one axis of a tensor of the given shape.";
  let arguments = (ins Variadic<Weft_Size>:$sizes, Weft_DTypeAttr:$dtype, Weft_Sizes<>:$shape, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = [];
  let resultShape = "of the shape given";
  let resultDType = "the dtype given";
  let raises = [Raises<DTypeError, "the dtype is bool or complex">, Raises<ShapeError, "a size is negative">,
                Raises<IndexError, "the axis is not one of the shape">];
  let assemblyFormat = "custom<SizeList>($sizes, type($sizes), $shape) attr-dict `:` type($y)";
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "iota";
  let inactive = "it has no operand but sizes";
  let samples = !foldl([]<Sample>, ["i32", "i64", "f32", "f64"], made, dtype, !listconcat(made,
      !foreach(shape, ["[33]", "[1]", "[3, 5]", "[0, 2]"], Sample<[], [dtype, shape, "*"]>)));
  let numpy = "iota(dtype, shape, axis)";
  let example = "iota(f32, {2, 3}, {.axis = 1})  ->  [[0, 1, 2], [0, 1, 2]]";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Weft_Keepdims : Weft_Flag<"the axes stay, with size 1">;
def Weft_Descending : Weft_Flag<"the largest first">;

class Weft_ReductionOp<string mnemonic, TypeConstraint operand> : Weft_PureOp<mnemonic> {
  let kind = "reduction";
  let widening = "floats";
  let attrStruct = "ReductionAttrs";
  let batching = "first";
  let arguments = (ins operand:$x, Weft_Axes:$axes, Weft_Keepdims:$keepdims);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape without the axes, or with sizes of 1 there if they are kept";
  let resultDType = "x's dtype";
  let raises = [Raises<IndexError, "an axis is not one of x">, Raises<ValueError, "an axis is given twice">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "reduce";
  let samples = [
    Sample<["scalar"]>, Sample<["0"]>, Sample<["1"]>, Sample<["0x3"]>, Sample<["2x0x3"]>, Sample<["2x3"]>,
    Sample<["2x3x2"]>, Sample<["3"], ["*", "true"]>, Sample<["17"], ["*", "false"]>, Sample<["33"], ["*", "true"]>,
    Sample<["64"], ["*", "false"]>, Sample<["1000"], ["*", "true"]>, Sample<["5x7"]>, Sample<["3x33x5"], ["*", "false"]>,
    Sample<["3x33x5"], ["[0, 2]", "true"]>, Sample<["2x1000"], ["*", "true"]>, Sample<["special"], ["*", "false"]>,
    Sample<["transposed 7x5"], ["*", "true"]>
  ];
}

def Weft_SumOp : Weft_ReductionOp<"sum", Weft_Numeric> {
  let summary = "Sum over the given axes; of nothing, 0.";
  let promotion = "sum";
  let takesDType = 1;
  let body = (s_add $acc, $x);
  let onComplex = each_part;
  let init = "zero";
  let vjp = [(expand_reduced $dy)];
  let jvp = (linear);
  let numpy = "np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)";
  let tolerance = "sums(combined(x, axes))";
  let signedZeros = 0;
  let example = "sum([[1, 2], [3, 4]], {.axes = {1}})  ->  [3, 7]";
  let method = 1;
}
def Weft_MeanOp : Weft_ReductionOp<"mean", Weft_Inexact> {
  let summary = "Mean over the given axes; of nothing, NaN.";
  let promotion = "floating";
  let takesDType = 1;
  let body = (s_add $acc, $x);
  let onComplex = each_part;
  let init = "zero";
  let vjp = [(mean_back $dy)];
  let jvp = (linear);
  let numpy = "np.mean(x, axis=axes, keepdims=keepdims, dtype=x.dtype)";
  let tolerance = "sums(combined(x, axes))";
  let signedZeros = 0;
  let example = "mean([[1, 2], [3, 4]], {.axes = {0}})  ->  [2, 3]";
  let method = 1;
}
def Weft_ProdOp : Weft_ReductionOp<"prod", Weft_Numeric> {
  let summary = "Product over the given axes; of nothing, 1.";
  let description = [{
    Long lines are multiplied in several partial products. One that overflows is infinite, and meets a
    0 in another one as NaN. Complex numbers are multiplied one after the other, an axis at a time.
  }];
  let promotion = "sum";
  let takesDType = 1;
  let body = (s_mul $acc, $x);
  let onComplex = OwnFunction<"prod">;
  let init = "one";
  let vjp = [(prod_back $x, $dy)];
  let jvp = (prod_forward $x, $dx);
  let numpy = "np.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)";
  let tolerance = "sums(combined(x, axes))";
  let signedZeros = 0;
  let example = "prod([[1, 2], [3, 4]])  ->  24";
  let method = 1;
}
def Weft_MaxOp : Weft_ReductionOp<"max", Weft_Number> {
  let summary = "Largest element over the given axes; NaN if any is NaN.";
  let cppName = "reduce_max"; // `max` checks that there is an element
  let pythonName = "reduce_max";
  let description = "Of nothing: -inf, or the lowest integer. Equal maxima share the gradient.";
  let body = (s_max $acc, $x);
  let init = "lowest";
  let vjp = [(extremum_back $x, $y, $dy)];
  let jvp = (extremum_forward $x, $y, $dx);
  let numpy = "np.max(x, axis=axes, keepdims=keepdims, initial=lowest(x))";
  let signedZeros = 0;
  let example = "reduce_max([[1, 2], [3, 4]], {.axes = {1}, .keepdims = true})  ->  [[2], [4]]";
}
def Weft_MinOp : Weft_ReductionOp<"min", Weft_Number> {
  let summary = "Smallest element over the given axes; NaN if any is NaN.";
  let cppName = "reduce_min"; // `min` checks that there is an element
  let pythonName = "reduce_min";
  let description = "Of nothing: inf, or the highest integer. Equal minima share the gradient.";
  let body = (s_min $acc, $x);
  let init = "highest";
  let vjp = [(extremum_back $x, $y, $dy)];
  let jvp = (extremum_forward $x, $y, $dx);
  let numpy = "np.min(x, axis=axes, keepdims=keepdims, initial=highest(x))";
  let signedZeros = 0;
  let example = "reduce_min([[1, 2], [3, 4]], {.axes = {1}})  ->  [1, 3]";
}
def Weft_AllOp : Weft_ReductionOp<"all", Weft_Bool> {
  let summary = "Whether every element over the given axes is true; of nothing, true.";
  let cppName = "reduce_all"; // `all` is the whole-axis index, and calls this one
  let promotion = "truth";
  let body = (s_and $acc, $x);
  let init = "yes";
  let inactive = "its result is bool";
  let numpy = "np.all(x, axis=axes, keepdims=keepdims)";
  let example = "reduce_all([[true, false], [true, true]], {.axes = {1}})  ->  [false, true]";
  let method = 1;
}
def Weft_AnyOp : Weft_ReductionOp<"any", Weft_Bool> {
  let summary = "Whether some element over the given axes is true; of nothing, false.";
  let promotion = "truth";
  let body = (s_or $acc, $x);
  let init = "no";
  let inactive = "its result is bool";
  let numpy = "np.any(x, axis=axes, keepdims=keepdims)";
  let example = "any([[true, false], [false, false]], {.axes = {1}})  ->  [true, false]";
  let method = 1;
}

def Weft_ArgmaxOp : Weft_PureOp<"argmax"> {
  let widening = "order";
  let summary = "Index of the first largest element along one axis, as i64; NaN counts as largest.";
  let cppName = "argmax_along"; // `argmax` is also of all elements
  let pythonName = "";
  let eagerFunction = "argmax";
  let arguments = (ins Weft_Number:$x, Weft_LastAxis:$axis, Weft_Keepdims:$keepdims);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape without the axis, or with a size of 1 there if it is kept";
  let resultDType = "i64";
  let raises = [axis_out_of_range, Raises<ShapeError, "x has no element along the axis">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "argmax";
  let batching = "first_with_axis";
  let inactive = "its result is an index";
  let samples = !listconcat(
      !foreach(shape, ["1", "17", "33", "1000", "5x7", "3x5x7", "transposed 7x5"], Sample<[shape]>),
      [Sample<["0x3"], ["1", "*"]>, Sample<["special"]>]);
  let numpy = "np.argmax(x, axis, keepdims=keepdims)";
  let example = "argmax_along([[1, 3, 2], [9, 0, 9]], {.axis = 1})  ->  [1, 0]";
}

/// Lines of many lengths, with equal and with special elements, and their axis.
defvar linesToSort = [
  Sample<["0"], ["0"]>, Sample<["1"], ["0"]>, Sample<["2"], ["0"]>, Sample<["17"], ["0"]>, Sample<["300"], ["0"]>,
  Sample<["1000"], ["0"]>, Sample<["5x7"], ["*"]>, Sample<["3x5x7"], ["*"]>, Sample<["2x0x3"], ["*"]>,
  Sample<["4x16x1"], ["*"]>, Sample<["70x20"], ["*"]>, Sample<["special"], ["0"]>, Sample<["transposed 7x5"], ["1"]>
];

def Weft_ArgsortOp : Weft_RoutineOp<"argsort"> {
  let widening = "order";
  let summary = "Indices that put the elements along one axis in order, as i64; equal ones stay in theirs.";
  let description = [{
    NaN counts as largest: it is last, and first with `descending`. 0 and -0 are equal. With a
    `count`, of at most the size of the axis, only so many indices are given, the first ones:
    `top_k` is that and `take_along_axis`.
  }];
  let arguments = (ins Weft_Number:$x, Weft_LastAxis:$axis, Weft_Descending:$descending, Weft_CountOrAll:$count);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape, with the count as size of the axis if one is given";
  let resultDType = "i64";
  let raises = [axis_out_of_range, Raises<ValueError, "the count is below -1 or above the size of the axis">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "argsort";
  let batching = "first_with_axis";
  let inactive = "its result is an index";
  let cost = 40;
  let samples = !foreach(one, linesToSort, Sample<one.operands, !listconcat(one.attributes, ["*", "*"])>);
  let numpy = "order(x, axis, descending, count)";
  let example = "argsort([30, 10, 20, 10])  ->  [1, 3, 2, 0]";
  let method = 1;
  let pythonParameters = [Weft_Stable];
}

def Weft_SortOp : Weft_RoutineOp<"sort"> {
  let widening = "order";
  let summary = "The elements along one axis in order; equal ones stay in theirs, each with its own gradient.";
  let description = [{
    `take_along_axis` of `argsort`: NaN counts as largest, and 0 and -0 are equal. Elements keep their
    bits.
  }];
  let arguments = (ins Weft_Number:$x, Weft_LastAxis:$axis, Weft_Descending:$descending);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "sort";
  let batching = "first_with_axis";
  let vjp = [(sort_back $x, $dy)];
  let jvp = (sort_forward $x, $dx);
  let cost = 40;
  let samples = !listconcat(
      !foreach(one, linesToSort, Sample<one.operands, !listconcat(one.attributes, ["*"])>),
      [Sample<["3x2"], ["0", "*"]>, Sample<["2x5"], ["1", "*"]>, Sample<["2x0"], ["1", "false"]>]);
  let numpy = "np.take_along_axis(x, order(x, axis, descending), axis)";
  let example = "sort([30, 10, 20, 10])  ->  [10, 10, 20, 30]";
  let method = 1;
  let pythonParameters = [Weft_Stable];
}

def Weft_SearchSortedOp : Weft_RoutineOp<"searchsorted"> {
  let summary = "Where values would have to stand among the sorted ones of a vector, as i64: how many stand in front of them.";
  let cppName = "search_sorted"; // `searchsorted` takes what sorts the vector too
  let pythonName = "";
  let description = [{
    In front of equal ones, or behind them. NaN is the largest of all. Axes of a in front of its last one are those of
    a batch, which v begins with.
  }];
  let arguments = (ins Weft_Number:$a, Weft_Number:$v, Weft_Flag<"behind equal ones">:$right);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of a shape that begins with a's but for the last axis"];
  let resultShape = "of v's shape";
  let resultDType = "i64";
  let raises = [dtypes_differ, Raises<ShapeError, "a is a scalar, or v does not begin with the batch of a">];
  let assemblyFormat = "$a `,` $v attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "search_sorted";
  let batching = "every";
  let inactive = "its result is an index";
  let cost = 20;
  let samples = !listconcat(
      !foreach(v, ["scalar", "0", "1", "33", "1000", "2x3", "special", "transposed 7x5"], Sample<["[0, 1, 1, 2, 5]", v], ["*"]>),
      [Sample<["[]", "3"], ["*"]>, Sample<["[4]", "17"], ["*"]>, Sample<["[[1, 2, 2], [0, 1, 9]]", "2x3"], ["*"]>,
       Sample<["[[1, 2, 2], [0, 1, 9]]", "2x3x4"], ["*"]>, Sample<["[[1, 2, 2], [0, 1, 9]]", "2"], ["*"]>]);
  let numpy = "searched(a, v, right)";
  let example = "search_sorted([1.0, 2.0, 3.0], [1.5, 3.0])  ->  [1, 2]";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Weft_MatmulOp : Weft_PureOp<"matmul"> {
  let widening = "product";
  let summary = "Matrix product over the last two dimensions; leading ones are batches.";
  let description = [{
    Batch dimensions broadcast. An operand of rank 1 is a row (lhs) or a column (rhs), whose
    dimension the result lacks. `transpose_lhs` and `transpose_rhs` swap the last two dimensions
    of an operand of rank 2 or more first. On processors bf16 is summed in f32 with denormals flushed,
    in operands and in sums, as their instructions for it do.
  }];
  let arguments = (ins Weft_Numeric:$lhs, Weft_Numeric:$rhs,
                       Weft_Flag<"swap the last two dimensions of lhs first">:$transpose_lhs,
                       Weft_Flag<"swap the last two dimensions of rhs first">:$transpose_rhs);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (..., m, k), or (k,)", "of shape (..., k, n), or (k,)"];
  let resultShape = "of shape (..., m, n), without the dimension that a row or column lacks";
  let resultDType = "the operands' dtype";
  let raises = [Raises<ShapeError, "an operand is a scalar, the inner dimensions differ, the batches do not "
                                   "broadcast, or an operand of rank 1 is to be transposed">];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "matmul";
  let onComplex = OwnFunction<"matmul">;
  let batching = "matmul";
  let promotion = "common";
  let vjp = [(matmul_back_lhs $rhs, $dy), (matmul_back_rhs $lhs, $dy)];
  let jvp = (bilinear);
  let cost = 100;
  let samples = !listconcat(
      !foreach(one, [["3", "3"], ["0", "0"], ["3", "3x4"], ["0", "0x3"], ["17x3", "3"], ["2x3", "3"], ["2x3", "3x4"],
                     ["33x17", "17x64"], ["1x1", "1x1"], ["1x3", "3x1"], ["2x0", "0x3"], ["0x2", "2x3"], ["2x2x3", "3x4"],
                     ["2x3", "5x3x4"], ["3", "2x3x4"], ["2x4x3", "3"], ["1x2x3", "2x3x2"], ["2x1x2x3", "3x3x4"],
                     ["2x0x2x3", "3x2"], ["2x3", "0x3x2"], ["100x300", "300x50"]],
               Sample<["finite " # one[0], "finite " # one[1]], ["false", "false"]>),
      [Sample<["finite 3x2", "finite 3x4"], ["true", "false"]>, Sample<["finite 3x2", "finite 3"], ["true", "false"]>,
       Sample<["finite 17x33", "finite 64x33"], ["false", "true"]>, Sample<["finite 2x3", "finite 4x3"], ["false", "true"]>,
       Sample<["finite 3", "finite 4x3"], ["false", "true"]>, Sample<["finite 3x2", "finite 4x3"], ["true", "true"]>,
       Sample<["finite 2x3x2", "finite 4x3"], ["true", "true"]>, Sample<["finite 3x2", "finite 5x4x3"], ["true", "true"]>,
       Sample<["finite 17x33", "finite 64x17"], ["true", "true"]>, Sample<["3x5", "5x3"], ["false", "false"]>,
       Sample<["finite transposed 5x3", "finite 5x3"], ["false", "false"]>]);
  let numpy = "matmul(lhs, rhs, transpose_lhs, transpose_rhs)";
  let tolerance = "sums(max(lhs.shape))";
  let signedZeros = 0;
  let example = "matmul([[1, 2], [3, 4]], [[1, 0], [1, 1]])  ->  [[3, 2], [7, 4]]";
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

def Weft_StopGradientOp : Weft_PureOp<"stop_gradient", [Weft_CheapToRerun]> {
  let summary = "x itself, through which no gradient flows.";
  let arguments = (ins Weft_Any:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [];
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let shapeFunction = "same";
  let onComplex = each_part;
  let batching = "first";
  let inactive = "it stops gradients";
  let samples = !foreach(shape, ["scalar", "33", "0", "5x7"], Sample<[shape]>);
  let numpy = "x";
  let example = "stop_gradient([1, 2])  ->  [1, 2]";
}

def Weft_BarrierOp : Weft_PureOp<"barrier", [Weft_StaysInLinalg]> {
  let summary = "x itself, which the compiler takes for another value that is known behind `after`.";
  let description = [{
    What is computed from the result is neither merged with what was computed from x before nor moved
    in front of `after`, so that it can be computed again where it is cheaper to run than to keep.
    `after` may be of any dtype and shape, and no gradient flows to it. Costs nothing at run time.
  }];
  let arguments = (ins Weft_Any:$x, Weft_Any:$after);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [];
  let assemblyFormat = "$x `,` $after attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "same";
  let onComplex = each_part;
  let batching = "barrier";
  let vjp = [(copy $dy), (no_grad)];
  let jvp = (linear);
  let samples = !listconcat(
      !foreach(shape, ["scalar", "33", "0x3", "5x7"], Sample<[shape, "i32 [1, 2]"]>), [Sample<["2x3", "f64 2"]>]);
  let numpy = "x";
  let example = "barrier([1, 2], 3)  ->  [1, 2]";
}

def Weft_MatchShapeOp : Weft_PureOp<"match_shape", [Weft_CheapToRerun]> {
  let summary = "x itself, which must have the shape of `like`.";
  let description = [{
    Where sizes are known only at run time they are compared then. `like` may be of any dtype, and no
    gradient flows to it: its elements are never looked at. TensorFlow: `tf.ensure_shape`.
  }];
  let arguments = (ins Weft_Any:$x, Weft_Any:$like);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape", "of x's shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "the shapes differ">];
  let assemblyFormat = "$x `,` $like attr-dict `:` functional-type(operands, $y)";
  let hasFolder = 1;
  let shapeFunction = "match_shape";
  let onComplex = each_part;
  let batching = "every";
  let vjp = [(copy $dy), (no_grad)];
  let jvp = (linear);
  let samples = !foreach(shape, ["scalar", "33", "0x3", "2x3", "5x7"], Sample<[shape, "bool " # shape]>);
  let numpy = "x";
  let example = "match_shape([1, 2], [0, 0])  ->  [1, 2]";
}

#endif // WEFT_IR_STRUCTURAL_OPS
