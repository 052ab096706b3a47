// Counts and statistics of samples, curves through points, and sums over segments, made of ops.

#ifndef WEFT_IR_NUMERIC_COMPOSITES
#define WEFT_IR_NUMERIC_COMPOSITES

include "Weft/IR/MatrixComposites.td"

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

def Weft_BincountFn : Weft_CompositeFn<"bincount"> {
  let summary = "How often each of the numbers 0, 1, .. comes, or the sum of its weights.";
  let description = "Of the weights' dtype if there are some. As many as the largest number asks for, and at least `minlength`. With a `size` as many, and larger numbers are left out.";
  let parameters = (params Weft_Index:$x, Weft_Optional<Weft_Computable>:$weights, Weft_Int<"0", "the least size of the result">:$minlength,
                           star, Weft_ResultSize:$size);
  let operandShapes = ["of any shape", "of x's shape"];
  let resultShape = "a vector";
  let resultDType = "i64";
  let raises = [index_out_of_range, Raises<ValueError, "the size or the least size is negative">,
                Raises<ShapeError, "the weights are not of x's shape">];
  let cppBody = "bincount";
  let samples = [Sample<["[0, 3, 1, 1]", "finite 4"], ["0", "null"]>, Sample<["[[0, 2], [2, 2]]", "finite 2x2"], ["5", "null"]>,
                 Sample<["[0, 3, 1, 1]", "finite 4"], ["0", "3"]>, Sample<["[]", "0"], ["2", "null"]>];
  let numpy = "counted(x, weights, minlength, size)";
  let tolerance = "sums(8)";
  let signedZeros = 0;
  let example = "bincount([0, 3, 1, 1])  ->  [1, 2, 0, 1]";
}

def Weft_HistogramFn : Weft_CompositeFn<"histogram"> {
  let summary = "How many elements there are in each of several intervals of one length, or between edges.";
  let description = "An interval has its lower edge, and the last one both. What is outside of all is not counted.";
  let parameters = (params Weft_Float:$x, Weft_Parameter<"bins", "Bins", "10", "how many intervals, or a list of their edges">:$bins,
                           Weft_Parameter<"reals", "std::optional<RealList>", "std::nullopt",
                                          "the lowest and the highest edge; those of the elements if not given">:$range,
                           Weft_Flag<"the share of all elements, divided by the length of the interval">:$density, Weft_Optional<Weft_Float>:$weights, star);
  let operandShapes = ["of any shape", "of x's shape"];
  let promotion = "floating";
  let results = [Weft_Result<"hist", "i64, how many there are in each; x's dtype with weights or density">,
                 Weft_Result<"bin_edges", "x's dtype, the edges, which are one more">];
  let raises = [Raises<ValueError, "there is no interval, or edges or the range are not in order">,
                Raises<ShapeError, "the weights are not of x's shape">];
  let cppBody = "histogram";
  let samples = [Sample<["finite 2x3", "finite 2x3"], ["4", "null", "false"]>, Sample<["finite 2x3", "[[1, 2, 3], [4, 5, 6]]"], ["3", "[-4.0, 4.0]", "true"]>,
                 Sample<["finite 33", "finite 33"], ["[-2.0, 0.0, 0.5]", "null", "false"]>, Sample<["0", "0"], ["3", "null", "false"]>];
  let numpy = "flat(np.histogram(x, list(bins) if isinstance(bins, tuple) else bins, range, density, weights))";
  let tolerance = "sums(64) + 1e-5";
  let signedZeros = 0;
  let example = "histogram([1.0, 2.0, 1.5], [1.0, 1.0, 1.0], {.bins = 2})  ->  [[1.0, 2.0], [1.0, 1.5, 2.0]]";
}

def Weft_DigitizeFn : Weft_CompositeFn<"digitize"> {
  let summary = "The number of the interval between edges that each element is in: 0 is in front of the first edge.";
  let description = "Edges rise or fall. An interval has its edge on the left, or on the right.";
  let parameters = (params Weft_Number:$x, Weft_Number:$bins, Weft_Flag<"an interval has its right edge">:$right, star);
  let operandShapes = ["of any shape", "of one axis"];
  let promotion = "common";
  let resultShape = "of x's shape";
  let resultDType = "i64";
  let raises = [Raises<ShapeError, "the edges have not one axis">, Raises<AssertionError, "the edges neither rise nor fall">];
  let cppBody = "digitize";
  let domain = "nowhere";
  let samples = [Sample<["33", "[-2, 0, 3]"], ["false"]>, Sample<["2x3", "[-2, 0, 3]"], ["true"]>, Sample<["33", "[3, 0, -2]"], ["false"]>,
                 Sample<["33", "[3, 0, -2]"], ["true"]>];
  let numpy = "np.digitize(x, bins, right)";
  let example = "digitize([0.5, 3.0], [1.0, 2.0, 3.0])  ->  [0, 3]";
}

//===----------------------------------------------------------------------===//
// Several variables
//===----------------------------------------------------------------------===//

class Weft_VariablesFn<string name> : Weft_CompositeFn<name> {
  let operandShapes = ["of one axis or two", "of one axis or two"];
  let promotion = "floating";
  let resultShape = "a matrix, or a scalar of one variable";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "x or y has more than two axes, or not as many observations">];
  let cppBody = name;
  let tolerance = "sums(64)";
  let signedZeros = 0;
}

def Weft_CovFn : Weft_VariablesFn<"cov"> {
  let summary = "The covariances of variables, which are rows of x, and of y if it is given.";
  let parameters = (params Weft_Inexact:$x, Weft_Optional<Weft_Inexact>:$y, Weft_FlagThatHolds<"whether variables are rows">:$rowvar,
                           Weft_Flag<"divide by the number of observations, and not by one less">:$bias,
                           Weft_OptionalInt<"what the divisor is less than their number">:$ddof,
                           Weft_Optional<Weft_Index>:$fweights, Weft_Optional<Weft_Inexact>:$aweights, star);
  let description = "An observation counts `fweights` times, and with `aweights` as what it weighs beside others.";
  let operandShapes = ["of one axis or two", "of one axis or two", "an element for each observation", "an element for each observation"];
  let raises = [Raises<ShapeError, "x or y has more than two axes, or not as many observations; there are not as many weights">,
                Raises<AssertionError, "a weight is negative or not real">];
  let samples = [Sample<["finite 2x3", "finite 2x3", "[1, 4, 2]", "[3, 1, 2]"], ["true", "false", "null"]>,
                 Sample<["finite 5x7", "finite 5x2", "[1, 3, 2, 1, 2]", "[1, 2, 1, 4, 1]"], ["false", "true", "null"]>,
                 Sample<["finite 7", "finite 7", "[1, 1, 2, 0, 2, 3, 1]", "[1, 2, 1, 3, 4, 1, 0]"], ["true", "false", "0"]>];
  let numpy = "np.cov(x, y, rowvar, bias, ddof, fweights, aweights)";
  let example = "cov([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])  ->  [[1, -1], [-1, 1]]";
  let tolerance = "sums(64) + 1e-5";
}

def Weft_CorrcoefFn : Weft_VariablesFn<"corrcoef"> {
  let summary = "The correlations of variables, which are rows of x, and of y if it is given.";
  let parameters = (params Weft_Inexact:$x, Weft_Optional<Weft_Inexact>:$y, Weft_FlagThatHolds<"whether variables are rows">:$rowvar, star);
  let samples = [Sample<["finite 2x3", "finite 2x3"], ["true"]>, Sample<["finite 5x7", "finite 5x2"], ["false"]>];
  let numpy = "np.corrcoef(x, y, rowvar)";
  let tolerance = "1e-4";
  let example = "corrcoef([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])  ->  [[1, -1], [-1, 1]]";
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

def Weft_InterpFn : Weft_CompositeFn<"interp"> {
  let summary = "The values at x of the lines between the points (xp, fp), of which xp rises.";
  let parameters = (params Weft_Float:$x, Weft_Float:$xp, Weft_Float:$fp, Weft_OptionalReal<"the value in front of the points; the first one's if not given">:$left,
                           Weft_OptionalReal<"the value behind the points; the last one's if not given">:$right,
                           Weft_OptionalReal<"after how much the points repeat, which need not rise then; nothing is in front of them or behind them">:$period, star);
  let operandShapes = ["of any shape", "of one axis", "of xp's shape"];
  let promotion = "floating";
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "xp or fp has not one axis, has no element, or they are not of one size">,
                Raises<ValueError, "the period is 0 or not finite">];
  let cppBody = "interp";
  let samples = [Sample<["finite 2x3", "[-3, 0, 1, 4]", "finite 4"], ["null", "null", "null"]>, Sample<["finite 33", "[-3, 0, 1, 4]", "finite 4"], ["-7.0", "9.0", "null"]>,
                 Sample<["finite 3", "[2]", "finite 1"], ["null", "null", "null"]>, Sample<["finite 33", "[1, -3, 9, 5]", "finite 4"], ["null", "null", "5.0"]>,
                 Sample<["finite 3", "[2]", "finite 1"], ["null", "null", "-2.0"]>];
  let numpy = "np.interp(x.astype(float), xp.astype(float), fp.astype(float), left, right, period).astype(x.dtype)";
  let tolerance = "sums(64) + 1e-5";
  let signedZeros = 0;
  let example = "interp([0.5, 9.0], [0.0, 1.0], [10.0, 20.0])  ->  [15, 20]";
}

def Weft_TrapezoidFn : Weft_CompositeFn<"trapezoid"> {
  let summary = "The integral along an axis by the trapezoidal rule, of values at x, or dx apart.";
  let parameters = (params Weft_Inexact:$y, Weft_Optional<Weft_Inexact>:$x, Weft_Real<"1.0", "how far values are apart if x is not given">:$dx, Weft_AnAxis<"-1">:$axis, star);
  let operandShapes = ["of rank 1 or more", "of y's shape, or of one axis of that size"];
  let promotion = "floating";
  let resultShape = "of y's shape without the axis";
  let resultDType = "y's dtype";
  let raises = [axis_out_of_range, shapes_do_not_broadcast];
  let cppBody = "trapezoid";
  let samples = [Sample<["finite 2x3", "finite 3"], ["1.0", "-1"]>, Sample<["finite 5x7", "finite 5"], ["1.0", "0"]>, Sample<["finite 2x3", "finite 2x3"], ["1.0", "1"]>];
  let numpy = "np.trapezoid(y, x, dx, axis)";
  let tolerance = "sums(64) + 1e-5";
  let signedZeros = 0;
  let example = "trapezoid([1.0, 2.0, 4.0])  ->  4.5";
}

def Weft_GradientFn : Weft_CompositeFn<"gradient"> {
  let cppName = "numeric_gradient"; // tapes have a `gradient` with options
  let summary = "The slopes along axes: central differences, and those of the two elements at each end.";
  let parameters = (params Weft_Float:$f, Weft_Real<"1.0", "how far elements are apart">:$spacing,
                           Weft_OptionalIntList<"axes of f, negative ones counted from the end; all if not given", "axis">:$axes,
                           Weft_Int<"1", "1, or 2 for differences of three elements at the ends">:$edge_order, star, Weft_Optional<Weft_Float>:$coordinates);
  let description = "With `coordinates` elements are where these say along each of the axes, instead of `spacing` apart.";
  let operandShapes = ["of rank 1 or more", "of one axis, as long as each of the axes"];
  let promotion = "floating";
  let gives = "tensors";
  let resultShape = "of f's shape for each axis, in the order of the axes";
  let resultDType = "f's dtype";
  let raises = [axis_out_of_range, axis_twice, Raises<ShapeError, "there are no more elements along an axis than the order, or not as many as coordinates">,
                Raises<ValueError, "the order is neither 1 nor 2">];
  let cppBody = "gradient";
  let samples = [Sample<["finite 3x4", "[0, 1, 4, 5]"], ["1.0", "1", "1"]>, Sample<["finite 5x7", "[0, 1, 4, 5, 7]"], ["1.0", "0", "2"]>,
                 Sample<["finite 3x3", "[0, 1, 4]"], ["1.0", "[1, 0]", "1"]>, Sample<["finite 7", "[9, 7, 5, 4, 2, 1, -3]"], ["1.0", "null", "2"]>];
  let numpy = "slopes(f, coordinates, axes, edge_order)";
  let tolerance = "sums(64) + 1e-5";
  let signedZeros = 0;
  let example = "numeric_gradient([[1.0, 2.0], [4.0, 8.0]])  ->  [[[3.0, 6.0], [3.0, 6.0]], [[1.0, 1.0], [4.0, 4.0]]]";
}

def Weft_PolyvalFn : Weft_CompositeFn<"polyval"> {
  let summary = "The values at x of the polynomial with these coefficients, the highest first.";
  let parameters = (params Weft_Numeric:$p, Weft_Numeric:$x);
  let operandShapes = ["of one axis", "of any shape"];
  let promotion = "common";
  let resultShape = "of x's shape";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "p has not one axis, or a traced function does not know its size">];
  let cppBody = "polyval";
  let samples = [Sample<["finite 4", "finite 2x3"]>, Sample<["finite 1", "finite 33"]>, Sample<["0", "3"]>];
  let numpy = "np.polyval(p, x).astype(x.dtype)";
  let tolerance = "sums(16)";
  let signedZeros = 0;
  let example = "polyval([1, 0, 2], [3, 4])  ->  [11, 18]";
}

def Weft_PolyfitFn : Weft_CompositeFn<"polyfit"> {
  let summary = "The coefficients, the highest first, of the polynomial of a degree that is closest to y at x, by least squares.";
  let description = [{
    Weights multiply the distances, whose squares are summed. Columns of x's powers are scaled to length 1, and `lstsq`
    finds the coefficients; its singular values up to rcond times the largest count as 0.
  }];
  let parameters = (params Weft_Float:$x, Weft_Float:$y, Weft_Int<"", "the degree">:$deg,
                           Weft_OptionalReal<"x's size times the dtype's epsilon if not given, that epsilon if below 0">:$rcond, star,
                           Weft_Optional<Weft_Float>:$w);
  let operandShapes = ["of one axis", "of one axis, or of two: a column for each polynomial", "of x's shape"];
  let promotion = "floating";
  let resultShape = "one larger than the degree, and as many columns as y has";
  let resultDType = "their dtype";
  let raises = [Raises<ValueError, "the degree is negative, or above 64">,
                Raises<ShapeError, "x has not one axis or no element, y has not one axis or two, w has not x's shape, or they are not of one size">,
                no_singular_values, Raises<IOError, "deg is above 15, and the system has no LAPACK">];
  let cppBody = "polyfit";
  let samples = [Sample<["[-2, -1, 0, 1, 3]", "finite 5", "[1, 2, 1, 1, 3]"], ["2", "null"]>, Sample<["[-2, -1, 0, 1, 3]", "finite 5x2", "[1, 1, 1, 1, 1]"], ["3", "null"]>,
                 Sample<["[-2, -1, 0, 1, 3]", "finite 5", "[1, 2, 1, 1, 3]"], ["0", "1e-6"]>];
  let numpy = "np.polyfit(x.astype(float), y.astype(float), deg, rcond, w=w.astype(float)).astype(x.dtype)";
  let tolerance = "near(1024)";
  let signedZeros = 0;
  let example = "polyfit([0.0, 1.0, 2.0], [3.0, 5.0, 7.0], [1.0, 1.0, 1.0], 1)  ->  [2, 3]";
}

class Weft_SlidingFn<string name, string otherwise> : Weft_PairFn<name, Weft_Numeric> {
  let operandShapes = ["of one axis", "of one axis"];
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$v, Weft_Word<"ConvolveMode", otherwise, "'full', 'same' or 'valid': where the shorter may stand">:$mode);
  let resultShape = "a vector, larger than the longer by the shorter less 1, of the longer's size, or smaller by that";
  let raises = [Raises<ShapeError, "a or v has not one axis or no element">];
  let cppBody = name;
  let samples = !listconcat(
      !foreach(mode, ["full", "same", "valid"], Sample<["finite 7", "finite 3"], ["'" # mode # "'"]>),
      !foreach(mode, ["full", "same", "valid"], Sample<["finite 2", "finite 5"], ["'" # mode # "'"]>),
      [Sample<["finite 3", "finite 3"], ["'same'"]>, Sample<["finite 6", "finite 4"], ["'same'"]>]);
  let numpy = "np." # name # "(a, v, mode)";
  let tolerance = "sums(64)";
  let signedZeros = 0;
}
def Weft_ConvolveFn : Weft_SlidingFn<"convolve", "full"> {
  let summary = "The convolution of two vectors: sums of products, of which one vector is turned round.";
  let example = "convolve([1, 2, 3], [0, 1])  ->  [0, 1, 2, 3]";
}
def Weft_CorrelateFn : Weft_SlidingFn<"correlate", "valid"> {
  let summary = "The cross-correlation of two vectors: sums of products of one with the other at each position.";
  let example = "correlate([1, 2, 3], [0, 1])  ->  [2, 3]";
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

class Weft_SegmentFn<string name, Weft_TensorOf operand> : Weft_CompositeFn<name> {
  let parameters = (params operand:$x, Weft_Index:$segment_ids, Weft_RequiredSize<"how many segments there are">:$num_segments);
  let operandShapes = ["of rank 1 or more", "of the size of x's first axis"];
  let resultShape = "of x's shape, but with the segments for the first axis";
  let resultDType = "x's dtype";
  let raises = [index_out_of_range, Raises<ShapeError, "the ids are not of one axis, or not as many as slices">,
                Raises<ValueError, "the number of segments is negative">];
  let cppBody = name;
  let samples = [Sample<["finite 4", "[0, 2, 0, 1]"], ["3"]>, Sample<["finite 4x3", "[2, 0, 0, 2]"], ["4"]>, Sample<["0x3", "[]"], ["2"]>];
  let numpy = "segments('" # name # "', x, segment_ids, num_segments)";
  let tolerance = "sums(8)";
  let signedZeros = 0;
}
def Weft_SegmentSumFn : Weft_SegmentFn<"segment_sum", Weft_Numeric> {
  let summary = "The sums of the slices of each segment along the first axis: the slice i belongs to the segment segment_ids[i].";
  let promotion = "sum";
  let example = "segment_sum([1, 2, 3], [0, 2, 0], 3)  ->  [4, 0, 2]";
}
def Weft_SegmentMeanFn : Weft_SegmentFn<"segment_mean", Weft_Float> {
  let summary = "The means of the slices of each segment along the first axis, and 0 of none: the slice i belongs to the segment segment_ids[i].";
  let promotion = "floating";
  let example = "segment_mean([1.0, 2.0, 3.0], [0, 2, 0], 3)  ->  [2, 0, 2]";
}

#endif // WEFT_IR_NUMERIC_COMPOSITES
