// Functions of Fourier transforms: `weft::fft` in C++, `weft.fft` in Python.

#ifndef WEFT_IR_FOURIER_COMPOSITES
#define WEFT_IR_FOURIER_COMPOSITES

include "Weft/IR/CompositeBase.td"
include "Weft/IR/FourierOps.td"

class Weft_FourierFn<string name> : Weft_CompositeFn<name> {
  let module = "fft";
  let cppBody = "fourier_" # name;
}

class Weft_ShiftFn<string name> : Weft_FourierFn<name> {
  let parameters = (params Weft_Any:$x, Weft_OptionalIntList<"one axis or several; all if not given">:$axes);
  let operandShapes = ["of any shape"];
  let resultShape = "of x's shape";
  let resultDType = "x's dtype";
  let raises = [axis_out_of_range, axis_twice];
  let samples = [Sample<["8"], ["null"]>, Sample<["5"], ["[0]"]>, Sample<["2x3"], ["[1]"]>, Sample<["2x3x4"], ["[0, -1]"]>, Sample<["0x3"], ["null"]>,
                 Sample<["transposed 7x5"], ["null"]>];
}

def Weft_FftshiftFn : Weft_ShiftFn<"fftshift"> {
  let summary = "The elements of spectra with those of frequency 0 in the middle of the axes.";
  let numpy = "np.fft.fftshift(x, axes)";
  let example = "fftshift([0, 1, 2, -2, -1])  ->  [-2, -1, 0, 1, 2]";
}

def Weft_IfftshiftFn : Weft_ShiftFn<"ifftshift"> {
  let summary = "The elements of spectra as `fftshift` found them.";
  let numpy = "np.fft.ifftshift(x, axes)";
  let example = "ifftshift([-2, -1, 0, 1, 2])  ->  [0, 1, 2, -2, -1]";
}

#endif // WEFT_IR_FOURIER_COMPOSITES
