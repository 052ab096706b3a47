// Fourier transforms along one axis, on real and imaginary parts. Users call the functions of FourierComposites.td,
// which are made of these.

#ifndef WEFT_IR_FOURIER_OPS
#define WEFT_IR_FOURIER_OPS

include "Weft/IR/Base.td"

def Weft_FourierNorm : ConfinedAttr<I64Attr, []> {
  string attrKind = "number";
  string cppType = "std::int64_t";
  string optionDefault = "";
  string what = "what the sums are multiplied by: 0 for nothing, 1 for 1 / n, 2 for its square root";
}

def no_length : Raises<ShapeError, "x is a scalar, or the transform would have no element">;
def no_such_norm : Raises<ValueError, "norm is not 0, 1 or 2">;

// NumPy's words for both directions.
defvar forwardNorm = "('backward', 'forward', 'ortho')[norm]";
defvar inverseNorm = "('forward', 'backward', 'ortho')[norm]";

/// A transform, which a routine of lib/Kernels computes. What a line becomes depends on its elements alone.
class Weft_FourierOp<string mnemonic> : Weft_RoutineOp<mnemonic> {
  let handwrittenApi = 1;
  let pythonName = "";
  let cost = 64;
  let signedZeros = 0;
  let batching = "every";
  let tolerance = "near(32)";
}

def Weft_FftOp : Weft_FourierOp<"fft"> {
  let summary = "The sums of x[j] exp(-2 pi i j k / n) over the elements of a line, or of x[j] exp(2 pi i j k / n).";
  let arguments = (ins Weft_Float:$re, Weft_Float:$im, Weft_LastAxis:$axis, Weft_FourierNorm:$norm,
                       Weft_Flag<"by exp(2 pi i j k / n)">:$inverse);
  let results = (outs Weft_Any:$y_re, Weft_Any:$y_im);
  let operandShapes = ["of rank 1 or more", "of re's shape"];
  let resultWords = ["re's dtype, of its shape: the real parts", "re's dtype, of its shape: the imaginary parts"];
  let raises = [no_length, no_such_norm, axis_out_of_range, dtypes_differ];
  let assemblyFormat = "$re `,` $im attr-dict `:` functional-type(operands, results)";
  let shapeFunction = "fft";
  let vjp = [(fft_back), (fft_back)];
  let jvp = (fft_forward);
  let samples = [Sample<["finite 8", "finite 8"], ["0", "0", "*"]>, Sample<["finite 1", "finite 1"], ["0", "1", "*"]>,
                 Sample<["finite 3x5", "finite 3x5"], ["*", "2", "false"]>, Sample<["finite 2x3x4", "finite 2x3x4"], ["*", "1", "true"]>,
                 Sample<["finite 33x17", "finite 33x17"], ["*", "0", "true"]>, Sample<["0x3", "0x3"], ["1", "0", "false"]>,
                 Sample<["finite transposed 6x6", "finite 6x6"], ["*", "0", "false"]>];
  let numpy = !strconcat("[y := np.fft.ifft(re + 1j * im, None, axis, ", inverseNorm, ") if inverse else np.fft.fft(re + 1j * im, None, axis, ",
                          forwardNorm, "), (y.real, y.imag)][1]");
}

def Weft_RfftOp : Weft_FourierOp<"rfft"> {
  let summary = "The first n / 2 + 1 elements of the transform of real numbers; the others are their conjugates.";
  let arguments = (ins Weft_Float:$x, Weft_LastAxis:$axis, Weft_FourierNorm:$norm);
  let results = (outs Weft_Any:$re, Weft_Any:$im);
  let operandShapes = ["of rank 1 or more"];
  let resultWords = ["x's dtype: the real parts", "x's dtype: the imaginary parts"];
  let raises = [no_length, no_such_norm, axis_out_of_range];
  let assemblyFormat = "$x attr-dict `:` functional-type($x, results)";
  let shapeFunction = "rfft";
  let vjp = [(rfft_back)];
  let jvp = (rfft_forward);
  let samples = [Sample<["finite 8"], ["0", "0"]>, Sample<["finite 1"], ["0", "1"]>, Sample<["finite 3x5"], ["*", "2"]>,
                 Sample<["finite 2x3x4"], ["*", "1"]>, Sample<["finite 33x34"], ["*", "0"]>, Sample<["0x3"], ["1", "0"]>,
                 Sample<["finite transposed 7x6"], ["*", "0"]>];
  let numpy = !strconcat("[y := np.fft.rfft(x, None, axis, ", forwardNorm, "), (y.real, y.imag)][1]");
}

def Weft_IrfftOp : Weft_FourierOp<"irfft"> {
  let summary = "The real numbers whose transform by exp(-2 pi i j k / n) begins so, times n.";
  let description = [{
    Of m elements 2 m - 2 numbers, or one more if `odd`. The imaginary parts of the first element, and of an even number of
    numbers of the last one, are not read.
  }];
  let arguments = (ins Weft_Float:$re, Weft_Float:$im, Weft_LastAxis:$axis, Weft_FourierNorm:$norm, Weft_Flag<"an odd number of them">:$odd);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of rank 1 or more", "of re's shape"];
  let resultShape = "of re's shape, but the axis is longer";
  let resultDType = "re's dtype";
  let raises = [no_length, no_such_norm, axis_out_of_range, dtypes_differ];
  let assemblyFormat = "$re `,` $im attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "irfft";
  let vjp = [(irfft_back), (irfft_back)];
  let jvp = (irfft_forward);
  let samples = [Sample<["finite 8", "finite 8"], ["0", "0", "*"]>, Sample<["finite 2", "finite 2"], ["0", "1", "*"]>, Sample<["finite 1", "finite 1"], ["0", "0", "true"]>,
                 Sample<["finite 3x5", "finite 3x5"], ["*", "2", "false"]>, Sample<["finite 2x3x4", "finite 2x3x4"], ["*", "1", "true"]>,
                 Sample<["finite 33x17", "finite 33x17"], ["*", "0", "*"]>, Sample<["0x3", "0x3"], ["1", "0", "false"]>,
                 Sample<["finite transposed 6x6", "finite 6x6"], ["*", "0", "false"]>];
  let numpy = !strconcat("np.fft.irfft(re + 1j * im, 2 * re.shape[axis] - 2 + odd, axis, ", inverseNorm, ")");
}

#endif // WEFT_IR_FOURIER_OPS
