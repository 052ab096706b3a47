// Functions made of ops on vectors and matrices: products, diagonals, norms, comparisons, and picked elements.

#ifndef WEFT_IR_MATRIX_COMPOSITES
#define WEFT_IR_MATRIX_COMPOSITES

include "Weft/IR/ArrayComposites.td"
include "Weft/IR/Composites.td"
include "Weft/IR/LinalgOps.td"
include "Weft/IR/StructuralOps.td"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

class Weft_PairFn<string name, Weft_TensorOf operand> : Weft_CompositeFn<name> {
  let parameters = (params operand:$a, operand:$b);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of a"];
  let promotion = "common";
  let resultDType = "their dtype";
  let raises = [shapes_do_not_broadcast];
  let samples = [Sample<["2x3", "2x3"]>, Sample<["3", "3"]>, Sample<["2x3", "3"]>, Sample<["0x3", "0x3"]>];
}

def Weft_CrossFn : Weft_PairFn<"cross", Weft_Numeric> {
  let summary = "The vector product of vectors of three numbers along an axis.";
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$b, Weft_Int<"-1", "an axis; a negative one counts from the end">:$axis);
  let resultShape = "of the shape that the operands broadcast to";
  let raises = [Raises<ShapeError, "the axis is not of size 3, or the shapes do not broadcast">,
                Raises<IndexError, "there is no such axis">];
  let cppBody = "cross";
  let samples = [Sample<["finite 2x3", "finite 2x3"], ["-1"]>, Sample<["finite 2x3", "finite 3"], ["-1"]>, Sample<["finite 3x2", "finite 3x2"], ["0"]>];
  let numpy = "np.cross(a, b, axis=axis)";
  let tolerance = "ulps(2) + 1e-5";
  let example = "cross([1, 0, 0], [0, 1, 0])  ->  [0, 0, 1]";
}

def Weft_OuterFn : Weft_PairFn<"outer", Weft_Numeric> {
  let summary = "The product of each element of a with each of b, both in a row.";
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "a matrix";
  let raises = [];
  let cppBody = "outer";
  let numpy = "np.outer(a, b)";
  let example = "outer([1, 2], [3, 4, 5])  ->  [[3, 4, 5], [6, 8, 10]]";
}

def Weft_KronFn : Weft_PairFn<"kron", Weft_Numeric> {
  let summary = "The Kronecker product: a copy of b for each element of a, multiplied by it.";
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "of the products of sizes, the last axes together";
  let raises = [];
  let cppBody = "kron";
  let samples = [Sample<["2x3", "2x3"]>, Sample<["3", "2"]>, Sample<["2x3", "3"]>, Sample<["2", "2x3"]>, Sample<["0x3", "2x3"]>];
  let numpy = "np.kron(a, b)";
  let example = "kron([1, 2], [1, 10])  ->  [1, 10, 2, 20]";
}

def Weft_CdistFn : Weft_CompositeFn<"cdist"> {
  let summary = "The distances of each vector of a from each of b: the p-th root of the sum of |difference|^p.";
  let description = "Axes in front of vectors and their number are those of a batch. The gradient at a distance of 0 is 0.";
  let parameters = (params Weft_Float:$a, Weft_Float:$b, Weft_Real<"2", "which distance: a number from 0 on, or inf for the largest">:$p);
  let operandShapes = ["of shape (..., m, k)", "of shape (..., n, k)"];
  let promotion = "floating";
  let resultShape = "of shape (..., m, n)";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "an operand is no matrix, the lengths of vectors differ, or the batches do not broadcast">,
                Raises<ValueError, "p is negative">];
  let cppBody = "cdist";
  let samples = [Sample<["finite 2x3", "finite 4x3"], ["2"]>, Sample<["finite 2x3", "finite 4x3"], ["1"]>, Sample<["finite 2x3x4", "finite 2x2x4"], ["3"]>,
                 Sample<["finite 2x3", "finite 4x3"], ["1e400"]>, Sample<["finite 2x3", "finite 4x3"], ["0"]>, Sample<["0x3", "4x3"], ["2"]>];
  let numpy = "distances(a, b, p)";
  let tolerance = "sums(64) + ulps(8)";
  let example = "cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])  ->  [[5, 1]]";
}

//===----------------------------------------------------------------------===//
// Parts of matrices
//===----------------------------------------------------------------------===//

def no_matrix : Raises<ShapeError, "x is no matrix">;

class Weft_DiagonalsFn<string name, Weft_TensorOf operand> : Weft_MovementFn<name> {
  let parameters = (params operand:$x, Weft_Int<"0", "which diagonal; those above the main one are positive">:$offset,
                           Weft_AnAxis<"0">:$axis1, Weft_AnAxis<"1">:$axis2);
  let operandShapes = ["of rank 2 or more"];
  let raises = [no_matrix, axis_out_of_range, Raises<ValueError, "the axes are the same">];
  let samples = [Sample<["2x3"], ["0", "0", "1"]>, Sample<["5x7"], ["-2", "0", "1"]>, Sample<["2x3x4"], ["1", "2", "0"]>,
                 Sample<["2x3"], ["9", "-1", "-2"]>];
  let method = 1;
}

def Weft_DiagonalFn : Weft_DiagonalsFn<"diagonal", Weft_Any> {
  let summary = "The diagonals of the matrices of two axes, along a new last axis.";
  let resultShape = "of x's shape without the two axes, with a last one";
  let cppBody = "diagonal";
  let numpy = "np.diagonal(x, offset, axis1, axis2)";
  let example = "diagonal([[1, 2, 3], [4, 5, 6]], 1)  ->  [2, 6]";
}

def Weft_TraceFn : Weft_DiagonalsFn<"trace", Weft_Computable> {
  let moves = 0;
  let summary = "The sums of the diagonals that `diagonal` gives.";
  let resultShape = "of x's shape without the two axes";
  let resultDType = "x's dtype, i64 of bools";
  let cppBody = "trace";
  let numpy = "np.trace(x, offset, axis1, axis2, dtype=sum_dtype(x))";
  let tolerance = "sums(8)";
  let example = "trace([[1, 2], [3, 4]])  ->  5";
}

def Weft_DiagFn : Weft_MovementFn<"diag"> {
  let summary = "A matrix with a vector as its diagonal, or the diagonal of a matrix.";
  let parameters = (params Weft_Any:$x, Weft_Int<"0", "which diagonal; those above the main one are positive">:$k);
  let operandShapes = ["a vector or a matrix"];
  let resultShape = "a matrix, or a vector";
  let raises = [Raises<ShapeError, "x is neither a vector nor a matrix">];
  let cppBody = "diag";
  let samples = [Sample<["3"], ["0"]>, Sample<["3"], ["2"]>, Sample<["3"], ["-1"]>, Sample<["2x3"], ["1"]>, Sample<["0"], ["0"]>];
  let numpy = "np.diag(x, k)";
  let example = "diag([1, 2])  ->  [[1, 0], [0, 2]]";
}

class Weft_TriangleFn<string name> : Weft_MovementFn<name> {
  let parameters = (params Weft_Any:$x, Weft_Int<"0", "which diagonal; those above the main one are positive">:$k);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape";
  let raises = [Raises<ShapeError, "x is no matrix">];
  let cppBody = name;
  let samples = [Sample<["2x3"], ["0"]>, Sample<["5x7"], ["-2"]>, Sample<["2x3x4"], ["1"]>, Sample<["0x3"], ["0"]>];
  let numpy = "np." # name # "(x, k)";
}
def Weft_TrilFn : Weft_TriangleFn<"tril"> {
  let summary = "Matrices, the last two axes, with zeros above the k-th diagonal.";
  let example = "tril([[1, 2], [3, 4]])  ->  [[1, 0], [3, 4]]";
}
def Weft_TriuFn : Weft_TriangleFn<"triu"> {
  let summary = "Matrices, the last two axes, with zeros below the k-th diagonal.";
  let example = "triu([[1, 2], [3, 4]])  ->  [[1, 2], [0, 4]]";
}

//===----------------------------------------------------------------------===//
// Norms, and whether tensors are the same
//===----------------------------------------------------------------------===//

def Weft_NormFn : Weft_CompositeFn<"norm"> {
  let summary = "The length of vectors or the norm of matrices: of all elements, along an axis, or over two.";
  let description = [{
    ord of vectors is any number p for the p-th root of the sum of |x|^p, 0 for how many are not 0, inf and
    -inf for the largest and smallest |x|; of matrices 'fro' for the root of the sum of squares, 1 and -1 for
    the largest and smallest sum of a column, inf and -inf for that of a row, 2 and -2 for the largest and smallest
    singular value, 'nuc' for the sum of these. Without it it is 2 of vectors,
    also of all elements, and 'fro' of matrices. Without axes x is a vector or a matrix, of any rank if there is
    no ord either.
  }];
  let parameters = (params Weft_Inexact:$x, Weft_Parameter<"order", "NormOrder", "{}", "which norm">:$ord,
                           Weft_OptionalIntList<"one axis for vectors, two for matrices", "axis">:$axes, star, Weft_Keepdims:$keepdims);
  let operandShapes = ["of any shape"];
  let promotion = "floating";
  let resultShape = "of x's shape without the axes, or with size 1 for them";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let raises = [Raises<ValueError, "there is no such norm">, axis_out_of_range,
                Raises<ShapeError, "x is neither a vector nor a matrix, and ord is given without axes; or there is nothing whose largest or smallest is wanted">,
                no_singular_values, no_lapack];
  let cppBody = "norm";
  let samples = [Sample<["finite 2x3"], ["null", "null", "false"]>, Sample<["finite 2x3"], ["1", "0", "false"]>, Sample<["finite 2x3"], ["3", "1", "true"]>,
                 Sample<["finite 2x3"], ["-1", "null", "false"]>, Sample<["finite 2x3x4"], ["1", "[0, 2]", "true"]>, Sample<["finite 33"], ["0", "null", "false"]>,
                 Sample<["finite 3x2x4"], ["2", "[2, 0]", "true"]>, Sample<["finite 3x4"], ["'nuc'", "null", "false"]>];
  let numpy = "norm(x, ord, axes, keepdims)";
  let tolerance = "sums(64)";
  let example = "norm([3.0, 4.0])  ->  5";
}

class Weft_CloseFn<string name> : Weft_PairFn<name, Weft_Computable> {
  let parameters = (params Weft_Computable:$a, Weft_Computable:$b, Weft_Real<"1e-05", "how much of |b|">:$rtol, Weft_Real<"1e-08", "how much besides">:$atol,
                           Weft_Flag<"whether NaN is close to NaN">:$equal_nan);
  let resultDType = "bool";
  let samples = [Sample<["2x3", "2x3"], ["1e-5", "1e-8", "false"]>, Sample<["33", "33"], ["0.5", "0.1", "true"]>, Sample<["2x3", "3"], ["1e-5", "1.0", "false"]>];
}

def Weft_IscloseFn : Weft_CloseFn<"isclose"> {
  let summary = "Whether elements differ by at most atol + rtol |b|; infinite ones whether they are the same.";
  let resultShape = "of the shape that the operands broadcast to";
  let cppBody = "isclose";
  let numpy = "np.isclose(a, b, rtol, atol, equal_nan)";
  let example = "isclose([1.0, 2.0], [1.000001, 2.1])  ->  [true, false]";
}

def Weft_AllcloseFn : Weft_CloseFn<"allclose"> {
  let summary = "Whether all elements are close, as `isclose` says.";
  let resultShape = "a scalar";
  let cppBody = "allclose";
  let numpy = "np.allclose(a, b, rtol, atol, equal_nan)";
  let example = "allclose([1.0, 2.0], [1.000001, 2.0])  ->  true";
}

def Weft_ArrayEqualFn : Weft_PairFn<"array_equal", Weft_Computable> {
  let summary = "Whether two tensors are of one shape and all elements are equal.";
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "a scalar";
  let resultDType = "bool";
  let raises = [];
  let cppBody = "array_equal";
  let numpy = "np.array_equal(a, b)";
  let example = "array_equal([1, 2], [1, 2, 3])  ->  false";
}

//===----------------------------------------------------------------------===//
// Picked elements
//===----------------------------------------------------------------------===//

def Weft_TakeFn : Weft_MovementFn<"take"> {
  let summary = "The slices of these numbers along an axis, or the elements of all in a row; negative numbers count from the end.";
  let description = "In mode 'wrap' numbers go round and round the axis; in mode 'clip' those beyond an end are of it, and none counts from the end.";
  let parameters = (params Weft_Any:$x, Weft_Index:$indices, Weft_OptionalAxis<"an axis; all elements in a row if not given">:$axis,
                           Weft_Word<"TakeMode", "raise", "'raise', 'wrap' or 'clip': what a number beyond the axis is">:$mode);
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "of x's shape with that of the indices for the axis";
  let raises = [Raises<IndexError, "there is no such axis, or in mode 'raise' no such slice, or there is none at all">];
  let cppBody = "take";
  let samples = [Sample<["2x3", "i32 [[0, -1], [1, 1]]"], ["null", "'raise'"]>, Sample<["2x3", "i64 [2, -3]"], ["1", "'raise'"]>,
                 Sample<["2x3", "i64 [7, -4, 2]"], ["1", "'wrap'"]>, Sample<["2x3", "i32 [[6, -1], [1, -9]]"], ["null", "'clip'"]>];
  let numpy = "np.take(x, indices, axis, mode=mode)";
  let example = "take([10, 20, 30], [0, -1])  ->  [10, 30]";
  let method = 1;
}

def Weft_TakeAlongAxisFn : Weft_MovementFn<"take_along_axis"> {
  let summary = "Elements of x along one axis, picked by indices that stand in their positions; negative ones count from the end.";
  let description = "`indices` has x's sizes but for the axis; y[i, j] = x[indices[i, j], j] for axis 0 of two.";
  let parameters = (params Weft_Any:$x, Weft_Index:$indices, Weft_AnAxis<"-1">:$axis, star);
  let operandShapes = ["of rank 1 or more", "of x's sizes but for the axis"];
  let resultShape = "of the shape of indices";
  let raises = [axis_out_of_range, index_out_of_range, other_sizes_differ];
  let cppBody = "take_along_axis";
  let samples = [Sample<["33", "i32 [32, 0, -7, 7]"], ["0"]>, Sample<["3x2", "i64 [[2, 0], [-2, 1]]"], ["-2"]>, Sample<["2x3", "i32 [[2, 0], [-3, 1]]"], ["1"]>];
  let numpy = "np.take_along_axis(x, indices, axis)";
  let example = "take_along_axis([[10, 20, 30], [40, 50, 60]], [[2, 0], [1, -1]])  ->  [[30, 10], [50, 60]]";
}

def Weft_WhereFn : Weft_CompositeFn<"where"> {
  let moves = 1;
  let summary = "x where the condition holds, else y.";
  let parameters = (params Weft_Condition:$condition, Weft_Any:$x, Weft_Any:$y);
  let operandShapes = ["of any shape", "of a shape that broadcasts with it", "of a shape that broadcasts with them"];
  let promotion = "common";
  let resultShape = "of the shape that the operands broadcast to";
  let resultDType = "that of x and y";
  let raises = [shapes_do_not_broadcast];
  let cppBody = "where";
  let samples = samplesOfThree;
  let numpy = "np.where(condition, x, y)";
  let example = "where([true, false], [1, 2], 0)  ->  [1, 0]";
  let inPython = 0; // where it also gives positions
}

def Weft_SearchsortedFn : Weft_CompositeFn<"searchsorted"> {
  let summary = "Where values would have to stand among the sorted ones of a vector, in front of equal ones or, 'right', behind them.";
  let description = "NaN is the largest of all, as in `sort`. Vectors of a batch may be in front: each has its values.";
  let parameters = (params Weft_Ordered:$a, Weft_Ordered:$v, Weft_Word<"SearchSide", "left", "'left' or 'right'">:$side, Weft_Optional<Weft_Index>:$sorter);
  let operandShapes = ["of rank 1 or more", "of any shape, behind the batch", "of a's shape: what sorts it, as `argsort` gives it"];
  let promotion = "common";
  let resultShape = "of v's shape";
  let resultDType = "i64";
  let raises = [Raises<ShapeError, "a is a scalar, or the batches differ">, index_out_of_range];
  let cppBody = "searchsorted";
  let samples = [Sample<["[1, 2, 2, 3]", "[2, 9]", "[0, 1, 2, 3]"], ["'left'"]>, Sample<["[2, 1, 3, 2]", "[2, 0]", "[1, 0, 3, 2]"], ["'right'"]>];
  let numpy = "np.searchsorted(a, v, side, sorter)";
  let example = "searchsorted([1.0, 2.0, 3.0], [1.5, 3.0])  ->  [1, 2]";
  let method = 1;
}

def Weft_IsinFn : Weft_CompositeFn<"isin"> {
  let summary = "Whether each element of x1 is one of x2's; NaN is none.";
  let parameters = (params Weft_Computable:$x1, Weft_Computable:$x2, star, Weft_Flag<"whether it is none of them instead">:$invert);
  let operandShapes = ["of any shape", "of any shape"];
  let promotion = "common";
  let resultShape = "of x1's shape";
  let resultDType = "bool";
  let raises = [];
  let cppBody = "isin";
  let samples = [Sample<["2x3", "3"], ["false"]>, Sample<["[[0, 1], [2, 3]]", "[3, 1, 1]"], ["false"]>, Sample<["special", "special"], ["true"]>,
                 Sample<["5x7", "2x3"], ["true"]>, Sample<["3", "0"], ["false"]>, Sample<["[1, 2]", "scalar"], ["false"]>];
  let numpy = "np.isin(x1, x2, invert=invert)";
  let example = "isin([1, 2, 3], [3, 1])  ->  [true, false, true]";
}

#endif // WEFT_IR_MATRIX_COMPOSITES
