// Functions that say where elements are, and which there are.

#ifndef WEFT_IR_POSITION_COMPOSITES
#define WEFT_IR_POSITION_COMPOSITES

include "Weft/IR/ReductionComposites.td"

class Weft_ExtremePositionFn<string name> : Weft_CompositeFn<name> {
  let parameters = (params Weft_Ordered:$x, Weft_SearchedAxis:$axis, star, Weft_Keepdims:$keepdims);
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

// With `size` it does not; without it that of a traced result is known when the function runs.

def negative_size : Raises<ValueError, "size is a negative number">;

class Weft_ValuesFn<string name> : Weft_CompositeFn<name> {
  let parameters = (params Weft_Computable:$x, star, Weft_ResultSize:$size,
                           Weft_Int<"0", "what stands behind those that are found, up to `size`">:$fill_value);
  let operandShapes = ["of any shape"];
  let raises = [negative_size];
  let cppBody = name;
  let samples = [Sample<["2x3"], ["null", "0"]>, Sample<["special"], ["null", "0"]>, Sample<["0x3"], ["null", "0"]>,
                 Sample<["transposed 7x5"], ["null", "0"]>, Sample<["2x3x4"], ["null", "0"]>, Sample<["2x3"], ["4", "-1"]>,
                 Sample<["2x3x4"], ["40", "7"]>, Sample<["0x3"], ["2", "9"]>, Sample<["2x3"], ["0", "0"]>];
}

def Weft_ArgwhereFn : Weft_ValuesFn<"argwhere"> {
  let summary = "The positions of the elements that are not 0: a row of numbers for each.";
  let resultShape = "a matrix with a column for each axis of x";
  let resultDType = "i64";
  let numpy = "sized(np.argwhere(x), size, fill_value)";
  let example = "argwhere([[0, 1], [2, 0]])  ->  [[0, 1], [1, 0]]";
}

def Weft_NonzeroFn : Weft_ValuesFn<"nonzero"> {
  let summary = "The positions of the elements that are not 0: a vector of numbers for each axis.";
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "vectors";
  let resultDType = "i64";
  let gives = "tuple";
  let raises = [negative_size, Raises<ShapeError, "x is a scalar">];
  let numpy = "sized_parts(np.nonzero(x), size, fill_value)";
  let example = "nonzero([[0, 1], [2, 0]])  ->  [[0, 1], [1, 0]]";
  let method = 1;
}

def Weft_CompressFn : Weft_CompositeFn<"compress"> {
  let summary = "The slices of x where a condition holds, along an axis; without one the elements of all in a row.";
  let description = [{
    A condition with several axes holds for elements of as many axes of x, from the one given on, which
    become one. The gradient of what is left out is 0.
  }];
  let parameters = (params Weft_Condition:$condition, Weft_Any:$x,
                           Weft_Parameter<"integer", "std::optional<std::int64_t>", "std::nullopt",
                                          "an axis of x; all elements in a row if not given">:$axis,
                           star, Weft_ResultSize:$size,
                           Weft_Real<"0.0", "the elements of what stands behind those that are found, up to `size`">:$fill_value);
  let operandShapes = ["of the sizes of x's axes that it picks from", "of any shape"];
  let resultShape = "of x's shape but for these axes, which become one";
  let resultDType = "x's dtype";
  let raises = [negative_size, Raises<IndexError, "there is no such axis, or the condition is of other sizes or a scalar">];
  let cppBody = "compress";
  let samples = [Sample<["bool [0, 1, 1]", "2x3"], ["1", "null", "0.0"]>, Sample<["i32 [1, 0]", "2x3"], ["0", "null", "0.0"]>,
                 Sample<["bool [[0, 1, 1], [1, 0, 0]]", "2x3"], ["null", "null", "0.0"]>,
                 Sample<["bool [[0, 1, 1], [1, 0, 0]]", "2x3x4"], ["0", "null", "0.0"]>,
                 Sample<["bool [0, 1, 1]", "2x3"], ["1", "5", "7.0"]>, Sample<["bool [0, 1, 1]", "3"], ["0", "1", "7.0"]>];
  let numpy = "compressed(condition, x, axis, size, fill_value)";
  let example = "compress([true, false, true], [1, 2, 3])  ->  [1, 3]";
}

def Weft_UniqueFn : Weft_CompositeFn<"unique"> {
  let summary = "The different elements in order, and what else is asked of them.";
  let description = [{
    In C++ always a list, in Python a tuple if more than the elements is asked. All NaN are one. Up to `size`
    the smallest comes again, or `fill_value`, 0 times.
  }];
  let parameters = (params Weft_Ordered:$x, Weft_Flag<"also where each comes first">:$return_index,
                           Weft_Flag<"also which of them each element of x is">:$return_inverse,
                           Weft_Flag<"also how often each comes">:$return_counts, star, Weft_ResultSize:$size,
                           Weft_OptionalReal<"what stands behind the elements, up to `size`; the smallest if not given">:$fill_value);
  let operandShapes = ["of any shape"];
  let resultShape = "vectors, and x's shape for which of them each element is";
  let resultDType = "x's dtype, i64 of what else is asked";
  let gives = "tensors";
  let raises = [negative_size];
  let cppBody = "unique";
  let samples = !listconcat(
      !foreach(one, ["i32 2x3", "f32 special", "f64 0x3", "bool 33", "i64 transposed 7x5"],
               Sample<[one], ["false", "false", "false", "null", "null"]>),
      [Sample<["i32 2x3"], ["false", "false", "false", "9", "null"]>, Sample<["f32 33"], ["false", "false", "false", "3", "0.5"]>,
       Sample<["i64 2x3"], ["false", "false", "false", "8", "1.0"]>]);
  let numpy = "unique(x, size, fill_value)";
  let signedZeros = 0;
  let example = "unique([3, 1, 3], {.return_counts = true})  ->  [[1, 3], [1, 2]]";
}

/// The array API's, of which each has its part of what `unique` gives. Each NaN is an element of its own.
class Weft_UniquesFn<string name> : Weft_CompositeFn<name> {
  let description = "In order, complex numbers by their real parts first, and each NaN is another one. Up to `size` the smallest comes again, 0 times.";
  let parameters = (params Weft_Computable:$x, star, Weft_ResultSize:$size);
  let operandShapes = ["of any shape"];
  let raises = [negative_size];
  let cppBody = name;
  let samples = [Sample<["i32 2x3"], ["null"]>, Sample<["f32 special"], ["null"]>, Sample<["f64 0x3"], ["null"]>, Sample<["bool 33"], ["null"]>,
                 Sample<["i32 [[3, 1], [3, 2]]"], ["5"]>];
  let numpy = "uniques('" # name # "', x, size)";
  let signedZeros = 0;
}
defvar uniqueValues = Weft_Result<"values", "x's dtype, a vector of the different elements">;
defvar uniqueIndices = Weft_Result<"indices", "i64, where each of them comes first among the elements in a row">;
defvar uniqueInverse = Weft_Result<"inverse_indices", "i64, which of them each element of x is, in x's shape">;
defvar uniqueCounts = Weft_Result<"counts", "i64, how often each of them comes">;
def Weft_UniqueAllFn : Weft_UniquesFn<"unique_all"> {
  let summary = "The different elements, where each comes first, which of them each element is, and how often each comes.";
  let results = [uniqueValues, uniqueIndices, uniqueInverse, uniqueCounts];
  let example = "unique_all([3, 1, 3])  ->  [[1, 3], [1, 0], [1, 0, 1], [1, 2]]";
}
def Weft_UniqueCountsFn : Weft_UniquesFn<"unique_counts"> {
  let summary = "The different elements, and how often each comes.";
  let results = [uniqueValues, uniqueCounts];
  let example = "unique_counts([3, 1, 3])  ->  [[1, 3], [1, 2]]";
}
def Weft_UniqueInverseFn : Weft_UniquesFn<"unique_inverse"> {
  let summary = "The different elements, and which of them each element is.";
  let results = [uniqueValues, uniqueInverse];
  let example = "unique_inverse([3, 1, 3])  ->  [[1, 3], [1, 0, 1]]";
}
def Weft_UniqueValuesFn : Weft_UniquesFn<"unique_values"> {
  let summary = "The different elements.";
  let resultShape = "a vector";
  let resultDType = "x's dtype";
  let example = "unique_values([3, 1, 3])  ->  [1, 3]";
}

#endif // WEFT_IR_POSITION_COMPOSITES
