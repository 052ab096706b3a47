// Functions made of ops that join, shape, repeat and move tensors.

#ifndef WEFT_IR_ARRAY_COMPOSITES
#define WEFT_IR_ARRAY_COMPOSITES

include "Weft/IR/CompositeBase.td"

def sizes_not_known : Raises<ShapeError, "a traced function does not know the size">;

/// Of one tensor, whose elements stay.
class Weft_MovementFn<string name> : Weft_CompositeFn<name> {
  let moves = 1;
  let parameters = (params Weft_Any:$x);
  let operandShapes = ["of any shape"];
  let resultDType = "x's dtype";
  let raises = [];
  let samples = [Sample<["2x3"]>, Sample<["33"]>, Sample<["0x3"]>, Sample<["2x3x4"]>, Sample<["transposed 7x5"]>];
}

//===----------------------------------------------------------------------===//
// Joins and parts
//===----------------------------------------------------------------------===//

def other_sizes_differ : Raises<ShapeError, "the other sizes differ">;
def nothing_to_join : Raises<ValueError, "there is nothing to join">;

class Weft_JoinFn<string name> : Weft_CompositeFn<name> {
  let moves = 1;
  let parameters = (params Weft_List<Weft_Any>:$xs);
  let operandShapes = ["whose other sizes are the same"];
  let promotion = "common";
  let resultDType = "their dtype";
  let raises = [other_sizes_differ, nothing_to_join];
  let samples = [Sample<["2x3", "2x3"]>, Sample<["3", "3", "3"]>, Sample<["2x3x4", "2x3x4"]>, Sample<["0x3", "0x3"]>];
}

def Weft_ConcatFn : Weft_JoinFn<"concat"> {
  let summary = "Tensors joined along an axis, or all their elements in a row.";
  let parameters = (params Weft_List<Weft_Any>:$xs, Weft_JoinedAxis:$axis);
  let operandShapes = ["of rank 1 or more, with equal sizes but for the axis; of any shape without an axis"];
  let resultShape = "of the operands' sizes, with their sum along the axis";
  let raises = [other_sizes_differ, nothing_to_join, Raises<IndexError, "the axis is not one of the operands">];
  let cppBody = "concat";
  let samples = [Sample<["3", "17", "1"], ["0"]>, Sample<["2x3x5", "2x1x5"], ["-2"]>, Sample<["2x3", "scalar", "0x3"], ["null"]>,
                 Sample<["2x2", "2x0", "2x1"], ["1"]>];
  let numpy = "np.concatenate(xs, axis)";
  let example = "concat({[1, 2], [3]})  ->  [1, 2, 3]";
  let names = [Np<"concatenate">];
}

def Weft_StackFn : Weft_JoinFn<"stack"> {
  let summary = "Tensors of one shape along a new axis.";
  let parameters = (params Weft_List<Weft_Any>:$xs, Weft_Int<"0", "the new axis; a negative one counts from the end">:$axis);
  let operandShapes = ["of one shape"];
  let resultShape = "of that shape with one axis more";
  let raises = [Raises<ShapeError, "shapes differ">, Raises<IndexError, "the result has no such axis">, nothing_to_join];
  let cppBody = "stack";
  let samples = [Sample<["2x3", "2x3"], ["0"]>, Sample<["2x3", "2x3"], ["1"]>, Sample<["2x3", "2x3"], ["-1"]>,
                 Sample<["scalar", "scalar", "scalar"], ["0"]>, Sample<["0x3", "0x3"], ["2"]>];
  let numpy = "np.stack(xs, axis)";
  let example = "stack({[1, 2], [3, 4]}, 1)  ->  [[1, 3], [2, 4]]";
}

def Weft_VstackFn : Weft_JoinFn<"vstack"> {
  let summary = "Tensors joined along the first axis, those of one axis as rows.";
  let resultShape = "of two axes or more";
  let cppBody = "vstack";
  let numpy = "np.vstack(xs)";
  let example = "vstack({[1, 2], [3, 4]})  ->  [[1, 2], [3, 4]]";
}

def Weft_HstackFn : Weft_JoinFn<"hstack"> {
  let summary = "Tensors joined along the second axis, those of one axis along that.";
  let resultShape = "of as many axes";
  let cppBody = "hstack";
  let numpy = "np.hstack(xs)";
  let example = "hstack({[1, 2], [3]})  ->  [1, 2, 3]";
}

def Weft_DstackFn : Weft_JoinFn<"dstack"> {
  let summary = "Tensors joined along the third axis, which those of fewer axes are given.";
  let resultShape = "of three axes or more";
  let cppBody = "dstack";
  let numpy = "np.dstack(xs)";
  let example = "dstack({[1, 2], [3, 4]})  ->  [[[1, 3], [2, 4]]]";
}

def Weft_ColumnStackFn : Weft_JoinFn<"column_stack"> {
  let summary = "Tensors joined along the second axis, those of one axis as columns.";
  let resultShape = "of two axes or more";
  let cppBody = "column_stack";
  let numpy = "np.column_stack(xs)";
  let example = "column_stack({[1, 2], [3, 4]})  ->  [[1, 3], [2, 4]]";
}

class Weft_PartsFn<string name> : Weft_MovementFn<name> {
  let parameters = (params Weft_Any:$x, Weft_Sections:$sections, Weft_AnAxis<"0">:$axis);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "each of x's shape but for that axis";
  let gives = "list";
}

def Weft_SplitFn : Weft_PartsFn<"split"> {
  let summary = "So many parts of one size along an axis, or the parts between the positions of a list.";
  let raises = [Raises<ShapeError, "the parts are not of one size: `array_split` has some larger ones then">,
                Raises<ValueError, "there are no parts">, axis_out_of_range];
  let cppBody = "split";
  let samples = [Sample<["2x3"], ["3", "1"]>, Sample<["4x3"], ["2", "0"]>, Sample<["33"], ["[1, 4]", "0"]>,
                 Sample<["2x3"], ["[1, -1]", "-1"]>, Sample<["0x3"], ["[0]", "0"]>];
  let numpy = "flat(np.split(x, sections, axis))";
  let example = "split([1, 2, 3, 4, 5, 6], 3)  ->  [[1, 2], [3, 4], [5, 6]]";
}

def Weft_ArraySplitFn : Weft_PartsFn<"array_split"> {
  let summary = "As `split`, where a number of parts need not be equal: the first ones are larger by one.";
  let raises = [Raises<ValueError, "the number of parts is not positive">, axis_out_of_range];
  let cppBody = "array_split";
  let samples = [Sample<["2x3"], ["2", "1"]>, Sample<["33"], ["5", "0"]>, Sample<["2x3"], ["4", "0"]>];
  let numpy = "flat(np.array_split(x, sections, axis))";
  let example = "array_split([1, 2, 3, 4, 5], 3)  ->  [[1, 2], [3, 4], [5]]";
}

def Weft_UnstackFn : Weft_MovementFn<"unstack"> {
  let summary = "The slices along an axis.";
  let parameters = (params Weft_Any:$x, Weft_AnAxis<"0">:$axis);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "each of x's shape without that axis";
  let gives = "tuple";
  let raises = [axis_out_of_range, sizes_not_known, Raises<ValueError, "there are more than 2^20 slices">];
  let cppBody = "unstack";
  let samples = [Sample<["2x3"], ["0"]>, Sample<["2x3"], ["-1"]>, Sample<["3"], ["0"]>];
  let numpy = "flat(np.moveaxis(x, axis, 0))";
  let example = "unstack([[1, 2], [3, 4]])  ->  [[1, 2], [3, 4]]";
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

def Weft_ExpandDimsFn : Weft_MovementFn<"expand_dims"> {
  let summary = "The tensor with axes of size 1, which are those given of the result.";
  let parameters = (params Weft_Any:$x, Weft_IntList<"the new axes; negative ones count from the end", "axis">:$axes);
  let resultShape = "of x's shape with these axes more";
  let raises = [Raises<IndexError, "the result has no such axis">, axis_twice];
  let cppBody = "expand_dims";
  let samples = [Sample<["2x3"], ["0"]>, Sample<["2x3"], ["[0, -1]"]>, Sample<["scalar"], ["0"]>, Sample<["0x3"], ["[1, 2]"]>];
  let numpy = "np.expand_dims(x, axes)";
  let example = "expand_dims([1, 2], 0)  ->  [[1, 2]]";
}

def Weft_SqueezeFn : Weft_MovementFn<"squeeze"> {
  let summary = "The tensor without the axes of size 1, or without those given.";
  let parameters = (params Weft_Any:$x, Weft_OptionalIntList<"which axes; all of size 1 if not given", "axis">:$axes);
  let resultShape = "of x's shape without them";
  let raises = [Raises<ShapeError, "an axis that is given is of another size">, axis_out_of_range, axis_twice];
  let cppBody = "squeeze";
  let openSizes = 0;
  let samples = [Sample<["2x1x3"], ["null"]>, Sample<["2x1x3"], ["1"]>, Sample<["1x2x1"], ["[0, -1]"]>, Sample<["2x3"], ["null"]>];
  let numpy = "np.squeeze(x, axes)";
  let example = "squeeze([[1], [2]])  ->  [1, 2]";
  let method = 1;
}

def Weft_RavelFn : Weft_MovementFn<"ravel"> {
  let summary = "All elements along one axis.";
  let resultShape = "of one axis";
  let cppBody = "ravel";
  let numpy = "np.ravel(x)";
  let example = "ravel([[1, 2], [3, 4]])  ->  [1, 2, 3, 4]";
  let method = 1;
}

def Weft_AtLeast1dFn : Weft_MovementFn<"atleast_1d"> {
  let summary = "The tensor; a scalar with an axis of size 1.";
  let resultShape = "of one axis or more";
  let cppBody = "atleast_1d";
  let samples = [Sample<["scalar"]>, Sample<["3"]>, Sample<["2x3"]>];
  let numpy = "np.atleast_1d(x)";
  let example = "atleast_1d(3)  ->  [3]";
}

def Weft_AtLeast2dFn : Weft_MovementFn<"atleast_2d"> {
  let summary = "The tensor; one of fewer than two axes as a row.";
  let resultShape = "of two axes or more";
  let cppBody = "atleast_2d";
  let samples = [Sample<["scalar"]>, Sample<["3"]>, Sample<["2x3"]>, Sample<["2x3x4"]>];
  let numpy = "np.atleast_2d(x)";
  let example = "atleast_2d([1, 2])  ->  [[1, 2]]";
}

def Weft_SwapaxesFn : Weft_MovementFn<"swapaxes"> {
  let summary = "The tensor with two axes exchanged.";
  let parameters = (params Weft_Any:$x, Weft_AnAxis<>:$axis1, Weft_AnAxis<>:$axis2);
  let resultShape = "of x's shape with these exchanged";
  let raises = [axis_out_of_range];
  let cppBody = "swapaxes";
  let samples = [Sample<["2x3"], ["0", "1"]>, Sample<["2x3x4"], ["0", "-1"]>, Sample<["2x3"], ["1", "1"]>];
  let numpy = "np.swapaxes(x, axis1, axis2)";
  let example = "swapaxes([[1, 2], [3, 4]], 0, 1)  ->  [[1, 3], [2, 4]]";
  let method = 1;
}

def Weft_MoveaxisFn : Weft_MovementFn<"moveaxis"> {
  let summary = "The tensor with some axes moved; the others stay in their order.";
  let parameters = (params Weft_Any:$x, Weft_IntList<"the axes that move">:$source, Weft_IntList<"which axes they become">:$destination);
  let resultShape = "of x's sizes in another order";
  let raises = [axis_out_of_range, Raises<ValueError, "the lists are not of one length, or one has an axis twice">];
  let cppBody = "moveaxis";
  let samples = [Sample<["2x3x4"], ["0", "-1"]>, Sample<["2x3x4"], ["[0, 1]", "[-1, 0]"]>, Sample<["2x3"], ["[]", "[]"]>];
  let numpy = "np.moveaxis(x, source, destination)";
  let example = "moveaxis([[1, 2], [3, 4]], 0, -1)  ->  [[1, 3], [2, 4]]";
}

def Weft_MatrixTransposeFn : Weft_MovementFn<"matrix_transpose"> {
  let summary = "Matrices, the last two axes, with rows and columns exchanged.";
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape with the last two axes exchanged";
  let raises = [Raises<ShapeError, "x has fewer than two axes">];
  let cppBody = "matrix_transpose";
  let samples = [Sample<["2x3"]>, Sample<["2x3x4"]>];
  let numpy = "np.swapaxes(x, -1, -2)";
  let example = "matrix_transpose([[1, 2], [3, 4]])  ->  [[1, 3], [2, 4]]";
}

def Weft_FlipudFn : Weft_MovementFn<"flipud"> {
  let summary = "The rows, or slices along the first axis, from the last to the first.";
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape";
  let raises = [Raises<IndexError, "x is a scalar">];
  let cppBody = "flipud";
  let numpy = "np.flipud(x)";
  let example = "flipud([[1, 2], [3, 4]])  ->  [[3, 4], [1, 2]]";
}

def Weft_FliplrFn : Weft_MovementFn<"fliplr"> {
  let summary = "The columns, or slices along the second axis, from the last to the first.";
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape";
  let raises = [Raises<IndexError, "x has fewer than two axes">];
  let cppBody = "fliplr";
  let samples = [Sample<["2x3"]>, Sample<["2x3x4"]>];
  let numpy = "np.fliplr(x)";
  let example = "fliplr([[1, 2], [3, 4]])  ->  [[2, 1], [4, 3]]";
}

def Weft_Rot90Fn : Weft_MovementFn<"rot90"> {
  let summary = "The tensor rotated by 90 degrees k times in the plane of two axes, from the first to the second.";
  let parameters = (params Weft_Any:$x, Weft_Int<"1", "how many times; the other way round if negative">:$k,
                           Weft_OptionalIntList<"the two axes; the first two if not given">:$axes);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape, with the sizes of the two axes exchanged if k is odd";
  let raises = [Raises<ValueError, "there are not two different axes">, axis_out_of_range];
  let cppBody = "rot90";
  let samples = [Sample<["2x3"], ["1", "null"]>, Sample<["2x3"], ["-2", "null"]>, Sample<["2x3x4"], ["3", "[2, 0]"]>, Sample<["2x3"], ["0", "null"]>];
  let numpy = "np.rot90(x, k, axes or (0, 1))";
  let example = "rot90([[1, 2], [3, 4]])  ->  [[2, 4], [1, 3]]";
}

def Weft_BroadcastArraysFn : Weft_MovementFn<"broadcast_arrays"> {
  let summary = "Tensors stretched to the shape that all of them broadcast to.";
  let parameters = (params Weft_Rest<Weft_Any>:$xs);
  let operandShapes = ["that broadcast with each other"];
  let resultShape = "of that shape";
  let resultDType = "each of its own dtype";
  let gives = "tuple";
  let raises = [shapes_do_not_broadcast, nothing_to_join];
  let cppBody = "broadcast_arrays";
  let samples = [Sample<["2x3", "3"]>, Sample<["2x1", "1x3", "scalar"]>, Sample<["0x3", "1x3"]>];
  let numpy = "flat(np.broadcast_arrays(*xs))";
  let example = "broadcast_arrays({[1, 2], 3})  ->  [[1, 2], [3, 3]]";
}

//===----------------------------------------------------------------------===//
// Parts that begin where a number says
//===----------------------------------------------------------------------===//

def Weft_UnfoldFn : Weft_MovementFn<"unfold"> {
  let summary = "The windows of an axis along a new last axis: how many elements each has, and how far they are apart.";
  let parameters = (params Weft_Any:$x, Weft_Int<"", "how many elements a window has">:$size,
                           Weft_Int<"1", "how far windows are apart">:$step, Weft_AnAxis<"-1">:$axis);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape, but with the windows for the axis, and one axis more";
  let raises = [axis_out_of_range, Raises<ValueError, "the size is negative or the step not positive">,
                Raises<ShapeError, "a window is longer than the axis">];
  let cppBody = "unfold";
  let samples = [Sample<["2x3"], ["2", "1", "-1"]>, Sample<["5x7"], ["3", "2", "0"]>, Sample<["33"], ["4", "5", "0"]>, Sample<["2x3"], ["0", "1", "1"]>];
  let numpy = "unfolded(x, size, step, axis)";
  let example = "unfold([1, 2, 3, 4], 3)  ->  [[1, 2, 3], [2, 3, 4]]";
}

def Weft_DynamicSliceFn : Weft_MovementFn<"dynamic_slice"> {
  let summary = "The part of that shape that begins where numbers say, which a trace may compute.";
  let description = "A part that would end behind an axis begins earlier, so that it is of that shape. Negative numbers count from the end.";
  let parameters = (params Weft_Any:$x, Weft_Integers<"where it begins along each axis">:$starts, Weft_SizeList<"the sizes of the part">:$sizes);
  let resultShape = "of the sizes given";
  let raises = [Raises<ValueError, "there are not as many numbers as axes, or a size is negative">, Raises<ShapeError, "a size is larger than that of x">];
  let cppBody = "dynamic_slice";
  let samples = [Sample<["2x3"], ["[0, 1]", "[2, 2]"]>, Sample<["5x7"], ["[9, -2]", "[2, 3]"]>, Sample<["33"], ["[4]", "[5]"]>];
  let numpy = "x[part_from(x.shape, starts, sizes)]";
  let example = "dynamic_slice([1, 2, 3, 4], 1, {2})  ->  [2, 3]";
}

def Weft_DynamicUpdateSliceFn : Weft_MovementFn<"dynamic_update_slice"> {
  let summary = "The tensor with a part replaced that begins where numbers say, which a trace may compute, as `dynamic_slice` takes it.";
  let parameters = (params Weft_Any:$x, Weft_Any:$update, Weft_Integers<"where it begins along each axis">:$starts);
  let operandShapes = ["of any shape", "of as many axes"];
  let promotion = "common";
  let resultShape = "of x's shape";
  let resultDType = "their dtype";
  let raises = [Raises<ValueError, "there are not as many numbers as axes">, Raises<ShapeError, "the update has another rank, or is larger than x">];
  let cppBody = "dynamic_update_slice";
  let samples = [Sample<["2x3", "2x2"], ["[0, 1]"]>, Sample<["5x7", "2x3"], ["[9, -2]"]>, Sample<["33", "5"], ["[4]"]>, Sample<["3", "0"], ["[1]"]>];
  let numpy = "replaced_from(x, update, starts)";
  let example = "dynamic_update_slice([1, 2, 3, 4], [8, 9], 1)  ->  [1, 8, 9, 4]";
}

def Weft_PadFn : Weft_MovementFn<"pad"> {
  let summary = "The tensor with elements in front and behind along each axis: a constant, or elements of its own.";
  let description = [{
    'constant' has `constant_values`, 'edge' the element at the edge, 'reflect' and 'symmetric' those that a mirror
    shows without and with the one at the edge, 'wrap' those of the other end. 'linear_ramp' goes from the edge to
    `end_values`; 'maximum', 'mean', 'median' and 'minimum' are of the slices of the axis, or of the `stat_length` nearest.
    Of integers ramps are rounded down, and means to the nearest, of two to the even one.
  }];
  let parameters = (params Weft_Any:$x,
                           Weft_Parameter<"pad_width", "PadWidths", "", "how many in front and behind: of each axis, of all, or one number for both">:$pad_width,
                           Weft_Word<"PadMode", "constant", "'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect', 'symmetric' or 'wrap'">:$mode, star,
                           Weft_Real<"0", "the elements of 'constant'">:$constant_values,
                           Weft_Real<"0", "the outermost elements of 'linear_ramp'">:$end_values,
                           Weft_OptionalInt<"of how many slices at an end 'maximum', 'mean', 'median' and 'minimum' are; of all if not given">:$stat_length);
  let resultShape = "of x's shape, larger by them";
  let raises = [Raises<ValueError, "there are not as many pairs as axes, a number is negative, or `stat_length` is not positive">,
                Raises<ShapeError, "an axis without elements is to have some of its own">,
                Raises<DTypeError, "x is not a real number, and the mode computes with its elements">];
  let cppBody = "pad";
  let samples = !listconcat(
      !foreach(mode, ["constant", "edge", "reflect", "symmetric", "wrap"], Sample<["2x3"], ["[[1, 2], [0, 4]]", "'" # mode # "'", "0", "0", "null"]>),
      !foreach(mode, ["edge", "reflect", "symmetric", "wrap"], Sample<["3"], ["[7, 8]", "'" # mode # "'", "0", "0", "null"]>),
      [Sample<["5x7"], ["2", "'constant'", "3", "0", "null"]>, Sample<["1x3"], ["[[2, 2], [1, 0]]", "'reflect'", "0", "0", "null"]>, Sample<["scalar"], ["0", "'edge'", "0", "0", "null"]>]);
  let numpy = "np.pad(x, pad_width, mode) if mode != 'constant' else np.pad(x, pad_width, mode, constant_values=constant_values)";
  let example = "pad([1, 2, 3], {{1, 2}}, {.mode = PadMode::edge})  ->  [1, 1, 2, 3, 3, 3]";
}

//===----------------------------------------------------------------------===//
// Repeated and moved
//===----------------------------------------------------------------------===//

def Weft_RepeatFn : Weft_MovementFn<"repeat"> {
  let summary = "Each element so many times, one behind the other: of all in a row, or each slice of an axis.";
  let parameters = (params Weft_Any:$x, Weft_Integers<"how many times, or that of each slice">:$repeats,
                           Weft_OptionalAxis<"an axis; all elements in a row if not given">:$axis);
  let resultShape = "of x's shape but for that axis";
  let raises = [Raises<ShapeError, "there are more or fewer numbers than slices">, Raises<ValueError, "a number is negative">,
                Raises<AssertionError, "a number that a trace computes is negative">, axis_out_of_range];
  let cppBody = "repeat";
  let samples = [Sample<["2x3"], ["2", "null"]>, Sample<["2x3"], ["3", "1"]>, Sample<["2x3"], ["[1, 3]", "0"]>,
                 Sample<["2x3"], ["0", "0"]>, Sample<["scalar"], ["2", "null"]>, Sample<["2x3x4"], ["2", "-2"]>];
  let numpy = "np.repeat(x, repeats, axis)";
  let example = "repeat([1, 2], 2)  ->  [1, 1, 2, 2]";
  let method = 1;
}

def Weft_TileFn : Weft_MovementFn<"tile"> {
  let summary = "The tensor so many times along each axis; the last axes are those that are given.";
  let parameters = (params Weft_Any:$x, Weft_Parameter<"shape", "Sizes", "", "how many times along each of the last axes">:$reps);
  let resultShape = "of x's shape, or of as many axes as there are numbers, each so many times as large";
  let raises = [Raises<ValueError, "a number is negative">, Raises<ShapeError, "there are more elements than a tensor may have">];
  let cppBody = "tile";
  let samples = [Sample<["2x3"], ["2"]>, Sample<["2x3"], ["[2, 1, 3]"]>, Sample<["3"], ["[2, 0]"]>, Sample<["1x3"], ["[3, 1]"]>,
                 Sample<["scalar"], ["[2]"]>, Sample<["2x3"], ["[]"]>, Sample<["0x3"], ["[2, 2]"]>, Sample<["transposed 7x5"], ["[1, 2]"]>];
  let numpy = "np.tile(x, reps)";
  let example = "tile([1, 2], {2, 1})  ->  [[1, 2], [1, 2]]";
}

def Weft_MeshgridFn : Weft_MovementFn<"meshgrid"> {
  let summary = "The coordinates of the points of a grid: of vectors tensors with an axis for each.";
  let parameters = (params Weft_Rest<Weft_Any>:$xs,
                           Weft_Word<"GridIndexing", "xy", "'xy' exchanges the first two axes, 'ij' does not">:$indexing);
  let resultShape = "with an axis for each";
  let resultDType = "each of its own dtype";
  let gives = "tuple";
  let raises = [Raises<ValueError, "there is no vector">];
  let cppBody = "meshgrid";
  let samples = [Sample<["2", "3"], ["'xy'"]>, Sample<["2", "3", "4"], ["'ij'"]>, Sample<["3", "3", "3"], ["'xy'"]>, Sample<["3"], ["'xy'"]>,
                 Sample<["0", "3"], ["'xy'"]>];
  let numpy = "flat(np.meshgrid(*xs, indexing=indexing))";
  let example = "meshgrid({[1, 2], [3, 4, 5]}, GridIndexing::ij)  ->  [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]";
}

def Weft_RollFn : Weft_MovementFn<"roll"> {
  let summary = "The tensor with its slices moved on along axes, those at the end to the front; without axes the elements in a row.";
  let parameters = (params Weft_Any:$x, Weft_Integers<"how far, or how far along each axis">:$shift,
                           Weft_OptionalIntList<"one axis or several; all elements in a row if not given", "axis">:$axes);
  let resultShape = "of x's shape";
  let raises = [axis_out_of_range, Raises<ValueError, "there are not as many shifts as axes">];
  let cppBody = "roll";
  let samples = [Sample<["2x3"], ["2", "null"]>, Sample<["2x3"], ["1", "1"]>, Sample<["5x7"], ["[1, -3]", "[0, 1]"]>,
                 Sample<["0x3"], ["1", "0"]>, Sample<["33"], ["-40", "0"]>];
  let numpy = "np.roll(x, shift, axes)";
  let example = "roll([1, 2, 3, 4], 1)  ->  [4, 1, 2, 3]";
}

def Weft_DiffFn : Weft_MovementFn<"diff"> {
  let moves = 0;
  let summary = "The differences of neighbours along an axis, n times, of the tensor with others in front and behind.";
  let parameters = (params Weft_Computable:$x, Weft_Int<"1", "how many times">:$n, Weft_AnAxis<"-1">:$axis, star,
                           Weft_Optional<Weft_Computable>:$prepend, Weft_Optional<Weft_Computable>:$append);
  let operandShapes = ["of rank 1 or more", "of x's sizes but for the axis, or a scalar", "of x's sizes but for the axis, or a scalar"];
  let promotion = "common";
  let resultShape = "of x's shape, but the axis is shorter by n";
  let raises = [axis_out_of_range, other_sizes_differ, Raises<ValueError, "n is negative">];
  let cppBody = "diff";
  let samples = [Sample<["2x3", "2x1", "2x2"], ["1", "-1"]>, Sample<["5x7", "1x7", "3x7"], ["2", "0"]>, Sample<["3", "2", "1"], ["4", "0"]>,
                 Sample<["2x3", "1x3", "0x3"], ["0", "0"]>];
  let numpy = "np.diff(x, n, axis, prepend, append)";
  let example = "diff([1, 4, 9, 16])  ->  [3, 5, 7]";
}

class Weft_CumulativeFn<string name> : Weft_MovementFn<name> {
  let moves = 0;
  let parameters = (params Weft_Computable:$x, star, Weft_OptionalAxis<"an axis; the only one if not given">:$axis, Weft_OptionalDType:$dtype,
                           Weft_Flag<"begin with what nothing gives, so that the axis is longer by one">:$include_initial);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype, i64 of bools, or the dtype given";
  let raises = [axis_out_of_range, Raises<ValueError, "x has several axes and none is given, or is a scalar">];
  let cppBody = name;
  let samples = [Sample<["2x3"], ["1", "null", "false"]>, Sample<["5x7"], ["0", "null", "true"]>, Sample<["33"], ["null", "null", "true"]>,
                 Sample<["0x3"], ["0", "null", "true"]>];
  let tolerance = "sums(64)";
}
def Weft_CumulativeSumFn : Weft_CumulativeFn<"cumulative_sum"> {
  let summary = "The sum of each element and all before it along an axis.";
  let numpy = "running(np.cumsum, 0, x, axis, dtype, include_initial)";
  let example = "cumulative_sum([1, 2, 3], {.include_initial = true})  ->  [0, 1, 3, 6]";
}
def Weft_CumulativeProdFn : Weft_CumulativeFn<"cumulative_prod"> {
  let summary = "The product of each element and all before it along an axis.";
  let numpy = "running(np.cumprod, 1, x, axis, dtype, include_initial)";
  let example = "cumulative_prod([1, 2, 3])  ->  [1, 2, 6]";
}

def Weft_PositiveFn : Weft_MovementFn<"positive"> {
  let summary = "The tensor itself, as +x.";
  let parameters = (params Weft_Numeric:$x);
  let resultShape = "of x's shape";
  let cppBody = "positive";
  let numpy = "+x";
  let example = "positive([1, -2])  ->  [1, -2]";
}

#endif // WEFT_IR_ARRAY_COMPOSITES
