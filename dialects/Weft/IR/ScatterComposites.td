// Functions that put elements where indices say, and reductions of segments that are no sums, made of ops.

#ifndef WEFT_IR_SCATTER_COMPOSITES
#define WEFT_IR_SCATTER_COMPOSITES

include "Weft/IR/NumericComposites.td"

def Weft_ScatterElementsFn : Weft_CompositeFn<"scatter_elements"> {
  let summary = "The tensor with elements at these positions among all in a row set, or combined with others.";
  let description = [{
    Of updates with one position 'set' takes the last; the others, 'add', 'multiply', 'min' and 'max', have all.
    A position of as many as there are elements is of none: its update is left out. `x.at[i].set(..)` is made of it.
  }];
  let parameters = (params Weft_Any:$x, Weft_Index:$indices, Weft_Any:$updates,
                           Weft_Word<"ScatterReduction", "set", "'set', 'add', 'multiply', 'min' or 'max'">:$reduction);
  let operandShapes = ["of any shape", "of any shape", "of the shape of indices"];
  let promotion = "none";
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [dtypes_differ, index_out_of_range, Raises<ShapeError, "the shapes of indices and updates differ">,
                Raises<DTypeError, "bools are combined">];
  let cppBody = "scatter_elements";
  let openSizes = 0;
  let samples = !listconcat(
      !foreach(way, ["set", "add", "multiply", "min", "max"], Sample<["f32 finite 2x3", "[5, 0, 5, 2, 6]", "f32 finite 5"], ["'" # way # "'"]>),
      !foreach(way, ["set", "multiply", "max"], Sample<["i32 5x7", "[[3, 1], [3, 34]]", "i32 2x2"], ["'" # way # "'"]>),
      [Sample<["f64 3", "[]", "f64 0"], ["'max'"]>, Sample<["f64 33", "[4, 4, 4, 4, 4]", "f64 finite 5"], ["'multiply'"]>]);
  let numpy = "scattered_elements(x, indices, updates, reduction)";
  let tolerance = "sums(8)";
  let signedZeros = 0;
  let example = "scatter_elements([1, 2, 3], [0, 2, 0], [7, 8, 9])  ->  [9, 2, 8]";
}

def Weft_SegmentProdFn : Weft_SegmentFn<"segment_prod", Weft_Number> {
  let summary = "The products of the slices of each segment along the first axis, and 1 of none: the slice i belongs to the segment segment_ids[i].";
  let promotion = "sum";
  let openSizes = 0;
  let example = "segment_prod([2, 3, 4], [0, 2, 0], 3)  ->  [8, 1, 3]";
}
def Weft_SegmentMaxFn : Weft_SegmentFn<"segment_max", Weft_Number> {
  let summary = "The largest elements of each segment along the first axis, and the lowest of none, -inf: the slice i belongs to the segment segment_ids[i].";
  let description = "NaN counts as largest. Of equal ones the last has the gradient.";
  let promotion = "number";
  let openSizes = 0;
  let example = "segment_max([2.0, 3.0, 4.0], [0, 1, 0], 2)  ->  [4, 3]";
}
def Weft_SegmentMinFn : Weft_SegmentFn<"segment_min", Weft_Number> {
  let summary = "The smallest elements of each segment along the first axis, and the highest of none, inf: the slice i belongs to the segment segment_ids[i].";
  let description = "NaN counts as smallest. Of equal ones the last has the gradient.";
  let promotion = "number";
  let openSizes = 0;
  let example = "segment_min([2.0, 3.0, 4.0], [0, 1, 0], 2)  ->  [2, 3]";
}

#endif // WEFT_IR_SCATTER_COMPOSITES
