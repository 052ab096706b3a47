// Functions of Fourier transforms: `weft::fft` in C++, `weft.fft` in Python.

#ifndef WEFT_IR_FOURIER_COMPOSITES
#define WEFT_IR_FOURIER_COMPOSITES

include "Weft/IR/CompositeBase.td"
include "Weft/IR/FourierOps.td"

class Weft_FourierFn<string name> : Weft_CompositeFn<name> {
  let module = "fft";
  let cppBody = "fourier_" # name;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

def no_such_length : Raises<ValueError, "n, or a size of s, is below 1">;
def nothing_transformed : Raises<ShapeError, "a line has no element">;
def not_as_many_sizes : Raises<ValueError, "s has not a size for each axis, or is given for no axes">;
def Weft_Norm : Weft_Word<"fft::Norm", "backward", "which direction is scaled by the number of elements: 'backward', 'forward', or 'ortho' for both, by its square root">;

/// A trace may compute it.
def Weft_TransformLength
    : Weft_Parameter<"size", "std::optional<Size>", "std::nullopt", "the length of the transform: x is cut off, or continued by zeros; that of x if not given">;

/// A transform of lines along one axis.
class Weft_TransformFn<string name, Weft_TensorOf operand> : Weft_FourierFn<name> {
  let parameters = (params operand:$x, Weft_TransformLength:$n,
                           Weft_AnAxis<"-1">:$axis, Weft_Norm:$norm);
  let operandShapes = ["of rank 1 or more"];
  let promotion = "floating";
  let resultShape = "of x's shape, but for n elements along the axis";
  let resultDType = "the complex dtype of x's precision";
  let raises = [axis_out_of_range, no_such_length, nothing_transformed];
  let signedZeros = 0;
  let tolerance = "near(64)";
  let numpy = "np.fft." # name # "(x, n, axis, norm)";
  let samples = [Sample<["finite 8"], ["null", "0", "'backward'"]>, Sample<["finite 5"], ["8", "-1", "'ortho'"]>, Sample<["finite 3x7"], ["4", "1", "'forward'"]>,
                 Sample<["finite 6x4"], ["null", "0", "'ortho'"]>, Sample<["finite transposed 7x5"], ["null", "-1", "'forward'"]>,
                 Sample<["finite 2"], ["1", "0", "'backward'"]>, Sample<["0x6"], ["null", "1", "'backward'"]>];
}

def Weft_FourierFftFn : Weft_TransformFn<"fft", Weft_Inexact> {
  let summary = "The Fourier transforms of lines: sums of x[j] exp(-2 pi i j k / n).";
  let description = "Lines of any length; those with no prime factor above 13 are fastest. The result of a line depends on its elements alone.";
  let example = "fft([1.0, 0.0, 0.0, 0.0])  ->  [1, 1, 1, 1]";
}
def Weft_FourierIfftFn : Weft_TransformFn<"ifft", Weft_Inexact> {
  let summary = "The lines whose Fourier transforms these are: sums of x[k] exp(2 pi i j k / n), by n.";
  let example = "ifft([4.0, 0.0, 0.0, 0.0])  ->  [1+0j, 1-0j, 1-0j, 1-0j]";
}
def Weft_FourierRfftFn : Weft_TransformFn<"rfft", Weft_Float> {
  let summary = "The Fourier transforms of real lines, without what are conjugates of others: the first n / 2 + 1 elements.";
  let resultShape = "of x's shape, but for n / 2 + 1 elements along the axis";
  let example = "rfft([1.0, 0.0, 0.0, 0.0])  ->  [1, 1, 1]";
}
def Weft_FourierIhfftFn : Weft_TransformFn<"ihfft", Weft_Float> {
  let summary = "The first n / 2 + 1 elements of the lines whose Fourier transforms are these real ones.";
  let resultShape = "of x's shape, but for n / 2 + 1 elements along the axis";
  let example = "ihfft([4.0, 0.0, 0.0, 0.0])  ->  [1-0j, 1-0j, 1-0j]";
}

/// Of half a spectrum to real lines.
class Weft_ToRealFn<string name> : Weft_TransformFn<name, Weft_Inexact> {
  let description = "Without n an even number of elements, 2 m - 2 of m: of an odd number n must say so.";
  let resultDType = "the real dtype of x's precision";
  let samples = [Sample<["finite 5"], ["null", "0", "'backward'"]>, Sample<["finite 5"], ["9", "-1", "'ortho'"]>, Sample<["finite 3x7"], ["4", "1", "'forward'"]>,
                 Sample<["finite 6x4"], ["16", "0", "'ortho'"]>, Sample<["finite transposed 7x5"], ["null", "-1", "'forward'"]>,
                 Sample<["finite 2"], ["1", "0", "'backward'"]>, Sample<["0x6"], ["null", "1", "'backward'"]>];
}
def Weft_FourierIrfftFn : Weft_ToRealFn<"irfft"> {
  let summary = "The real lines whose Fourier transforms begin with these elements.";
  let example = "irfft([4.0, 2.0])  ->  [3, 1]";
}
def Weft_FourierHfftFn : Weft_ToRealFn<"hfft"> {
  let summary = "The Fourier transforms, which are real, of lines that begin with these elements and go on with their conjugates.";
  let example = "hfft([2.0, 1.0])  ->  [3, 1]";
}

/// A transform along several axes.
class Weft_TransformsFn<string name, Weft_TensorOf operand> : Weft_FourierFn<name> {
  let parameters = (params operand:$x, Weft_OptionalIntList<"the length along each axis; x's if not given">:$s,
                           Weft_OptionalIntList<"the axes; the last ones, as many as s has sizes, or all if not given">:$axes, Weft_Norm:$norm);
  let operandShapes = ["of any shape"];
  let promotion = "floating";
  let resultShape = "of x's shape, but for s along the axes";
  let resultDType = "the complex dtype of x's precision";
  let raises = [axis_out_of_range, axis_twice, no_such_length, nothing_transformed, not_as_many_sizes];
  let signedZeros = 0;
  let tolerance = "near(64)";
  let numpy = "np.fft." # name # "(x, s, axes, norm)";
  let samples = [Sample<["finite 4x6"], ["null", "null", "'backward'"]>, Sample<["finite 3x4x5"], ["[4, 3]", "[0, 2]", "'ortho'"]>,
                 Sample<["finite 3x4x5"], ["null", "[1, -1]", "'forward'"]>, Sample<["finite transposed 6x5"], ["null", "null", "'ortho'"]>,
                 Sample<["0x6"], ["null", "[1]", "'backward'"]>];
}
class Weft_PlaneTransformsFn<string name, Weft_TensorOf operand> : Weft_TransformsFn<name, operand> {
  let parameters = (params operand:$x, Weft_OptionalIntList<"the length along each axis; x's if not given">:$s,
                           Weft_OptionalIntList<"the axes; the last two if not given">:$axes, Weft_Norm:$norm);
  let operandShapes = ["of rank 2 or more"];
  let numpy = "np.fft." # name # "(x, s, (-2, -1) if axes is None else axes, norm)";
  let samples = [Sample<["finite 4x6"], ["null", "null", "'backward'"]>, Sample<["finite 3x4x5"], ["[4, 3]", "[0, 2]", "'ortho'"]>,
                 Sample<["finite 3x4x5"], ["null", "null", "'forward'"]>];
}

def Weft_FourierFftnFn : Weft_TransformsFn<"fftn", Weft_Inexact> {
  let summary = "Fourier transforms along several axes.";
  let example = "fftn([[1.0, 0.0], [0.0, 0.0]])  ->  [[1, 1], [1, 1]]";
}
def Weft_FourierIfftnFn : Weft_TransformsFn<"ifftn", Weft_Inexact> {
  let summary = "What `fftn` takes to these spectra.";
  let example = "ifftn([[4.0, 0.0], [0.0, 0.0]])  ->  [[1+0j, 1-0j], [1-0j, 1-0j]]";
}
def Weft_FourierRfftnFn : Weft_TransformsFn<"rfftn", Weft_Float> {
  let summary = "`rfft` along the last of several axes, and Fourier transforms along the others.";
  let resultShape = "of x's shape, but for s along the axes, of whose last one there is a half";
  let example = "rfftn([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])  ->  [[1, 1], [1, 1]]";
}
def Weft_FourierIrfftnFn : Weft_TransformsFn<"irfftn", Weft_Inexact> {
  let summary = "What `rfftn` takes to these spectra: an even number of elements along the last axis where s says nothing else.";
  let resultDType = "the real dtype of x's precision";
  let example = "irfftn([[4.0, 0.0], [0.0, 0.0]])  ->  [[1, 1], [1, 1]]";
}
def Weft_FourierFft2Fn : Weft_PlaneTransformsFn<"fft2", Weft_Inexact> {
  let summary = "Fourier transforms along two axes.";
  let example = "fft2([[1.0, 2.0], [3.0, 4.0]])  ->  [[10, -2], [-4, 0]]";
}
def Weft_FourierIfft2Fn : Weft_PlaneTransformsFn<"ifft2", Weft_Inexact> {
  let summary = "What `fft2` takes to these spectra.";
  let example = "ifft2([[10.0, -2.0], [-4.0, 0.0]])  ->  [[1+0j, 2-0j], [3-0j, 4-0j]]";
}
def Weft_FourierRfft2Fn : Weft_PlaneTransformsFn<"rfft2", Weft_Float> {
  let summary = "`rfft` along the second of two axes, and Fourier transforms along the first.";
  let resultShape = "of x's shape, but for s along the axes, of whose last one there is a half";
  let example = "rfft2([[1.0, 2.0], [3.0, 4.0]])  ->  [[10, -2], [-4, 0]]";
}
def Weft_FourierIrfft2Fn : Weft_PlaneTransformsFn<"irfft2", Weft_Inexact> {
  let summary = "What `rfft2` takes to these spectra: an even number of elements along the second axis where s says nothing else.";
  let resultDType = "the real dtype of x's precision";
  let example = "irfft2([[10.0, -2.0], [-4.0, 0.0]])  ->  [[1, 2], [3, 4]]";
}

//===----------------------------------------------------------------------===//
// Spectra
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Short-time transforms
//===----------------------------------------------------------------------===//

def no_such_frames : Raises<ValueError, "a length or a step is below 1">;
def no_signal : Raises<ShapeError, "x is a scalar">;
def Weft_FrameStep : Weft_Int<"", "how far frames are apart">;
def Weft_PadEnd : Weft_Flag<"whether frames go on behind the end, where zeros are: as many as begin within">;

def Weft_FrameFn : Weft_FourierFn<"frame"> {
  let summary = "The frames of a signal, the last axis: as many elements each, so far apart.";
  let parameters = (params Weft_Any:$x, Weft_Int<"", "how many elements a frame has">:$frame_length, Weft_FrameStep:$frame_step, star, Weft_PadEnd:$pad_end);
  let operandShapes = ["of rank 1 or more"];
  let resultShape = "of x's shape, but with an axis of frames and one of their elements for the last one";
  let resultDType = "x's dtype";
  let raises = [no_such_frames, no_signal];
  let moves = 1;
  let samples = [Sample<["9"], ["4", "2", "false"]>, Sample<["9"], ["4", "2", "true"]>, Sample<["2x7"], ["3", "3", "*"]>, Sample<["3"], ["5", "2", "*"]>,
                 Sample<["transposed 7x5"], ["2", "3", "*"]>, Sample<["2x0"], ["2", "1", "*"]>];
  let numpy = "framed(x, frame_length, frame_step, pad_end)";
  let example = "frame([1, 2, 3, 4, 5], 3, 2)  ->  [[1, 2, 3], [3, 4, 5]]";
}

def Weft_OverlapAndAddFn : Weft_FourierFn<"overlap_and_add"> {
  let summary = "The signals of whose frames, the last axis, so far apart, the sum is taken where they overlap.";
  let parameters = (params Weft_Numeric:$x, Weft_FrameStep:$frame_step);
  let operandShapes = ["of rank 2 or more: frames, and their elements"];
  let resultShape = "of x's shape, but with the signal for the last two axes";
  let resultDType = "x's dtype";
  let raises = [no_such_frames, Raises<ShapeError, "x has fewer than two axes, or frames of a size that is not known">];
  let tolerance = "sums(8)";
  let signedZeros = 0;
  let samples = [Sample<["finite 3x4"], ["2"]>, Sample<["finite 3x4"], ["4"]>, Sample<["finite 2x3x5"], ["2"]>, Sample<["finite 1x5"], ["7"]>, Sample<["0x5"], ["2"]>,
                 Sample<["finite 4x5"], ["1"]>, Sample<["finite 4x3"], ["5"]>];
  let numpy = "overlapped(x, frame_step)";
  let example = "overlap_and_add([[1, 2, 3], [4, 5, 6]], 2)  ->  [1, 2, 7, 5, 6]";
  let openSizes = 0;
}

def Weft_FftLength : Weft_OptionalInt<"the length of the transforms, with zeros behind each frame; that of frames if not given">;
def Weft_StftFn : Weft_FourierFn<"stft"> {
  let summary = "The Fourier transforms of the frames of real signals, the last axis: `rfft` of each frame times the window.";
  let description = "Of no window Hann's, which is periodic. A window has as many elements as a frame.";
  let parameters = (params Weft_Float:$x, Weft_Int<"", "how many elements a frame has">:$frame_length, Weft_FrameStep:$frame_step, star, Weft_FftLength:$fft_length,
                           Weft_Optional<Weft_Float>:$window, Weft_PadEnd:$pad_end);
  let operandShapes = ["of rank 1 or more", "of frame_length elements"];
  let promotion = "floating";
  let resultShape = "of x's shape, but with an axis of frames and one of fft_length / 2 + 1 frequencies for the last one";
  let resultDType = "the complex dtype of x's precision";
  let raises = [no_such_frames, no_signal, Raises<ShapeError, "window has not as many elements as a frame">, Raises<ValueError, "fft_length is below frame_length">];
  let tolerance = "near(64)";
  let signedZeros = 0;
  let samples = [Sample<["finite 20", "finite 8"], ["8", "4", "null", "false"]>, Sample<["finite 2x21", "finite 6"], ["6", "4", "8", "true"]>,
                 Sample<["finite transposed 17x3", "finite 5"], ["5", "5", "null", "true"]>];
  let numpy = "stft(x, window, frame_length, frame_step, fft_length, pad_end)";
  let example = "stft([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], 4, 4)  ->  [[4, 0, 0]]";
}

def Weft_IstftFn : Weft_FourierFn<"istft"> {
  let summary = "The real signals whose short-time transforms these are: of the frames, times the window, the sum where they overlap.";
  let description = [{
    By the sum of the squares of the windows there, so that `stft` is undone wherever frames overlap that do not vanish; not if `normalize` is false.
  }];
  let parameters = (params Weft_Inexact:$x, Weft_Int<"", "how many elements a frame has">:$frame_length, Weft_FrameStep:$frame_step, star, Weft_FftLength:$fft_length,
                           Weft_Optional<Weft_Float>:$window, Weft_FlagThatHolds<"whether to divide by the squares of the windows">:$normalize);
  let operandShapes = ["of rank 2 or more: frames, and their frequencies", "of frame_length elements"];
  let resultShape = "of x's shape, but with the signal for the last two axes";
  let resultDType = "the real dtype of x's precision";
  let raises = [no_such_frames, Raises<ShapeError, "x has fewer than two axes, or window has not as many elements as a frame">, Raises<ValueError, "fft_length is below frame_length">];
  let tolerance = "near(64)";
  let signedZeros = 0;
  let openSizes = 0;
  let samples = [Sample<["c128 finite 4x5", "f64 finite 8"], ["8", "4", "null", "false"]>, Sample<["c64 finite 2x4x5", "f32 finite 6"], ["6", "4", "8", "false"]>,
                 Sample<["c128 finite 4x5", "f64 [1, 2, 3, 4, 4, 3, 2, 1]"], ["8", "4", "null", "true"]>];
  let numpy = "istft(x, window, frame_length, frame_step, fft_length, normalize)";
  let example = "istft([[4.0, 0.0, 0.0]], [1.0, 1.0, 1.0, 1.0], 4, 4)  ->  [1, 1, 1, 1]";
}

#endif // WEFT_IR_FOURIER_COMPOSITES
