// Statistics over axes, made of ops.

#ifndef WEFT_IR_REDUCTION_COMPOSITES
#define WEFT_IR_REDUCTION_COMPOSITES

include "Weft/IR/CompositeBase.td"
include "Weft/IR/StructuralOps.td"

defvar samplesOfStatistics = [
  Sample<["2x3"], ["null", "false"]>, Sample<["2x3"], ["1", "true"]>, Sample<["5x7"], ["[0, -1]", "false"]>,
  Sample<["2x3x4"], ["[0, 2]", "true"]>, Sample<["33"], ["0", "false"]>, Sample<["transposed 7x5"], ["0", "false"]>
];
def no_element : Raises<ShapeError, "x has no element along them">;

class Weft_ReductionFn<string name, Weft_TensorOf operand> : Weft_CompositeFn<name> {
  let parameters = (params operand:$x, Weft_OverAxes:$axes, star, Weft_Keepdims:$keepdims);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape without the axes, or with size 1 for them";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range, axis_twice];
  let samples = samplesOfStatistics;
}
/// Of the elements in order.
class Weft_SortedFn<string name> : Weft_ReductionFn<name, Weft_Number> {
  let resultDType = "x's dtype, f32 of integers";
  let raises = [axis_out_of_range, axis_twice, Raises<ShapeError, "x has no element along them, or a traced function does not know how many">];
  let samples = [Sample<["2x3"], ["null", "false"]>, Sample<["2x3"], ["1", "true"]>, Sample<["5x7"], ["0", "false"]>,
                 Sample<["2x4"], ["null", "true"]>, Sample<["34"], ["0", "false"]>, Sample<["2x3x4"], ["[0, 2]", "true"]>,
                 Sample<["2x3x4"], ["[2, 1]", "false"]>];
}

class Weft_ExtremumFn<string name> : Weft_ReductionFn<name, Weft_Ordered> {
  let description = "NaN where there is one. Equal ones share the gradient.";
  let cppBody = name;
  let openSizes = 0;
  let raises = [axis_out_of_range, axis_twice, no_element];
  let numpy = "np." # name # "(x, axis=axes, keepdims=keepdims)";
  let signedZeros = 0;
  let method = 1;
}
def Weft_MaxFn : Weft_ExtremumFn<"max"> {
  let summary = "The largest element over the given axes, or of all.";
  let example = "max([[1, 5], [3, 2]], {.axes = 0})  ->  [3, 5]";
}
def Weft_MinFn : Weft_ExtremumFn<"min"> {
  let summary = "The smallest element over the given axes, or of all.";
  let example = "min([[1, 5], [3, 2]], {.axes = 0})  ->  [1, 2]";
}

def Weft_PtpFn : Weft_ReductionFn<"ptp", Weft_Number> {
  let summary = "The largest element over the given axes, or of all, less the smallest.";
  let cppBody = "ptp";
  let openSizes = 0;
  let raises = [axis_out_of_range, axis_twice, no_element];
  let numpy = "np.ptp(x, axis=axes, keepdims=keepdims)";
  let example = "ptp([4, 9, 2])  ->  7";
  let method = 1;
}

def Weft_CountNonzeroFn : Weft_ReductionFn<"count_nonzero", Weft_Computable> {
  let summary = "How many elements over the given axes, or of all, are not 0.";
  let resultDType = "i64";
  let cppBody = "count_nonzero";
  let numpy = "np.sum(x != 0, axis=axes, keepdims=keepdims)";
  let example = "count_nonzero([[0, 1], [2, 3]], {.axes = 0})  ->  [1, 2]";
}

class Weft_VarianceFn<string name> : Weft_ReductionFn<name, Weft_Inexact> {
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let parameters = (params Weft_Inexact:$x, Weft_OverAxes:$axes, star,
                           Weft_Real<"0", "what the sum of squares is divided by less than their number">:$correction,
                           Weft_Keepdims:$keepdims);
  let promotion = "floating";
  let samples = [Sample<["finite 2x3"], ["null", "0", "false"]>, Sample<["finite 2x3"], ["1", "1", "true"]>,
                 Sample<["finite 5x7"], ["[0, -1]", "1", "false"]>, Sample<["finite 33"], ["0", "0.5", "false"]>,
                 Sample<["finite 2x3x4"], ["[0, 2]", "0", "true"]>];
  let pythonParameters = [Weft_OtherName<"ddof", "correction", "float">];
  let method = 1;
}

def Weft_VarFn : Weft_VarianceFn<"var"> {
  let summary = "The mean of the squared distances from the mean over the given axes, or of all elements.";
  let cppBody = "var";
  let numpy = "np.var(x, axis=axes, ddof=correction, keepdims=keepdims)";
  let tolerance = "ulps(combined_of(x, axes)) + sums(4 * combined_of(x, axes))";
  let example = "var([1.0, 2.0, 3.0, 4.0])  ->  1.25";
}

def Weft_StdFn : Weft_VarianceFn<"std"> {
  let summary = "The square root of `var`. Its gradient is 0 where the variance is.";
  let cppName = "stddev";
  let cppBody = "stddev";
  let numpy = "np.std(x, axis=axes, ddof=correction, keepdims=keepdims)";
  let tolerance = "ulps(combined_of(x, axes)) + sums(4 * combined_of(x, axes))";
  let example = "stddev([[1.0, 3.0], [5.0, 9.0]], {.axes = 1})  ->  [1, 2]";
}

def Weft_MedianFn : Weft_SortedFn<"median"> {
  let summary = "The element in the middle of the sorted ones over the given axes, or of all, or the mean of two; NaN where there is one.";
  let cppBody = "median";
  let numpy = "as_floats(np.median(x, axis=axes, keepdims=keepdims), x)";
  let tolerance = "ulps(1)";
  let example = "median([7.0, 1.0, 3.0, 2.0])  ->  2.5";
}

class Weft_ShareFn<string name, string words> : Weft_SortedFn<name> {
  let parameters = (params Weft_Number:$x, Weft_RealList<words>:$q, Weft_OverAxes:$axes, star,
                           Weft_Word<"QuantileMethod", "linear", "'linear', 'lower', 'higher', 'midpoint' or 'nearest': what is between two elements">:$method,
                           Weft_Keepdims:$keepdims);
  let resultShape = "of x's shape without the axes, or with size 1 for them; for a list with an axis for its numbers in front";
  let raises = [axis_out_of_range, axis_twice, Raises<ValueError, "a share is out of range">,
                Raises<ShapeError, "x has no element along the axes, or a traced function does not know how many">];
  let tolerance = "sums(4)";
}

def Weft_QuantileFn : Weft_ShareFn<"quantile", "one number, or a list of them, from 0 to 1"> {
  let summary = "The number that the share q of the elements over the given axes, or of all, is at most, between two of them in proportion.";
  let description = [{
    Of a vector of shares along a new first axis. NaN where there is one. Other methods take the 'lower' or the
    'higher' of the two, the 'nearest', of which the one at an even position if both are as near, or the 'midpoint'.
  }];
  let cppBody = "quantile";
  let samples = !listconcat(
      [Sample<["finite 2x3"], ["0.3", "null", "'linear'", "false"]>, Sample<["finite 5x7"], ["[0.0, 0.4, 1.0]", "0", "'linear'", "true"]>],
      !foreach(way, ["lower", "higher", "midpoint", "nearest"], Sample<["finite 2x3x4"], ["[0.1, 0.5]", "[0, 2]", "'" # way # "'", "false"]>));
  let numpy = "as_floats(np.quantile(x, q, axis=axes, method=method, keepdims=keepdims), x)";
  let example = "quantile([1.0, 2.0, 3.0, 4.0], 0.25)  ->  1.75";
}

def Weft_PercentileFn : Weft_ShareFn<"percentile", "one number, or a list of them, from 0 to 100"> {
  let summary = "As `quantile`, of shares in percent.";
  let cppBody = "percentile";
  let samples = [Sample<["finite 2x3"], ["[30]", "null", "'linear'", "true"]>, Sample<["finite 5x7"], ["[0, 25, 70]", "1", "'lower'", "false"]>];
  let numpy = "as_floats(np.percentile(x, q, axis=axes, method=method, keepdims=keepdims), x)";
  let example = "percentile([1.0, 2.0, 3.0, 4.0], 50)  ->  2.5";
}

def Weft_AverageFn : Weft_ReductionFn<"average", Weft_Computable> {
  let summary = "The mean over the given axes, or of all elements, each as often as its weight says.";
  let parameters = (params Weft_Computable:$x, Weft_OptionalIntList<"axes of x; all if not given", "axis">:$axes,
                           Weft_Optional<Weft_Computable>:$weights, star, Weft_Keepdims:$keepdims);
  let operandShapes = ["of any shape", "of a shape that broadcasts to x's, or a vector along the axis"];
  let promotion = "common";
  let resultDType = "their dtype, f32 of integers";
  let raises = [axis_out_of_range, axis_twice, Raises<ShapeError, "the weights do not fit">];
  let cppBody = "average";
  let samples = [Sample<["finite 2x3", "[[1, 2, 3], [4, 5, 6]]"], ["null", "false"]>, Sample<["finite 2x3", "[1, 2, 3]"], ["1", "false"]>,
                 Sample<["finite 2x3", "[[1, 2, 3], [4, 5, 6]]"], ["0", "true"]>];
  let numpy = "as_floats(np.average(x, axes, weights, keepdims=keepdims), x)";
  let tolerance = "sums(64)";
  let example = "average([1.0, 2.0, 6.0])  ->  3";
}

//===----------------------------------------------------------------------===//
// Without NaN
//===----------------------------------------------------------------------===//

def Weft_NansumFn : Weft_ReductionFn<"nansum", Weft_Computable> {
  let summary = "The sum over the given axes, or of all elements, of those that are not NaN.";
  let resultDType = "x's dtype, i64 of bools";
  let cppBody = "nansum";
  let numpy = "np.nansum(x, axis=axes, keepdims=keepdims, dtype=sum_dtype(x))";
  let tolerance = "sums(combined_of(x, axes))";
  let example = "nansum([1.0, nan, 3.0])  ->  4";
}

def Weft_NanmeanFn : Weft_ReductionFn<"nanmean", Weft_Computable> {
  let summary = "The mean over the given axes, or of all elements, of those that are not NaN; NaN of none.";
  let resultDType = "x's dtype, f32 of integers and bools";
  let cppBody = "nanmean";
  let numpy = "as_floats(np.nanmean(x, axis=axes, keepdims=keepdims), x)";
  let tolerance = "sums(combined_of(x, axes))";
  let example = "nanmean([1.0, nan, 3.0])  ->  2";
}

class Weft_NanEndFn<string name> : Weft_ReductionFn<name, Weft_Ordered> {
  let raises = [axis_out_of_range, axis_twice, no_element];
  let numpy = "np." # name # "(x, axis=axes, keepdims=keepdims)";
  let signedZeros = 0;
  let cppBody = name;
  let openSizes = 0;
}
def Weft_NanmaxFn : Weft_NanEndFn<"nanmax"> {
  let summary = "The largest element over the given axes, or of all, that is not NaN; NaN if there is none.";
  let example = "nanmax([1.0, nan, 3.0])  ->  3";
}
def Weft_NanminFn : Weft_NanEndFn<"nanmin"> {
  let summary = "The smallest element over the given axes, or of all, that is not NaN; NaN if there is none.";
  let example = "nanmin([1.0, nan, 3.0])  ->  1";
}

#endif // WEFT_IR_REDUCTION_COMPOSITES
