// Functions of linear algebra, made of the ops of LinalgOps.td: `weft::linalg` in C++, `weft.linalg` in Python.

#ifndef WEFT_IR_LINALG_COMPOSITES
#define WEFT_IR_LINALG_COMPOSITES

include "Weft/IR/LinalgOps.td"
include "Weft/IR/MatrixComposites.td"

class Weft_LinalgFn<string name> : Weft_CompositeFn<name> {
  let module = "linalg";
  let promotion = "floating";
  let cppBody = name;
  let domain = "regular";
  let signedZeros = 0;
  let tolerance = "near(64)";
}

def no_matrices : Raises<ShapeError, "x has fewer than two axes">;
def no_square_matrices : Raises<ShapeError, "x is no square matrix, or batch of them">;
def no_inverse : Raises<LinAlgError, "a matrix has no inverse">;

/// A function of square matrices.
class Weft_SquareFn<string name> : Weft_LinalgFn<name> {
  let parameters = (params Weft_Inexact:$x);
  let operandShapes = ["square matrices, the last two axes"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [no_square_matrices, no_inverse];
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x4x4"]>, Sample<["regular 20x20"]>, Sample<["0x0"]>, Sample<["0x3x3"]>];
}

//===----------------------------------------------------------------------===//
// Solves
//===----------------------------------------------------------------------===//

def Weft_SolveFn : Weft_LinalgFn<"solve"> {
  let summary = "The x for which a x = b, by LU with pivots.";
  let description = [{
    Of a b of rank 1 it is a vector, of others matrices; batches broadcast.
  }];
  let parameters = (params Weft_Inexact:$a, Weft_Inexact:$b);
  let operandShapes = ["square matrices, the last two axes", "a vector, or matrices with as many rows"];
  let resultShape = "of b's shape, with the batches of both";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "a is no square matrix, b has another number of rows, or the batches do not broadcast">, no_inverse];
  let samples = [Sample<["regular 3x3", "finite 3x2"]>, Sample<["regular 3x3", "finite 3"]>, Sample<["regular 2x3x3", "finite 3x2"]>,
                 Sample<["regular 3x3", "finite 2x3x1"]>, Sample<["regular 33x33", "finite 33x2"]>, Sample<["0x0", "0x2"]>, Sample<["0x3x3", "0x3x2"]>];
  let numpy = "lin('solve', a, b)";
  let example = "solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])  ->  [1, 0.5]";
}

def Weft_InvFn : Weft_SquareFn<"inv"> {
  let summary = "The inverses of matrices.";
  let numpy = "lin('inv', x)";
  let example = "inv([[2.0, 0.0], [0.0, 4.0]])  ->  [[0.5, 0], [0, 0.25]]";
}

def Weft_SolveTriangularFn : Weft_LinalgFn<"solve_triangular"> {
  let summary = "The x for which a x = b, where a is triangular.";
  let description = "Of a one triangle is read, the upper one unless `lower`. `trans` 1 is of a transposed, 2 of its adjoint, which is conjugated too.";
  let parameters = (params Weft_Inexact:$a, Weft_Inexact:$b, star, Weft_Int<"0", "0, 1 for a transposed, or 2 for its adjoint">:$trans,
                           Weft_Flag<"the lower triangle">:$lower, Weft_Flag<"the diagonal is ones">:$unit_diagonal);
  let operandShapes = ["square matrices, the last two axes", "a vector, or matrices with as many rows"];
  let resultShape = "of b's shape, with the batches of both";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "a is no square matrix, b has another number of rows, or the batches do not broadcast">,
                Raises<ValueError, "trans is not 0, 1 or 2">, Raises<LinAlgError, "a number on the diagonal is 0">];
  let samples = [Sample<["definite 3x3", "finite 3x2"], ["0", "true", "*"]>, Sample<["definite 3x3", "finite 3"], ["1", "*", "false"]>,
                 Sample<["definite 2x3x3", "finite 3x2"], ["2", "false", "false"]>];
  let numpy = "triangular_solve(np.conj(a) if trans == 2 else a, b, lower, trans != 0, unit_diagonal)";
  let example = "solve_triangular([[2.0, 0.0], [2.0, 4.0]], [2.0, 6.0], {.lower = true})  ->  [1, 1]";
}

def Weft_ChoSolveFn : Weft_LinalgFn<"cho_solve"> {
  let summary = "The x for which a x = b, where `cholesky` gave c for a.";
  let parameters = (params Weft_Inexact:$c, Weft_Inexact:$b, star, Weft_Flag<"c is the upper triangle">:$upper);
  let operandShapes = ["triangles, the last two axes", "a vector, or matrices with as many rows"];
  let resultShape = "of b's shape, with the batches of both";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "c is no square matrix, b has another number of rows, or the batches do not broadcast">,
                Raises<LinAlgError, "a number on the diagonal is 0">];
  let samples = [Sample<["definite 3x3", "finite 3x2"], ["*"]>, Sample<["definite 3x3", "finite 3"], ["false"]>];
  let numpy = "cho_solve(c, b, upper)";
  let example = "cho_solve([[2.0, 0.0], [0.0, 4.0]], [4.0, 8.0])  ->  [1, 0.5]";
}

def Weft_LuSolveFn : Weft_LinalgFn<"lu_solve"> {
  let summary = "The x for which a x = b, where `lu_factor` gave lu and pivots for a.";
  let description = "Of a b of rank 1 it is a vector, of others matrices; batches broadcast. `trans` 1 is of a transposed, 2 of its adjoint, which is conjugated too.";
  let parameters = (params Weft_Inexact:$lu, Weft_Index:$pivots, Weft_Inexact:$b,
                           Weft_Int<"0", "0, 1 for a transposed, or 2 for its adjoint">:$trans);
  let operandShapes = ["square matrices of both triangles, the last two axes", "of lu's shape without the last axis: the row that each row is exchanged with, one after the other",
                       "a vector, or matrices with as many rows"];
  let resultShape = "of b's shape, with the batches of both";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "lu is no square matrix of a known size, pivots or b do not fit it, or the batches do not broadcast">,
                Raises<ValueError, "trans is not 0, 1 or 2">, Raises<IndexError, "a pivot is no row">, no_inverse];
  let samples = [Sample<["definite 3x3", "i64 [1, 2, 2]", "finite 3x2"], ["*"]>, Sample<["definite 3x3", "i64 [2, 1, 2]", "finite 3"], ["0"]>,
                 Sample<["definite 2x4x4", "i64 [[3, 2, 3, 3], [0, 1, 2, 3]]", "finite 2x4x1"], ["*"]>,
                 Sample<["definite 5x5", "i64 [4, 4, 3, 4, 4]", "finite 5x2"], ["1"]>, Sample<["definite 3x3", "i64 [0, 2, 2]", "finite 2x3x1"], ["0"]>,
                 Sample<["0x0", "i64 []", "0x2"], ["0"]>];
  let openSizes = 0;
  let pythonPair = "lu_and_piv";
  let numpy = "solve_by_lu(lu, pivots, b, trans)";
  let example = "lu_solve([[4.0, 2.0], [0.5, 4.0]], [0, 1], [8.0, 8.0])  ->  [1.5, 1]";
}

//===----------------------------------------------------------------------===//
// Factorizations
//===----------------------------------------------------------------------===//

def Weft_CholeskyFn : Weft_SquareFn<"cholesky"> {
  let summary = "The lower triangles that, times their adjoints, are Hermitian positive definite matrices.";
  let description = [{
    Of a matrix that is not Hermitian (not symmetric, of real ones) it is that of its Hermitian part, half of the sum of itself and
    its adjoint; `upper` gives the adjoints of the triangles.
  }];
  let parameters = (params Weft_Inexact:$x, star, Weft_Flag<"upper triangles">:$upper);
  let raises = [no_square_matrices, Raises<LinAlgError, "a matrix is not positive definite">];
  let samples = [Sample<["definite 3x3"], ["*"]>, Sample<["definite 1x1"], ["false"]>, Sample<["definite 2x4x4"], ["*"]>, Sample<["definite 20x20"], ["false"]>,
                 Sample<["0x0"], ["false"]>, Sample<["0x3x3"], ["false"]>];
  let domain = "definite";
  let numpy = "flipped(lin('cholesky', x), upper)";
  let example = "cholesky([[4.0, 2.0], [2.0, 5.0]])  ->  [[2, 0], [1, 2]]";
}

def Weft_LuFactorFn : Weft_LinalgFn<"lu_factor"> {
  let summary = "The lower and the upper triangle of LU with pivots in one matrix, and the exchanges of rows.";
  let description = [{
    The lower triangle has a diagonal of ones, which is not there. Only of square matrices it has a derivative. The pivot of a
    column is its largest element, of complex ones that with the largest sum of the sizes of its parts, as LAPACK has it.
  }];
  let parameters = (params Weft_Inexact:$x);
  let operandShapes = ["matrices, the last two axes"];
  let results = [Weft_Result<"lu", "x's dtype, of x's shape: the triangles">,
                 Weft_Result<"pivots", "i64: the row that each row is exchanged with, one after the other">];
  let raises = [no_matrices];
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 2x3x3"]>];
  let numpy = "lu_factor(x)";
  let example = "lu_factor([[4.0, 2.0], [2.0, 5.0]])  ->  [[[4, 2], [0.5, 4]], [0, 1]]";
}

def Weft_QrFn : Weft_LinalgFn<"qr"> {
  let summary = "Matrices with orthonormal columns Q and upper triangles R, whose products the matrices are.";
  let description = "The diagonals of R are real, also of complex matrices.";
  let parameters = (params Weft_Inexact:$x, star, Weft_Word<"linalg::QrMode", "reduced", "'reduced', or 'complete' for a whole basis">:$mode);
  let operandShapes = ["matrices, the last two axes"];
  let results = [Weft_Result<"Q", "x's dtype: orthonormal columns, as many as x has columns or rows, or rows of a complete basis">,
                 Weft_Result<"R", "x's dtype: the upper triangles, with as many rows">];
  let raises = [no_matrices];
  let samples = [Sample<["regular 3x3"], ["'reduced'"]>, Sample<["finite 4x2"], ["'reduced'"]>, Sample<["finite 2x4"], ["'reduced'"]>,
                 Sample<["regular 2x3x3"], ["'complete'"]>, Sample<["0x0"], ["'reduced'"]>];
  let numpy = "flat(lin('qr', x, mode))";
  let example = "qr([[-2.0, 1.0], [0.0, 3.0]])  ->  [[[1, 0], [0, 1]], [[-2, 1], [0, 3]]]";
}

//===----------------------------------------------------------------------===//
// Eigenvalues and singular values
//===----------------------------------------------------------------------===//

class Weft_SymmetricFn<string name> : Weft_SquareFn<name> {
  let operandShapes = ["symmetric or Hermitian matrices, the last two axes"];
  let description = [{
    Of a matrix that is not Hermitian (not symmetric, of real ones) they are those of its Hermitian part. Up to 16 rows they are found here, in larger
    matrices by the system's LAPACK.
  }];
  let raises = [no_square_matrices, Raises<LinAlgError, "eigenvalues of a matrix do not converge">, no_lapack];
  let domain = "definite";
  let samples = [Sample<["definite 3x3"]>, Sample<["definite 2x4x4"]>, Sample<["definite 20x20"]>, Sample<["0x0"]>, Sample<["0x3x3"]>];
  let tolerance = "near(1024)";
}

def Weft_EighFn : Weft_SymmetricFn<"eigh"> {
  let summary = "Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices.";
  let results = [Weft_Result<"eigenvalues", "x's dtype, of complex numbers that of their parts, of x's shape without the last axis">,
                 Weft_Result<"eigenvectors", "x's dtype, of x's shape: columns of length 1, whose largest element is a positive real number">];
  let numpy = "flat(eigh(x))";
  let example = "eigh([[2.0, 0.0], [0.0, 1.0]])  ->  [[1, 2], [[0, 1], [1, 0]]]";
}

def Weft_EigvalshFn : Weft_SymmetricFn<"eigvalsh"> {
  let summary = "Eigenvalues of symmetric or Hermitian matrices, ascending.";
  let resultShape = "of x's shape without the last axis";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let numpy = "lin('eigvalsh', x)";
  let example = "eigvalsh([[2.0, 0.0], [0.0, 1.0]])  ->  [1, 2]";
}

class Weft_EigenvaluesFn<string name> : Weft_SquareFn<name> {
  let description = [{
    They are complex, also of real matrices, and in the order of their real parts, then of the imaginary ones. Found by the
    system's LAPACK.
  }];
  let raises = [no_square_matrices, Raises<LinAlgError, "eigenvalues of a matrix do not converge">, no_lapack_at_all];
  let domain = "nowhere"; // eigenvalues come close to each other there
  let samples = [Sample<["regular 3x3"]>, Sample<["finite 1x1"]>, Sample<["regular 2x4x4"]>, Sample<["regular 8x8"]>, Sample<["0x0"]>, Sample<["0x3x3"]>];
  let tolerance = "near(1024)";
}

def Weft_EigFn : Weft_EigenvaluesFn<"eig"> {
  let summary = "Eigenvalues and eigenvectors of square matrices.";
  let results = [Weft_Result<"eigenvalues", "the complex dtype of x's precision, of x's shape without the last axis">,
                 Weft_Result<"eigenvectors", "the complex dtype of x's precision, of x's shape: columns of length 1, whose largest element is a positive real number">];
  let numpy = "flat(eig(x))";
  let example = "eig([[2.0, 0.0], [0.0, 1.0]])  ->  [[1, 2], [[0, 1], [1, 0]]]";
}

def Weft_EigvalsFn : Weft_EigenvaluesFn<"eigvals"> {
  let summary = "Eigenvalues of square matrices.";
  let resultShape = "of x's shape without the last axis";
  let resultDType = "the complex dtype of x's precision";
  let numpy = "eig(x)[0]";
  let example = "eigvals([[2.0, 0.0], [0.0, 1.0]])  ->  [1, 2]";
}

class Weft_SingularFn<string name> : Weft_LinalgFn<name> {
  let parameters = (params Weft_Inexact:$x);
  let operandShapes = ["matrices, the last two axes"];
  let resultDType = "x's dtype";
  let raises = [no_matrices, no_singular_values, no_lapack];
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 4x2"]>, Sample<["finite 2x4"]>, Sample<["regular 2x3x3"]>, Sample<["regular 24x20"]>, Sample<["0x0"]>];
  let tolerance = "near(1024)";
}

def Weft_SvdFn : Weft_SingularFn<"svd"> {
  let summary = "Singular values of matrices, descending, and left and right singular vectors: U, S and Vh, whose product is x.";
  let description = [{
    Left vectors are columns of length 1, right ones rows. The largest element of each left one is a positive real number, of a
    matrix with more columns than rows that of each right one. Without `full_matrices`
    there are as many as singular values; whole bases of matrices that are not square have no derivative. Up to 16 columns
    they are found here, in larger matrices by the system's LAPACK.
  }];
  let parameters = (params Weft_Inexact:$x, star, Weft_Parameter<"flag", "bool", "true", "whole bases of singular vectors">:$full_matrices);
  let results = [Weft_Result<"U", "x's dtype: the left singular vectors, as columns">, Weft_Result<"S", "x's dtype, of complex numbers that of their parts: the singular values">,
                 Weft_Result<"Vh", "x's dtype: the right singular vectors, as rows">];
  let samples = [Sample<["regular 3x3"], ["*"]>, Sample<["regular 4x2"], ["false"]>, Sample<["regular 2x3x3"], ["false"]>, Sample<["regular 24x20"], ["false"]>,
                 Sample<["0x0"], ["*"]>];
  let numpy = "svd_in_order(x)";
  let example = "svd([[3.0, 0.0], [0.0, 4.0]])  ->  [[[0, 1], [1, 0]], [4, 3], [[0, 1], [1, 0]]]";
}

def Weft_SvdvalsFn : Weft_SingularFn<"svdvals"> {
  let summary = "Singular values of matrices, descending.";
  let resultShape = "of x's shape without the last two axes, and the smaller of their sizes";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let numpy = "lin('svdvals', x)";
  let example = "svdvals([[3.0, 0.0], [0.0, 4.0]])  ->  [4, 3]";
}

/// Of which small singular values count as 0.
class Weft_RankFn<string name> : Weft_SingularFn<name> {
  let parameters = (params Weft_Inexact:$x, star, Weft_Optional<Weft_Inexact>:$rtol);
  let operandShapes = ["matrices, the last two axes", "a number, or one for each matrix; the larger size times the dtype's epsilon if not given"];
  let raises = [no_matrices, Raises<ShapeError, "rtol does not broadcast with the batches of x">, no_singular_values, no_lapack];
  let domain = "nowhere"; // by a large rtol matrices change their rank
}

def Weft_MatrixRankFn : Weft_RankFn<"matrix_rank"> {
  let summary = "How many singular values of matrices are larger than rtol times the largest.";
  let resultShape = "of x's shape without the last two axes";
  let resultDType = "i64";
  let samples = [Sample<["regular 1x3x3", "[0]"]>, Sample<["regular 2x3x3", "[0, 1]"]>];
  let numpy = "lin('matrix_rank', x, rtol=np.real(rtol))";
  let tolerance = "0";
  let example = "matrix_rank([[1.0, 2.0], [2.0, 4.0]])  ->  1";
}

def Weft_PinvFn : Weft_RankFn<"pinv"> {
  let summary = "The pseudo-inverses of matrices, by their singular values.";
  let description = [{
    Values up to rtol times the largest count as 0. The derivative is that of matrices of the same rank.
  }];
  let resultShape = "of x's shape with the last two axes exchanged";
  let samples = [Sample<["regular 1x3x3", "[0]"]>, Sample<["regular 1x4x2", "[0]"]>, Sample<["finite 1x2x4", "[0]"]>, Sample<["regular 2x3x3", "[0, 0]"]>,
                 Sample<["regular 1x24x20", "[0]"]>, Sample<["1x0x0", "[0]"]>, Sample<["1x3x0", "[0]"]>];
  let numpy = "lin('pinv', x, rtol=np.real(rtol))";
  let example = "pinv([[2.0, 0.0], [0.0, 0.0]])  ->  [[0.5, 0], [0, 0]]";
}

def Weft_LstsqFn : Weft_SingularFn<"lstsq"> {
  let summary = "The x for which the columns of b - a x are shortest, and of those the shortest x, by singular values.";
  let description = [{
    Of a b of rank 1 it is a vector. Singular values up to rcond times the largest count as 0. What does not count as NumPy
    has it: residuals are given of matrices of every rank, for sizes do not depend on values; and batches broadcast.
  }];
  let parameters = (params Weft_Inexact:$a, Weft_Inexact:$b,
                           Weft_OptionalReal<"the larger size times the dtype's epsilon if not given, that epsilon if below 0">:$rcond);
  let operandShapes = ["matrices, the last two axes", "a vector, or matrices with as many rows"];
  let results = [Weft_Result<"x", "their dtype: the solutions">,
                 Weft_Result<"residuals", "their dtype, of complex numbers that of their parts: the sums of squares of each column of b - a x; none if a has no more rows than columns">,
                 Weft_Result<"rank", "i64, of a's batches: how many singular values do not count as 0">,
                 Weft_Result<"s", "their dtype, of complex numbers that of their parts: the singular values, descending">];
  let raises = [Raises<ShapeError, "a is no matrix, b has another number of rows, or the batches do not broadcast">, no_singular_values, no_lapack];
  let samples = [Sample<["regular 4x2", "finite 4x3"], ["null"]>, Sample<["regular 3x3", "finite 3x1"], ["null"]>, Sample<["finite 2x4", "finite 2x2"], ["1e-6"]>,
                 Sample<["regular 5x3", "finite 5"], ["-1.0"]>, Sample<["regular 24x20", "finite 24x2"], ["null"]>];
  let numpy = "flat(lin('lstsq', a, b, rcond=rcond))";
  let example = "lstsq([[0.0], [2.0]], [3.0, 4.0])  ->  [[2], [9], 1, [2]]";
}

//===----------------------------------------------------------------------===//
// Determinants, powers and exponentials
//===----------------------------------------------------------------------===//

def Weft_DetFn : Weft_SquareFn<"det"> {
  let summary = "The determinants of matrices.";
  let description = [{
    The first and second derivative are those of a matrix without inverse too, where they are cofactors; the third is that of
    one with an inverse.
  }];
  let resultShape = "of x's shape without the last two axes";
  let raises = [no_square_matrices];
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x4x4"]>, Sample<["regular 9x9"]>, Sample<["0x0"]>, Sample<["0x3x3"]>];
  let numpy = "lin('det', x)";
  let tolerance = "near(256)";
  let example = "det([[4.0, 2.0], [2.0, 5.0]])  ->  16";
}

def Weft_SlogdetFn : Weft_SquareFn<"slogdet"> {
  let summary = "The signs of determinants, and the logarithms of their absolute values.";
  let results = [Weft_Result<"sign", "x's dtype, of x's shape without the last two axes: 1, -1, of complex matrices a number of size 1, or 0 of a matrix without inverse">,
                 Weft_Result<"logabsdet", "x's dtype, of complex numbers that of their parts, of that shape: -inf of a matrix without inverse">];
  let raises = [no_square_matrices];
  let numpy = "flat(lin('slogdet', x))";
  let example = "slogdet([[0.0, 1.0], [1.0, 0.0]])  ->  [-1, 0]";
}

def Weft_MatrixPowerFn : Weft_SquareFn<"matrix_power"> {
  let summary = "Matrices times themselves, n times; of a negative n their inverses.";
  let parameters = (params Weft_Inexact:$x, Weft_Int<"", "how often">:$n);
  let samples = [Sample<["regular 3x3"], ["0"]>, Sample<["regular 3x3"], ["1"]>, Sample<["regular 3x3"], ["5"]>, Sample<["regular 2x3x3"], ["-2"]>,
                 Sample<["0x0"], ["3"]>];
  let numpy = "lin('matrix_power', x, n)";
  let example = "matrix_power([[1.0, 1.0], [0.0, 1.0]], 3)  ->  [[1, 3], [0, 1]]";
}

def Weft_ExpmFn : Weft_SquareFn<"expm"> {
  let summary = "The exponentials of matrices, by Pade's approximants with scaling and squaring.";
  let raises = [no_square_matrices];
  let samples = [Sample<["finite 3x3"]>, Sample<["finite 1x1"]>, Sample<["finite 2x4x4"]>, Sample<["finite 20x20"]>, Sample<["0x0"]>, Sample<["0x3x3"]>];
  let numpy = "expm(x)";
  let tolerance = "near(1024)";
  let example = "expm([[0.0, 1.0], [0.0, 0.0]])  ->  [[1, 1], [0, 1]]";
}

//===----------------------------------------------------------------------===//
// Parts, products and norms
//===----------------------------------------------------------------------===//

def Weft_LinalgDiagonalFn : Weft_LinalgFn<"diagonal"> {
  let summary = "The diagonals of matrices, the last two axes.";
  let parameters = (params Weft_Any:$x, star, Weft_Int<"0", "which diagonal; those above the main one are positive">:$offset);
  let operandShapes = ["matrices, the last two axes"];
  let promotion = "none";
  let resultShape = "of x's shape without the last two axes, and a last one";
  let resultDType = "x's dtype";
  let raises = [no_matrices];
  let cppBody = "diagonal_of_matrix";
  let samples = [Sample<["2x3"], ["0"]>, Sample<["2x3x4"], ["1"]>, Sample<["5x7"], ["-2"]>];
  let numpy = "np.linalg.diagonal(x, offset=offset)";
  let tolerance = "0";
  let signedZeros = 1;
  let example = "diagonal([[1, 2], [3, 4]])  ->  [1, 4]";
}

def Weft_LinalgTraceFn : Weft_LinalgFn<"trace"> {
  let summary = "The sums of the diagonals of matrices, the last two axes.";
  let parameters = (params Weft_Any:$x, star, Weft_Int<"0", "which diagonal; those above the main one are positive">:$offset,
                           Weft_OptionalDType:$dtype);
  let operandShapes = ["matrices, the last two axes"];
  let promotion = "none";
  let resultShape = "of x's shape without the last two axes";
  let resultDType = "x's dtype, integers of fewer bits than 32 those of 32, i64 of bools, or the dtype given";
  let raises = [no_matrices];
  let cppBody = "trace_of_matrix";
  let samples = [Sample<["finite 2x3"], ["0", "null"]>, Sample<["finite 2x3x4"], ["1", "null"]>];
  let numpy = "np.linalg.trace(x, offset=offset, dtype=dtype or sum_dtype(x))";
  let tolerance = "sums(8)";
  let example = "trace([[1, 2], [3, 4]])  ->  5";
}

def Weft_LinalgCrossFn : Weft_LinalgFn<"cross"> {
  let summary = "The vector product of vectors of three numbers along an axis.";
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$b, star, Weft_Int<"-1", "an axis; a negative one counts from the end">:$axis);
  let operandShapes = ["of any shape", "of a shape that broadcasts with that of a"];
  let promotion = "common";
  let resultShape = "of the shape that the operands broadcast to";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "the axis is not of size 3, or the shapes do not broadcast">, Raises<IndexError, "there is no such axis">];
  let cppBody = "cross_of_linalg";
  let samples = [Sample<["finite 2x3", "finite 2x3"], ["-1"]>, Sample<["finite 3x2", "finite 3x2"], ["0"]>];
  let numpy = "np.cross(a, b, axis=axis)";
  let tolerance = "ulps(2) + 1e-5";
  let example = "cross([1, 0, 0], [0, 1, 0])  ->  [0, 0, 1]";
}

def Weft_LinalgOuterFn : Weft_LinalgFn<"outer"> {
  let summary = "The product of each element of a vector with each of another.";
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$b);
  let operandShapes = ["a vector", "a vector"];
  let promotion = "common";
  let resultShape = "a matrix";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "a or b is no vector">];
  let cppBody = "outer_of_vectors";
  let samples = [Sample<["2", "3"]>, Sample<["0", "3"]>];
  let numpy = "np.outer(a, b)";
  let tolerance = "0";
  let signedZeros = 1;
  let example = "outer([1, 2], [3, 4, 5])  ->  [[3, 4, 5], [6, 8, 10]]";
}

def Weft_VecdotFn : Weft_LinalgFn<"vecdot"> {
  let summary = "The sums of the products of vectors along an axis, complex ones of a conjugated.";
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$b, star, Weft_Int<"-1", "an axis, which counts from the end of both">:$axis);
  let operandShapes = ["of rank 1 or more", "of a shape that broadcasts with that of a, with the same size of the axis"];
  let promotion = "common";
  let resultShape = "of the shape that the operands broadcast to without the axis";
  let resultDType = "their dtype";
  let raises = [Raises<ShapeError, "the sizes of the axis differ, or the shapes do not broadcast">, Raises<IndexError, "an operand has no such axis">];
  let samples = [Sample<["finite 3", "finite 3"], ["-1"]>, Sample<["finite 2x3", "finite 2x3"], ["-1"]>, Sample<["finite 2x3", "finite 2x3"], ["-2"]>];
  let numpy = "np.sum(np.conj(a) * b, axis, dtype=np.result_type(a, b))";
  let tolerance = "sums(8)";
  let example = "vecdot([1, 2, 3], [4, 5, 6])  ->  32";
}

class Weft_LinalgNormFn<string name> : Weft_LinalgFn<name> {
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let tolerance = "sums(64)";
}

def Weft_VectorNormFn : Weft_LinalgNormFn<"vector_norm"> {
  let summary = "The length of vectors: of all elements, or over some axes.";
  let description = [{
    ord is any number p for the p-th root of the sum of |x|^p, 0 for how many are not 0, inf and -inf for the
    largest and smallest |x|; 2 if it is not given.
  }];
  let parameters = (params Weft_Inexact:$x, star, Weft_OptionalIntList<"axes; all elements if not given", "axis">:$axes, Weft_Keepdims:$keepdims,
                           Weft_Real<"2", "which norm">:$ord);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape without the axes, or with size 1 for them";
  let raises = [axis_out_of_range, axis_twice, Raises<ShapeError, "there is nothing whose largest or smallest is wanted">];
  let samples = [Sample<["finite 2x3"], ["null", "*", "2"]>, Sample<["finite 2x3"], ["1", "false", "1"]>, Sample<["finite 2x3x4"], ["[0, 2]", "*", "3"]>,
                 Sample<["finite 33"], ["0", "false", "0"]>];
  let numpy = "np.linalg.vector_norm(x, axis=axes, keepdims=keepdims, ord=ord)";
  let example = "vector_norm([3.0, 4.0])  ->  5";
}

def Weft_MatrixNormFn : Weft_LinalgNormFn<"matrix_norm"> {
  let summary = "The norms of matrices, the last two axes.";
  let description = [{
    ord is 'fro', the root of the sum of squares, if it is not given; 1 and -1 are the largest and smallest sum of a
    column, inf and -inf that of a row, 2 and -2 the largest and smallest singular value, 'nuc' the sum of these.
  }];
  let parameters = (params Weft_Inexact:$x, star, Weft_Keepdims:$keepdims, Weft_Parameter<"order", "NormOrder", "{}", "which norm">:$ord);
  let operandShapes = ["matrices, the last two axes"];
  let resultShape = "of x's shape without the last two axes, or with size 1 for them";
  let raises = [Raises<ValueError, "there is no such norm">, Raises<ShapeError, "x has fewer than two axes, or nothing whose largest or smallest is wanted">,
                no_singular_values, no_lapack];
  let samples = [Sample<["finite 2x3"], ["*", "null"]>, Sample<["finite 2x3x4"], ["*", "1"]>, Sample<["finite 2x3"], ["false", "-1"]>,
                 Sample<["finite 2x3x4"], ["true", "2"]>, Sample<["finite 4x3"], ["*", "-2"]>, Sample<["finite 2x4x3"], ["*", "'nuc'"]>];
  let numpy = "norm(x, ord, (-2, -1), keepdims)";
  let tolerance = "near(64)";
  let example = "matrix_norm([[3.0, 0.0], [0.0, 4.0]])  ->  5";
}

def Weft_CondFn : Weft_LinalgFn<"cond"> {
  let summary = "The condition numbers of matrices: by how much a solve may enlarge relative errors.";
  let description = [{
    p is a norm as `matrix_norm` has it, and the number the product of the norms of a matrix and of its inverse; of 2, which it
    is if it is not given, and of -2 it is the ratio of the largest and the smallest singular value, and that of the smallest and the largest,
    also of matrices that are not square. Without inverse it is inf.
  }];
  let parameters = (params Weft_Inexact:$x, Weft_Parameter<"order", "NormOrder", "{}", "which norm">:$p);
  let operandShapes = ["matrices, the last two axes"];
  let resultShape = "of x's shape without the last two axes";
  let resultDType = "x's dtype, of complex numbers that of their parts";
  let raises = [Raises<ValueError, "there is no such norm">,
                Raises<ShapeError, "x has fewer than two axes, matrices without elements, or with another norm than 2 and -2 that are not square">,
                no_singular_values, no_lapack];
  let samples = [Sample<["regular 3x3"], ["null"]>, Sample<["regular 2x3x3"], ["1"]>, Sample<["regular 4x2"], ["2"]>, Sample<["finite 2x4"], ["-2"]>,
                 Sample<["regular 3x3"], ["'fro'"]>, Sample<["regular 3x3"], ["-1"]>, Sample<["regular 20x20"], ["null"]>, Sample<["regular 1x1"], ["'nuc'"]>];
  let numpy = "cond(x, p)";
  let tolerance = "near(4096)"; // small singular values are off by as much as large ones
  let example = "cond([[4.0, 0.0], [0.0, 2.0]])  ->  2";
}

#endif // WEFT_IR_LINALG_COMPOSITES
