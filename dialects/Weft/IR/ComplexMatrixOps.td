// Linear algebra on complex matrices, which the ops have by real and imaginary parts. Users call the functions of
// LinalgComposites.td.

#ifndef WEFT_IR_COMPLEX_MATRIX_OPS
#define WEFT_IR_COMPLEX_MATRIX_OPS

include "Weft/IR/LinalgOps.td"

def Weft_EigOp : Weft_LinalgOp<"eig", [Weft_StopsCall]> {
  let summary = "Eigenvalues and eigenvectors of a complex matrix, by real and imaginary parts.";
  let description = [{
    In the order of the real parts, then of the imaginary ones; those of a real matrix are pairs of conjugates.
    Eigenvectors are columns of length 1, whose largest element is a positive real number. Where eigenvalues are equal,
    their vectors have no derivative, and count as if they did not move.
  }];
  let arguments = (ins Weft_Float:$re, Weft_Float:$im);
  let results = (outs Weft_Any:$values_re, Weft_Any:$values_im, Weft_Any:$vectors_re, Weft_Any:$vectors_im);
  let operandShapes = ["of rank 2 or more", "of re's shape"];
  let resultWords = ["re's dtype, of its shape without the last axis: the real parts of the eigenvalues", "the same: their imaginary parts",
                     "re's dtype, of its shape: the real parts of the eigenvectors", "the same: their imaginary parts"];
  let raises = [square_wanted, Raises<LinAlgError, "the eigenvalues do not converge">, no_lapack_at_all, dtypes_differ];
  let assemblyFormat = "$re `,` $im attr-dict `:` functional-type(operands, results)";
  let shapeFunction = "eig";
  let batching = "every";
  defvar back = (eig_back $values_re, $values_im, $vectors_re, $vectors_im, $dvalues_re, $dvalues_im, $dvectors_re, $dvectors_im);
  let vjp = [back, back];
  let jvp = (eig_forward $values_re, $values_im, $vectors_re, $vectors_im);
  let domain = "nowhere"; // eigenvalues come close to each other there
  let samples = [Sample<["regular 3x3", "finite 3x3"]>, Sample<["regular 1x1", "finite 1x1"]>, Sample<["regular 2x3x3", "finite 2x3x3"]>,
                 Sample<["f64 regular 20x20", "f64 finite 20x20"]>, Sample<["0x0", "0x0"]>, Sample<["0x3x3", "0x3x3"]>,
                 Sample<["regular transposed 4x4", "finite 4x4"]>];
  let numpy = "parts_of_eig(re + 1j * im)";
  let tolerance = "near(1024)";
}

def Weft_ComplexDetOp : Weft_LinalgOp<"complex_det"> {
  let summary = "The determinant of a complex matrix, by real and imaginary parts that are to be multiplied by a power of two.";
  let description = [{
    So it neither overflows nor vanishes: the larger part is from 1/2 to 1. The derivative is that of a matrix with an
    inverse, at the same power.
  }];
  let arguments = (ins Weft_Float:$re, Weft_Float:$im);
  let results = (outs Weft_Any:$y_re, Weft_Any:$y_im, Weft_Any:$exponent);
  let operandShapes = ["of rank 2 or more", "of re's shape"];
  let resultWords = ["re's dtype, of its batches: the real parts", "the same: the imaginary parts", "the same: the exponents of the powers"];
  let raises = [square_wanted, dtypes_differ];
  let assemblyFormat = "$re `,` $im attr-dict `:` functional-type(operands, results)";
  let shapeFunction = "complex_det";
  let batching = "every";
  defvar back = (complex_det_back $re, $im, $y_re, $y_im, $dy_re, $dy_im);
  let vjp = [back, back];
  let jvp = (complex_det_forward $re, $im, $y_re, $y_im);
  let domain = "nowhere"; // it jumps where the power does
  let samples = [Sample<["regular 3x3", "finite 3x3"]>, Sample<["regular 1x1", "finite 1x1"]>, Sample<["regular 2x3x3", "finite 2x3x3"]>,
                 Sample<["regular 17x17", "finite 17x17"]>, Sample<["0x0", "0x0"]>, Sample<["0x3x3", "0x3x3"]>,
                 Sample<["regular transposed 5x5", "finite 5x5"]>];
  let numpy = "complex_det(re, im)";
  let tolerance = "near(256)";
}

#endif // WEFT_IR_COMPLEX_MATRIX_OPS
