// Linear algebra: factorizations of matrices and what is solved with them, on the last two axes; axes before
// them are batches. Users call the functions of LinalgComposites.td, which are made of these.

#ifndef WEFT_IR_LINALG_OPS
#define WEFT_IR_LINALG_OPS

include "Weft/IR/Base.td"

def matrix_wanted : Raises<ShapeError, "x has fewer than two axes">;
def square_wanted : Raises<ShapeError, "the last two sizes of x differ, or it has fewer axes">;

/// The numbers of rows in their new order.
def Weft_Permutations : Weft_TensorOf<"an integer of 64 bits", ["i64"], "index">;

def no_singular_values : Raises<LinAlgError, "singular values of a matrix do not converge">;
def no_lapack : Raises<IOError, "x has more than 16 columns, and the system has no LAPACK">;
def no_lapack_at_all : Raises<IOError, "the system has no LAPACK">;

/// An op on real or complex matrices, which a routine of lib/Linalg computes.
class Weft_LinalgOp<string mnemonic, list<Trait> traits = []> : Weft_RoutineOp<mnemonic, traits> {
  let onComplex = whole_elements;
  let handwrittenApi = 1;
  let pythonName = "";
  let cost = 64;
  let signedZeros = 0;
}

def Weft_LuOp : Weft_LinalgOp<"lu"> {
  let summary = "Lower and upper triangles whose product is the matrix with its rows in another order.";
  let description = [{
    Both are in one matrix: the lower one has a diagonal of ones, which is not there. Of each column the largest
    element at or below the diagonal comes onto it, of complex ones that with the largest sum of the sizes of its parts. A matrix
    without inverse has zeros on the diagonal.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$factors, Weft_Any:$pivots, Weft_Any:$permutation);
  let operandShapes = ["of rank 2 or more"];
  let resultWords = ["x's dtype, of x's shape: the triangles",
                     "i64, of x's batches and the smaller of the two sizes: the row that each row is exchanged with, one after the other",
                     "i64, of x's batches and its rows: the row of x that each row of the product is"];
  let raises = [matrix_wanted];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "lu";
  let batching = "first";
  let vjp = [(lu_back $factors, $permutation, $dfactors)];
  let jvp = (lu_forward $factors, $permutation, $dx);
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x3x3"]>, Sample<["regular 70x70"]>, Sample<["regular 2x1x5x5"]>,
                 Sample<["regular 33x33"]>, Sample<["0x0"]>, Sample<["0x3x3"]>, Sample<["regular transposed 5x5"]>];
  let numpy = "lu(x)";
  let tolerance = "near(64)";
}

def Weft_LuSolveOp : Weft_LinalgOp<"lu_solve", [Weft_StopsCall]> {
  let summary = "What a matrix, whose triangles `lu` gave, takes to b.";
  let description = [{
    `transposed` is of the transposed matrix. The matrix itself takes part for its derivative alone, which so needs no
    other factorization.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Inexact:$factors, Weft_Permutations:$permutation, Weft_Inexact:$b,
                       Weft_Flag<"of the transposed matrix">:$transposed);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more", "of x's shape", "of x's shape without its last axis", "of x's batches, with as many rows"];
  let resultShape = "of b's shape";
  let resultDType = "b's dtype";
  let raises = [square_wanted, Raises<LinAlgError, "the matrix has no inverse">, dtypes_differ];
  let assemblyFormat = "$x `,` $factors `,` $permutation `,` $b attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "lu_solve";
  let batching = "every";
  let vjp = [(lu_solve_back_matrix $x, $factors, $permutation, $y, $dy), (no_grad), (no_grad), (lu_solve_back $x, $factors, $permutation, $dy)];
  let jvp = (lu_solve_forward $x, $factors, $permutation, $y);
  let domain = "nowhere"; // the result does not depend on x, but on what is said of it
  let samples = [Sample<["definite 3x3", "definite 3x3", "i64 [2, 0, 1]", "finite 3x2"], ["*"]>,
                 Sample<["definite 2x3x3", "definite 2x3x3", "i64 [[2, 0, 1], [0, 1, 2]]", "finite 2x3x1"], ["*"]>,
                 Sample<["0x3x3", "0x3x3", "i64 0x3", "0x3x2"], ["*"]>, Sample<["0x0", "0x0", "i64 []", "0x2"], ["*"]>];
  let numpy = "lu_solve(factors, permutation, b, transposed)";
  let tolerance = "near(64)";
}

def Weft_GesvOp : Weft_LinalgOp<"gesv", [Weft_StopsCall]> {
  let summary = "What the inverse of a matrix takes to b, by LU with pivots of which nothing is kept.";
  let description = [{
    The same bits as `lu` and `lu_solve`, which a program has where a derivative is wanted: `-weft-simplify` makes it of
    the two where nothing else uses the triangles.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Inexact:$b);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more", "of x's batches, with as many rows"];
  let resultShape = "of b's shape";
  let resultDType = "b's dtype";
  let raises = [square_wanted, Raises<LinAlgError, "the matrix has no inverse">, dtypes_differ];
  let assemblyFormat = "$x `,` $b attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "gesv";
  let batching = "every";
  let vjp = [(gesv_back_matrix $x, $y, $dy), (gesv_back $x, $dy)];
  let jvp = (gesv_forward $x, $y);
  let domain = "regular";
  let samples = [Sample<["regular 3x3", "finite 3x2"]>, Sample<["regular 2x3x3", "finite 2x3x1"]>, Sample<["regular 33x33", "finite 33x2"]>,
                 Sample<["regular 40x4x4", "finite 40x4x3"]>, Sample<["regular transposed 5x5", "finite 5x1"]>, Sample<["0x3x3", "0x3x2"]>, Sample<["0x0", "0x2"]>];
  let numpy = "lin('solve', x, b)";
  let tolerance = "near(64)";
}

def Weft_TriangularSolveOp : Weft_LinalgOp<"triangular_solve", [Weft_StopsCall]> {
  let summary = "What a triangular matrix takes to b.";
  let description = [{
    Of x the upper triangle is read, or with `lower` the lower one. `transposed` is of the transposed matrix; with
    `unit_diagonal` its diagonal is not read, but ones.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Inexact:$b, Weft_Flag<"the lower triangle">:$lower,
                       Weft_Flag<"of the transposed matrix">:$transposed, Weft_Flag<"the diagonal is ones">:$unit_diagonal);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more", "of x's batches, with as many rows"];
  let resultShape = "of b's shape";
  let resultDType = "b's dtype";
  let raises = [square_wanted, Raises<LinAlgError, "a number on the diagonal is 0">, dtypes_differ];
  let assemblyFormat = "$x `,` $b attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "triangular_solve";
  let batching = "every";
  let vjp = [(triangular_solve_back_matrix $x, $y, $dy), (triangular_solve_back $x, $dy)];
  let jvp = (triangular_solve_forward $x, $y);
  let samples = [Sample<["definite 3x3", "finite 3x2"], ["*", "*", "*"]>, Sample<["definite 2x4x4", "finite 2x4x1"], ["*", "*", "*"]>,
                 Sample<["definite 1x1", "finite 1x1"], ["true", "false", "false"]>, Sample<["0x3x3", "0x3x2"], ["*", "false", "false"]>,
                 Sample<["definite 70x70", "finite 70x3"], ["*", "*", "false"]>, Sample<["0x0", "0x2"], ["true", "false", "false"]>,
                 Sample<["definite transposed 5x5", "finite transposed 2x5"], ["*", "*", "false"]>];
  let numpy = "triangular_solve(x, b, lower, transposed, unit_diagonal)";
  let tolerance = "near(64)";
}

def Weft_CholeskyOp : Weft_LinalgOp<"cholesky", [Weft_StopsCall]> {
  let summary = "The lower triangle that, times its adjoint, is the Hermitian part of the matrix.";
  let description = [{
    The adjoint is the transposed matrix, of a complex one conjugated too; the Hermitian part, which is the symmetric part of
    a real one, is half of the sum of the matrix and its adjoint. The diagonal of the triangle is real.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [square_wanted, Raises<LinAlgError, "the matrix is not positive definite">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "square_matrix";
  let batching = "first";
  let vjp = [(cholesky_back $y, $dy)];
  let jvp = (cholesky_forward $y, $dx);
  let samples = [Sample<["definite 3x3"]>, Sample<["definite 1x1"]>, Sample<["definite 2x3x3"]>, Sample<["definite 150x150"]>, Sample<["definite 33x33"]>,
                 Sample<["0x0"]>, Sample<["0x3x3"]>, Sample<["definite transposed 5x5"]>];
  let numpy = "lin('cholesky', x)";
  let tolerance = "near(64)";
}

def Weft_QrOp : Weft_LinalgOp<"qr"> {
  let summary = "Orthonormal columns and an upper triangle whose product is the matrix.";
  let description = [{
    By reflections, as LAPACK has it, of matrices with at least as many rows as columns. With `complete` the columns
    are a whole basis, and the triangle has rows of zeros below. One whose columns depend on each other has zeros on
    the diagonal of the triangle, and no derivative; neither has a complete basis that is more than the columns. The
    diagonal of the triangle is real, also of complex matrices.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Flag<"the columns are a whole basis">:$complete);
  let results = (outs Weft_Any:$q, Weft_Any:$r);
  let operandShapes = ["of rank 2 or more, with at least as many rows as columns"];
  let resultWords = ["x's dtype: the columns", "x's dtype: the triangle"];
  let raises = [Raises<ShapeError, "x has fewer than two axes, or more columns than rows">];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "qr";
  let batching = "first";
  let vjp = [(qr_back $q, $r, $dq, $dr)];
  let jvp = (qr_forward $q, $r, $dx);
  let samples = [Sample<["regular 3x3"], ["*"]>, Sample<["regular 4x2"], ["false"]>, Sample<["regular 2x3x3"], ["*"]>, Sample<["regular 5x1"], ["false"]>,
                 Sample<["regular 70x40"], ["*"]>, Sample<["0x0"], ["*"]>, Sample<["0x3x2"], ["false"]>, Sample<["regular transposed 5x5"], ["*"]>];
  let numpy = "tuple(lin('qr', x, 'complete' if complete else 'reduced'))";
  let tolerance = "near(64)";
}

def Weft_EighOp : Weft_LinalgOp<"eigh", [Weft_StopsCall]> {
  let summary = "Eigenvalues, ascending, and eigenvectors of the Hermitian part of the matrix.";
  let description = [{
    Eigenvectors are columns of length 1, whose largest element is a positive real number. Where eigenvalues are equal, their
    vectors have no derivative, and count as if they did not move.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$values, Weft_Any:$vectors);
  let operandShapes = ["of rank 2 or more"];
  let resultWords = ["the dtype of x's parts, of x's shape without the last axis: the eigenvalues", "x's dtype, of x's shape: the eigenvectors"];
  let raises = [square_wanted, Raises<LinAlgError, "the eigenvalues do not converge">, no_lapack];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "eigh";
  let batching = "first";
  let vjp = [(eigh_back $values, $vectors, $dvalues, $dvectors)];
  let jvp = (eigh_forward $values, $vectors, $dx);
  let samples = [Sample<["definite 3x3"]>, Sample<["definite 1x1"]>, Sample<["definite 2x3x3"]>, Sample<["f64 definite 8x8"]>, Sample<["definite 20x20"]>,
                 Sample<["0x0"]>, Sample<["0x3x3"]>, Sample<["definite transposed 4x4"]>];
  let numpy = "eigh(x)";
  let tolerance = "near(16384)"; // as those of svd
}

def Weft_EigOp : Weft_LinalgOp<"eig", [Weft_StopsCall]> {
  let summary = "Eigenvalues and eigenvectors of any matrix, which are complex.";
  let description = [{
    In the order of the real parts, then of the imaginary ones; those of a real matrix are pairs of conjugates.
    Eigenvectors are columns of length 1, whose largest element is a positive real number. Where eigenvalues are equal,
    their vectors have no derivative, and count as if they did not move.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$values, Weft_Any:$vectors);
  let operandShapes = ["of rank 2 or more"];
  let resultWords = ["the complex dtype of x's precision, of x's shape without the last axis: the eigenvalues",
                     "the complex dtype of x's precision, of x's shape: the eigenvectors"];
  let raises = [square_wanted, Raises<LinAlgError, "the eigenvalues do not converge">, no_lapack_at_all];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "eig";
  let batching = "first";
  let vjp = [(eig_back $values, $vectors, $dvalues, $dvectors)];
  let jvp = (eig_forward $values, $vectors, $dx);
  let domain = "nowhere"; // eigenvalues come close to each other there
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x3x3"]>, Sample<["f64 regular 20x20"]>, Sample<["0x0"]>,
                 Sample<["0x3x3"]>, Sample<["regular transposed 4x4"]>];
  let numpy = "eig(x)";
  let tolerance = "near(1024)";
}

def Weft_SvdOp : Weft_LinalgOp<"svd", [Weft_StopsCall]> {
  let summary = "Singular values, descending, and the left and right singular vectors of matrices with at least as many rows as columns.";
  let description = [{
    Left vectors are columns of length 1, whose largest element is a positive real number, and right ones rows, of complex
    matrices conjugated: the matrix is the product of all three. Where singular values are equal or 0, their vectors have no
    derivative, and count as if they did not move.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$values, Weft_Any:$left, Weft_Any:$right);
  let operandShapes = ["of rank 2 or more, with at least as many rows as columns"];
  let resultWords = ["the dtype of x's parts: the singular values", "x's dtype, of x's shape: the left singular vectors", "x's dtype: the right ones, as rows"];
  let raises = [Raises<ShapeError, "x has fewer than two axes, or more columns than rows">, no_singular_values, no_lapack];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "svd";
  let batching = "first";
  let vjp = [(svd_back $values, $left, $right, $dvalues, $dleft, $dright)];
  let jvp = (svd_forward $values, $left, $right, $dx);
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 4x2"]>, Sample<["regular 2x3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 20x16"]>,
                 Sample<["f64 regular 24x20"]>, Sample<["0x0"]>, Sample<["0x3x2"]>, Sample<["regular transposed 4x4"]>];
  let numpy = "svd(x)";
  let tolerance = "near(16384)"; // two libraries' vectors differ by their rounding over the gap of the values
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

def Weft_DetOp : Weft_LinalgOp<"det"> {
  let summary = "The determinant of a matrix.";
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's batches";
  let resultDType = "x's dtype";
  let raises = [square_wanted];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "det";
  let batching = "first";
  let vjp = [(det_back $x, $dy)];
  let jvp = (det_forward $x, $dx);
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x3x3"]>, Sample<["regular 17x17"]>, Sample<["0x0"]>, Sample<["0x3x3"]>,
                 Sample<["2x0x0"]>, Sample<["regular transposed 5x5"]>];
  let numpy = "lin('det', x)";
  let tolerance = "near(256)";
}

def Weft_CofactorsOp : Weft_LinalgOp<"cofactors"> {
  let summary = "The cofactors of a matrix: the slope of its determinant by each element.";
  let description = "A matrix without inverse has them too.";
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [square_wanted];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "square_matrix";
  let batching = "first";
  let vjp = [(cofactors_along $x, $dy)]; // second derivatives are symmetric
  let samples = [Sample<["regular 3x3"]>, Sample<["regular 1x1"]>, Sample<["regular 2x3x3"]>, Sample<["finite 2x2"]>, Sample<["regular 9x9"]>, Sample<["0x0"]>,
                 Sample<["0x3x3"]>, Sample<["regular transposed 4x4"]>];
  let numpy = "cofactors(x)";
  let tolerance = "near(256)";
}

def Weft_CofactorsAlongOp : Weft_LinalgOp<"cofactors_along"> {
  let summary = "How the cofactors of a matrix change as the matrix moves in a direction.";
  let description = [{
    A matrix without inverse has that too; the derivative by the matrix, the third of a determinant, is that of a matrix
    with an inverse.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Inexact:$d);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more", "of x's shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [square_wanted, dtypes_differ];
  let assemblyFormat = "$x `,` $d attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "cofactors_along";
  let batching = "every";
  let vjp = [(cofactors_twice $x, $d, $dy), (cofactors_along $x, $dy)];
  let samples = [Sample<["regular 3x3", "finite 3x3"]>, Sample<["regular 1x1", "finite 1x1"]>, Sample<["regular 2x3x3", "finite 2x3x3"]>,
                 Sample<["finite 2x2", "finite 2x2"]>, Sample<["regular 6x6", "finite 6x6"]>, Sample<["0x0", "0x0"]>, Sample<["0x3x3", "0x3x3"]>,
                 Sample<["regular transposed 4x4", "finite transposed 4x4"]>];
  let numpy = "cofactors_along(x, d)";
  let tolerance = "near(1024)";
}

//===----------------------------------------------------------------------===//
// Functions of matrices
//===----------------------------------------------------------------------===//

def Weft_PinvOp : Weft_LinalgOp<"pinv"> {
  let summary = "The pseudo-inverse of a matrix whose singular vectors `svd` gave.";
  let description = [{
    `inverses` are 1 over singular values, and 0 for those that count as 0. The matrix itself takes part for its derivative
    alone (Golub, Pereyra 1973), which is that of matrices of one rank, and so has no trouble with equal singular values.
  }];
  let arguments = (ins Weft_Inexact:$x, Weft_Inexact:$inverses, Weft_Inexact:$left, Weft_Inexact:$right);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more, with at least as many rows as columns", "of x's shape without the axis of its rows", "of x's shape",
                       "of x's batches, with as many rows and columns as x has columns"];
  let resultShape = "of x's shape with the last two axes exchanged";
  let resultDType = "x's dtype";
  let raises = [Raises<ShapeError, "x has fewer than two axes, or more columns than rows, or other operands do not fit">, dtypes_differ];
  let assemblyFormat = "$x `,` $inverses `,` $left `,` $right attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "pinv";
  let batching = "every";
  let vjp = [(pinv_back $x, $y, $dy), (no_grad), (no_grad), (no_grad)];
  let jvp = (pinv_forward $x, $y, $dx);
  let domain = "nowhere"; // the result does not depend on x, but on what is said of it
  let samples = [Sample<["finite 3x3", "finite 3", "finite 3x3", "finite 3x3"]>, Sample<["finite 4x2", "finite 2", "finite 4x2", "finite 2x2"]>,
                 Sample<["finite 2x3x1", "finite 2x1", "finite 2x3x1", "finite 2x1x1"]>, Sample<["0x3x2", "0x2", "0x3x2", "0x2x2"]>,
                 Sample<["3x0", "0", "3x0", "0x0"]>];
  let numpy = "pinv_of(inverses, left, right)";
  let tolerance = "sums(64)";
}

def Weft_ExpmOp : Weft_LinalgOp<"expm"> {
  let summary = "The exponential of a matrix.";
  let description = [{
    By Pade's approximants of degree up to 13, and 7 of f32, with scaling and squaring (Higham 2005). Its derivative is
    a part of the exponential of a matrix twice as large.
  }];
  let arguments = (ins Weft_Inexact:$x);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 2 or more"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [square_wanted];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let shapeFunction = "square_matrix";
  let batching = "first";
  let vjp = [(expm_back $x, $dy)];
  let jvp = (expm_forward $x, $dx);
  let samples = [Sample<["finite 3x3"]>, Sample<["finite 1x1"]>, Sample<["finite 2x3x3"]>, Sample<["finite 20x20"]>, Sample<["0x0"]>, Sample<["0x3x3"]>,
                 Sample<["finite transposed 4x4"]>];
  let numpy = "expm(x)";
  let tolerance = "near(1024)";
}

#endif // WEFT_IR_LINALG_OPS
