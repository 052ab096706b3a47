// Ops that move elements, or give as many of them as there are: reshape, slice, gather and their kin.

#ifndef WEFT_IR_MOVEMENT_OPS
#define WEFT_IR_MOVEMENT_OPS

include "Weft/IR/Base.td"

def Weft_ReshapeOp : Weft_PureOp<"reshape", [Weft_CheapToRerun, Weft_IsAdditive]> {
  let summary = "The same elements in another shape; one size may be -1 and follows from the rest.";
  let description = [{
    Of an x with sizes that a trace does not know, more may be -1: the last one follows, those before
    it stand for the first unknown sizes of x, in their order. So x of shape (?, ?, 12) becomes
    (?, ?, 3, 4) by {-1, -1, 3, 4}. Beside a size 0 in both shapes the last one is what would follow
    without the 0: (?, 0, 2) becomes (?, 0) by {-1, 0}, with twice the size. Beside a size that is a
    value only one may be -1.
  }];
  let arguments = (ins Weft_Any:$x, Variadic<Weft_Size>:$sizes,
                       Weft_Sizes<"the sizes of the result; one may be -1">:$shape);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of the shape given";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "x's elements do not fill the shape, a size is below -1, or more are -1 than "
                                   "may be">];
  let assemblyFormat = "$x custom<TargetSizes>($sizes, type($sizes), $shape) attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "reshape";
  let onComplex = each_part;
  let batching = "first";
  let vjp = [(reshape_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["2x3"], ["[3, 2]"]>,
    Sample<["6"], ["[2, -1, 1]"]>,
    Sample<["1000"], ["[8, -1, 1]"]>,
    Sample<["1x1"], ["[]"]>,
    Sample<["scalar"], ["[1]"]>,
    Sample<["0x3"], ["[3, 0, 2]"]>,
    Sample<["transposed 7x5"], ["[35]"]>
  ];
  let numpy = "x.reshape(shape)";
  let example = "reshape([1, 2, 3, 4], {2, -1})  ->  [[1, 2], [3, 4]]";
  let pythonParameters = [Weft_CopiesIfNeeded];
}

def Weft_WidenOp : Op<Weft_Dialect, "widen", [Pure, Weft_CheapToRerun, Weft_StaysInLinalg]> {
  let summary = "x as a tensor of which fewer sizes are known.";
  let description = [{
    Where branches, or iterations of a loop, meet with different sizes. tensor.cast would say the same, but
    upstream moves it through loops as if their state kept its size.
  }];
  let arguments = (ins Weft_Any:$x);
  let results = (outs Weft_Any:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_TransposeOp : Weft_PureOp<"transpose", [Weft_CheapToRerun, Weft_IsAdditive]> {
  let summary = "Axes in another order: axis i of the result is axis permutation[i] of x.";
  let arguments = (ins Weft_Any:$x, Weft_Permutation:$permutation);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's sizes in the order of the permutation";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "the permutation has more or fewer entries than x has axes">,
                Raises<ValueError, "it is no permutation">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
  let shapeFunction = "transpose";
  let onComplex = each_part;
  let batching = "first";
  let vjp = [(transpose_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["scalar"], ["[]"]>,
    Sample<["33"], ["[0]"]>,
    Sample<["2x3"], ["[1, 0]"]>,
    Sample<["17x33"], ["[1, 0]"]>,
    Sample<["2x3x2"], ["[2, 0, 1]"]>,
    Sample<["3x5x7"], ["[2, 0, 1]"]>,
    Sample<["0x3"], ["[1, 0]"]>
  ];
  let numpy = "x.transpose(permutation)";
  let example = "transpose([[1, 2], [3, 4]], {1, 0})  ->  [[1, 3], [2, 4]]";
  let names = [Np<"permute_dims">];
}

def Weft_BroadcastOp : Weft_PureOp<"broadcast", [Weft_CheapToRerun]> {
  let summary = "x repeated to a larger shape, as NumPy broadcasts: sizes 1 stretch.";
  let arguments = (ins Weft_Any:$x, Variadic<Weft_Size>:$sizes, Weft_Sizes<>:$shape);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of a shape that broadcasts to the one given"];
  let resultShape = "of the shape given";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "x's shape does not broadcast to the one given">];
  let assemblyFormat = "$x custom<TargetSizes>($sizes, type($sizes), $shape) attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "broadcast";
  let onComplex = each_part;
  let batching = "broadcast";
  let vjp = [(broadcast_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["scalar"], ["[3, 5]"]>,
    Sample<["3"], ["[3]"]>,
    Sample<["3"], ["[2, 3]"]>,
    Sample<["33"], ["[3, 33]"]>,
    Sample<["2x1"], ["[4, 2, 3]"]>,
    Sample<["17x1"], ["[2, 17, 3]"]>,
    Sample<["0x1"], ["[2, 0, 3]"]>,
    Sample<["1x2"], ["[0, 2]"]>
  ];
  let numpy = "np.broadcast_to(x, shape)";
  let example = "broadcast([1, 2], {2, 2})  ->  [[1, 2], [1, 2]]";
  let names = [Np<"broadcast_to">];
}

def Weft_SliceOp : Weft_PureOp<"slice", [Weft_CheapToRerun]> {
  let summary = "Elements starts[i], starts[i] + strides[i], ... before limits[i] of each axis.";
  let description = [{
    Strides are positive; `reverse` goes backwards. Every axis is given, with
    0 <= starts <= limits <= size. A limit of -1 is the end of the axis, whose size may be unknown:
    behind it a start takes nothing.
  }];
  let arguments = (ins Weft_Any:$x, Variadic<Weft_Size>:$sizes,
                       Weft_SizePerAxis<"0", "the first position of each axis">:$starts,
                       Weft_SizePerAxis<"size", "the first position behind, of each axis">:$limits,
                       Weft_PerAxis<"1", "the step of each axis">:$strides);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of as many elements along each axis as are picked";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "a list has more or fewer entries than x has axes">,
                Raises<ValueError, "a stride is not positive">,
                Raises<IndexError, "a start or limit is out of range">];
  let assemblyFormat = [{$x custom<SliceBounds>($sizes, type($sizes), $starts, $limits, $strides) attr-dict
                         `:` functional-type($x, $y)}];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "slice";
  let onComplex = each_part;
  let batching = "first";
  let vjp = [(slice_back $sizes, $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["scalar"], ["[]", "[]", "[]"]>,
    Sample<["7"], ["[1]", "[6]", "[2]"]>,
    Sample<["8"], ["[1]", "[6]", "[3]"]>,
    Sample<["33"], ["[1]", "[30]", "[2]"]>,
    Sample<["2x5"], ["[1, 0]", "[2, 5]", "[1, 4]"]>,
    Sample<["17x33"], ["[1, 0]", "[16, 33]", "[1, 4]"]>,
    Sample<["8"], ["[1]", "[6]", "[7]"]>,
    Sample<["8"], ["[1]", "[6]", "[9223372036854775807]"]>,
    Sample<["3"], ["[2]", "[2]", "[1]"]>,
    Sample<["0"], ["[0]", "[0]", "[2]"]>
  ];
  let numpy = "x[tuple(map(slice, starts, limits, strides))]";
  let example = "slice([0, 1, 2, 3, 4], {1}, {5}, {2})  ->  [1, 3]";
}

def Weft_ReverseOp : Weft_PureOp<"reverse", [Weft_CheapToRerun]> {
  let summary = "Elements in opposite order along the given axes.";
  let arguments = (ins Weft_Any:$x, Weft_Axes:$axes);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [Raises<IndexError, "an axis is not one of x">, Raises<ValueError, "an axis is given twice">];
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let shapeFunction = "reverse";
  let onComplex = each_part;
  let batching = "first";
  let vjp = [(reverse_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["scalar"]>,
    Sample<["33"]>,
    Sample<["2x3"]>,
    Sample<["5x7"]>,
    Sample<["2x0"]>
  ];
  let numpy = "np.flip(x, axes)";
  let example = "reverse([1, 2, 3])  ->  [3, 2, 1]";
  let names = [Np<"flip">];
}

def Weft_ConcatenateOp : Weft_PureOp<"concatenate", [Weft_CheapToRerun]> {
  let pythonName = ""; // `concat` joins all elements in a row too
  let summary = "Tensors joined along one axis; the other sizes agree.";
  let arguments = (ins Variadic<Weft_Any>:$xs, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more, with equal sizes but for the axis"];
  let resultShape = "of the operands' sizes, with their sum along the axis";
  let resultDType = "the operands' dtype";
  let raises = [Raises<ValueError, "there is nothing to join">,
                Raises<IndexError, "the axis is not one of the operands">,
                Raises<ShapeError, "sizes differ outside of the axis">];
  let assemblyFormat = "$xs attr-dict `:` functional-type($xs, $y)";
  let shapeFunction = "concatenate";
  let onComplex = each_part;
  let batching = "every";
  let promotion = "common";
  let vjp = [(concatenate_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["3", "17", "1"], ["0"]>,
    Sample<["2x2", "1x2", "3x2"], ["0"]>,
    Sample<["2x2", "2x0", "2x1"], ["1"]>,
    Sample<["5x3", "5x0", "5x1"], ["1"]>,
    Sample<["2x3x5", "2x1x5"], ["1"]>,
    Sample<["0", "0"], ["0"]>,
    Sample<["4"], ["0"]>
  ];
  let numpy = "np.concatenate(xs, axis)";
  let example = "concatenate({[1, 2], [3]})  ->  [1, 2, 3]";
}

def Weft_PadOp : Weft_PureOp<"pad", [Weft_CheapToRerun]> {
  let pythonName = "pad_interior"; // `pad` has the modes of NumPy
  let summary = "x with `low`, `high` copies of a value around and `interior` between elements.";
  let arguments = (ins Weft_Any:$x, Weft_Any:$value, Variadic<Weft_Size>:$sizes,
                       Weft_SizePerAxis<"0", "how many before the elements, of each axis">:$low,
                       Weft_SizePerAxis<"0", "how many behind them, of each axis">:$high,
                       Weft_PerAxis<"0", "how many between two of them, of each axis">:$interior);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of any shape", "a scalar"];
  let resultShape = "of x's shape, larger by what is put in";
  let resultDType = "the operands' dtype";
  let raises = [Raises<ShapeError, "value is no scalar, or a list has more or fewer entries than x has axes">,
                Raises<ValueError, "an entry is negative">];
  let assemblyFormat = [{$x `,` $value custom<PadAmounts>($sizes, type($sizes), $low, $high, $interior) attr-dict
                         `:` `(` type($x) `,` type($value) `)` `->` type($y)}];
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "pad";
  let onComplex = each_part;
  let batching = "first_alone";
  let promotion = "common";
  let vjp = [(pad_back $sizes, $dy), (pad_value_back $sizes, $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["2x3", "scalar"], ["[1, 0]", "[0, 2]", "[0, 0]"]>,
    Sample<["2x3", "scalar"], ["[1, 1]", "[2, 0]", "[3, 1]"]>,
    Sample<["5x7", "scalar"], ["[1, 1]", "[2, 0]", "[3, 1]"]>,
    Sample<["scalar", "scalar"], ["[]", "[]", "[]"]>,
    Sample<["0", "scalar"], ["[1]", "[2]", "[3]"]>,
    Sample<["33", "scalar"], ["[0]", "[0]", "[0]"]>
  ];
  let numpy = "padded(x, value, low, high, interior)";
  let example = "pad([1, 2], 0, {1}, {2}, {1})  ->  [0, 1, 0, 2, 0, 0]";
}

def Weft_GatherOp : Weft_PureOp<"gather", [Weft_CheapToRerun]> {
  let summary = "Slices of x along one axis, picked by integer indices of any shape.";
  let description = [{
    The result has x's shape with the axis replaced by the shape of `indices`. Indices count from 0;
    one out of range is an IndexError. The derivative is `scatter_add`.
  }];
  let arguments = (ins Weft_Any:$x, Weft_Index:$indices, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of any shape"];
  let resultShape = "of x's shape with that of indices in the place of the axis";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range, index_out_of_range];
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "gather";
  let onComplex = each_part;
  let batching = "gather";
  let vjp = [(gather_back $indices, $dy), (no_grad)];
  let jvp = (linear);
  let samples = [
    Sample<["33", "[[32, 0], [7, 7]]"], ["0"]>,
    Sample<["3x2", "[[2, 0], [2, 1]]"], ["0"]>,
    Sample<["2x3", "[[2, 0], [2, 1]]"], ["1"]>,
    Sample<["3x17", "[16, 0, 0]"], ["1"]>,
    Sample<["3x2", "2"], ["0"]>,
    Sample<["3x2", "[]"], ["0"]>,
    Sample<["0x2", "[]"], ["0"]>
  ];
  let numpy = "np.take(x, indices, axis)";
  let example = "gather([10, 20, 30], [2, 0, 2])  ->  [30, 10, 30]";
}

def Weft_ScatterAddOp : Weft_PureOp<"scatter_add"> {
  let widening = "floats";
  let summary = "x with slices of `updates` added along one axis at integer indices.";
  let description = [{
    `updates` has x's shape with the axis replaced by the shape of `indices`. Equal indices add up,
    in the order of `updates`. An index out of range is an IndexError.
  }];
  let arguments = (ins Weft_Numeric:$x, Weft_Index:$indices, Weft_Numeric:$updates, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of any shape",
                       "of x's shape with that of indices in the place of the axis"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [dtypes_differ, axis_out_of_range, index_out_of_range,
                Raises<ShapeError, "updates has another shape">];
  let assemblyFormat = "$x `,` $indices `,` $updates attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "scatter_add";
  let onComplex = each_part;
  let batching = "scatter_add";
  let vjp = [(copy $dy), (no_grad), (scatter_add_back $indices, $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["5", "[[4, 0], [4, 4]]", "2x2"], ["0"]>,
    Sample<["33", "[[32, 0], [7, 7]]", "2x2"], ["0"]>,
    Sample<["3x2", "[[2, 0], [2, 1]]", "2x2x2"], ["0"]>,
    Sample<["2x3", "[2, 2]", "2x2"], ["1"]>,
    Sample<["3x17", "[16, 0, 0]", "3x3"], ["1"]>,
    Sample<["3x2", "2", "2"], ["0"]>,
    Sample<["3x2", "[]", "0x2"], ["0"]>,
    Sample<["0", "[]", "0"], ["0"]>
  ];
  let numpy = "scattered(x, indices, updates, axis)";
  let example = "scatter_add([0., 0., 0.], [2, 0, 2], [1., 2., 3.])  ->  [2, 0, 4]";
}

def Weft_TakeAlongAxisOp : Weft_PureOp<"take_along_axis"> {
  let summary = "Elements of x along one axis, picked by indices that stand in their positions.";
  let cppName = "gather_along_axis"; // `take_along_axis` takes negative indices too
  let pythonName = "";
  let eagerFunction = "take_along_axis";
  let description = [{
    `indices` has x's sizes but for the axis; y[i, j] = x[indices[i, j], j] for axis 0 of two. Indices
    count from 0; one out of range is an IndexError. The derivative is `add_along_axis`.
  }];
  let arguments = (ins Weft_Any:$x, Weft_Index:$indices, Weft_LastAxis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of x's sizes but for the axis"];
  let resultShape = "of the shape of indices";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range, index_out_of_range,
                Raises<ShapeError, "sizes of x and indices differ outside of the axis">];
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "take_along_axis";
  let onComplex = each_part;
  let batching = "every";
  let vjp = [(take_along_axis_back $indices, $dy), (no_grad)];
  let jvp = (linear);
  let samples = [
    Sample<["33", "[32, 0, 7, 7]"], ["0"]>,
    Sample<["3x2", "[[2, 0], [2, 1]]"], ["0"]>,
    Sample<["2x3", "[[2, 0], [2, 1]]"], ["1"]>,
    Sample<["3x17", "[[16, 0], [1, 2], [3, 3]]"], ["1"]>,
    Sample<["3x2x2", "[[[2, 0], [1, 1]]]"], ["0"]>,
    Sample<["3x2", "3x0"], ["1"]>,
    Sample<["0x2", "0x2"], ["0"]>,
    Sample<["transposed 5x3", "[[4], [0], [2]]"], ["1"]>
  ];
  let numpy = "np.take_along_axis(x, indices, axis)";
  let example = "gather_along_axis([[10, 20, 30], [40, 50, 60]], [[2, 0], [1, 1]])  ->  [[30, 10], [50, 50]]";
}

def Weft_AddAlongAxisOp : Weft_PureOp<"add_along_axis"> {
  let widening = "floats";
  let summary = "x with single elements added along one axis at indices that stand in their places.";
  let description = [{
    `indices` and `updates` have x's sizes but for the axis: x[indices[i, j], j] += updates[i, j] for
    axis 0 of two. Equal indices add up, in the order of `updates`. An index out of range is an
    IndexError.
  }];
  let arguments = (ins Weft_Numeric:$x, Weft_Index:$indices, Weft_Numeric:$updates,
                       Weft_LastAxis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of x's sizes but for the axis", "of the shape of indices"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [dtypes_differ, axis_out_of_range, index_out_of_range,
                Raises<ShapeError, "sizes of x and indices differ outside of the axis, or the shapes of "
                                   "indices and updates">];
  let assemblyFormat = "$x `,` $indices `,` $updates attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "add_along_axis";
  let onComplex = each_part;
  let batching = "every";
  let vjp = [(copy $dy), (no_grad), (add_along_axis_back $indices, $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["5", "[4, 0, 4, 4]", "4"], ["0"]>,
    Sample<["3x2", "[[2, 0], [2, 1]]", "2x2"], ["0"]>,
    Sample<["2x3", "[[2, 2], [0, 1]]", "2x2"], ["1"]>,
    Sample<["3x17", "[[16, 0], [1, 2], [3, 3]]", "3x2"], ["1"]>,
    Sample<["2x3x2", "[[[2, 0], [1, 1]], [[0, 0], [2, 2]]]", "2x2x2"], ["1"]>,
    Sample<["3x2", "3x0", "3x0"], ["1"]>,
    Sample<["0", "[]", "0"], ["0"]>
  ];
  let numpy = "added_along(x, indices, updates, axis)";
  let example = "add_along_axis([[0., 0., 0.]], [[2, 0, 2]], [[1., 2., 3.]])  ->  [[2, 0, 4]]";
}

def Weft_UpdateSliceOp : Weft_PureOp<"update_slice"> {
  let summary = "x with one slice across an axis replaced.";
  let description = [{
    `index` is an integer scalar, and `value` has x's shape without the axis. An index out of range
    is an IndexError. A loop that updates its state this way does so in place.
  }];
  let arguments = (ins Weft_Any:$x, Weft_Index:$index, Weft_Any:$value, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "a scalar", "of x's shape without the axis"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [dtypes_differ, axis_out_of_range, index_out_of_range,
                Raises<ShapeError, "index is no scalar, or value has another shape">];
  let assemblyFormat = "$x `,` $index `,` $value attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "update_slice";
  let onComplex = each_part;
  let batching = "update_slice";
  let vjp = [(update_slice_back $index, $dy), (no_grad), (update_slice_value_back $index, $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["5", "4", "scalar"], ["0"]>,
    Sample<["33", "32", "scalar"], ["0"]>,
    Sample<["3x2", "1", "2"], ["0"]>,
    Sample<["2x3", "2", "2"], ["1"]>,
    Sample<["3x17", "16", "3"], ["1"]>,
    Sample<["3x0", "2", "0"], ["0"]>
  ];
  let numpy = "with_slice(x, index, value, axis)";
  let example = "update_slice([[1., 2.], [3., 4.]], 1, [5., 6.])  ->  [[1, 2], [5, 6]]";
}

def Weft_SizeOp : Weft_PureOp<"size", [Weft_CheapToRerun]> {
  let summary = "The size of an axis, as an i64 scalar.";
  let cppName = "size_of";
  let arguments = (ins Weft_Any:$x, Weft_Axis:$axis);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "a scalar";
  let resultDType = "i64";
  let raises = [axis_out_of_range];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
  let shapeFunction = "size";
  let onComplex = each_part;
  let batching = "size";
  let inactive = "its result is a size";
  let samples = [
    Sample<["3x17"]>,
    Sample<["0"]>,
    Sample<["2x0"]>
  ];
  let numpy = "np.int64(x.shape[axis])";
  let example = "size_of([[1, 2, 3], [4, 5, 6]], {.axis = 1})  ->  3";
}

#endif // WEFT_IR_MOVEMENT_OPS
