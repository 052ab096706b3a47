// Functions that say where elements are, and which there are.

#ifndef WEFT_IR_POSITION_COMPOSITES
#define WEFT_IR_POSITION_COMPOSITES

include "Weft/IR/ReductionComposites.td"

class Weft_ExtremePositionFn<string name> : Weft_CompositeFn<name> {
  let parameters = (params Weft_Any:$x, Weft_SearchedAxis:$axis, star, Weft_Keepdims:$keepdims);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape without the axis, or with size 1 for it; of all elements a scalar";
  let resultDType = "i64";
  let raises = [axis_out_of_range, no_element];
  let cppBody = name;
  let openSizes = 0;
  let samples = [Sample<["2x3"], ["null", "false"]>, Sample<["2x3"], ["1", "true"]>, Sample<["5x7"], ["0", "false"]>, Sample<["special"], ["0", "false"]>,
                 Sample<["2x3x4"], ["null", "true"]>, Sample<["33"], ["-1", "false"]>, Sample<["transposed 7x5"], ["0", "false"]>];
  let numpy = "np." # name # "(x, axis, keepdims=keepdims)";
  let method = 1;
}
def Weft_ArgmaxFn : Weft_ExtremePositionFn<"argmax"> {
  let summary = "The position of the first largest element along an axis, or of all in a row; NaN counts as largest.";
  let example = "argmax([[1, 3, 2], [9, 0, 9]], {.axis = 1})  ->  [1, 0]";
}
def Weft_ArgminFn : Weft_ExtremePositionFn<"argmin"> {
  let summary = "The position of the first smallest element along an axis, or of all in a row; NaN counts as smallest.";
  let example = "argmin([[1, 3, 2], [9, 0, 9]], {.axis = 1})  ->  [0, 1]";
}

def Weft_TopKFn : Weft_CompositeFn<"top_k"> {
  let summary = "The k largest elements along an axis, the largest first, and where they are.";
  let description = [{
    Of equal ones the first comes first, and NaN counts as largest, as in `sort`. The gradient of the values goes where they come from.
  }];
  let parameters = (params Weft_Number:$x, Weft_Int<"", "how many">:$k, star, Weft_AnAxis<"-1">:$axis,
                           Weft_Flag<"the k smallest instead, the smallest first">:$smallest);
  let operandShapes = ["of rank 1 or more"];
  let results = [Weft_Result<"values", "x's dtype, x's shape with k elements along the axis">,
                 Weft_Result<"indices", "i64, where each of them is along the axis of x">];
  let raises = [axis_out_of_range, Raises<ValueError, "k is negative, or more than the axis has elements">];
  let cppBody = "top_k";
  let samples = [Sample<["2x3"], ["2", "-1", "false"]>, Sample<["2x3x4"], ["1", "0", "true"]>, Sample<["5x7"], ["3", "0", "false"]>,
                 Sample<["33"], ["0", "-1", "false"]>, Sample<["transposed 7x5"], ["5", "1", "true"]>, Sample<["special"], ["4", "0", "false"]>,
                 Sample<["special"], ["4", "0", "true"]>, Sample<["0x3"], ["2", "-1", "false"]>];
  let numpy = "flat(top_k(x, k, axis, smallest))";
  let signedZeros = 0;
  let example = "top_k([1, 3, 2], 2)  ->  [[3, 2], [1, 2]]";
}

//===----------------------------------------------------------------------===//
// Results whose shape depends on values
//===----------------------------------------------------------------------===//

def traced_values : Raises<ValueError, "a function is traced, which has no values">;

class Weft_ValuesFn<string name> : Weft_CompositeFn<name> {
  let parameters = (params Weft_Any:$x);
  let operandShapes = ["of any shape"];
  let raises = [traced_values];
  let cppBody = name;
  let readsValues = 1;
  let openSizes = 0;
  let samples = [Sample<["2x3"]>, Sample<["special"]>, Sample<["0x3"]>, Sample<["transposed 7x5"]>, Sample<["2x3x4"]>];
}

def Weft_ArgwhereFn : Weft_ValuesFn<"argwhere"> {
  let summary = "The positions of the elements that are not 0: a row of numbers for each.";
  let resultShape = "a matrix with a column for each axis of x";
  let resultDType = "i64";
  let numpy = "np.argwhere(x)";
  let example = "argwhere([[0, 1], [2, 0]])  ->  [[0, 1], [1, 0]]";
}

def Weft_NonzeroFn : Weft_ValuesFn<"nonzero"> {
  let summary = "The positions of the elements that are not 0: a vector of numbers for each axis.";
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "vectors";
  let resultDType = "i64";
  let gives = "tuple";
  let raises = [traced_values, Raises<ShapeError, "x is a scalar">];
  let numpy = "flat(np.nonzero(x))";
  let example = "nonzero([[0, 1], [2, 0]])  ->  [[0, 1], [1, 0]]";
  let method = 1;
}

def Weft_UniqueFn : Weft_ValuesFn<"unique"> {
  let summary = "The different elements in order, and what else is asked of them.";
  let description = "In C++ always a list, in Python a tuple if more than the elements is asked. All NaN are one.";
  let parameters = (params Weft_Any:$x, Weft_Flag<"also where each comes first">:$return_index,
                           Weft_Flag<"also which of them each element of x is">:$return_inverse,
                           Weft_Flag<"also how often each comes">:$return_counts, star);
  let resultShape = "vectors, and x's shape for which of them each element is";
  let resultDType = "x's dtype, i64 of what else is asked";
  let gives = "tensors";
  let samples = !foreach(one, ["i32 2x3", "f32 special", "f64 0x3", "bool 33", "i64 transposed 7x5"], Sample<[one], ["false", "false", "false"]>);
  let numpy = "np.unique(x)";
  let signedZeros = 0;
  let example = "unique([3, 1, 3], {.return_counts = true})  ->  [[1, 3], [1, 2]]";
}

#endif // WEFT_IR_POSITION_COMPOSITES
