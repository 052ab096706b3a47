// Ops on windows of images, which are (batch, spatial axes.., channels): convolution, reductions, the
// gradients of both, and what the conversion makes of them.

#ifndef WEFT_IR_WINDOW_OPS
#define WEFT_IR_WINDOW_OPS

include "Weft/IR/Base.td"

/// An entry for each spatial axis.
class Weft_Spatial<string words> : Weft_IntsAttr<"spatial", words>;
def Weft_Strides : Weft_Spatial<"how far one window is from the next">;
def Weft_PaddingLow : Weft_Spatial<"zeros in front of each axis">;
def Weft_PaddingHigh : Weft_Spatial<"zeros behind each axis">;
def Weft_Window : Weft_Spatial<"the sizes of the window">;
def Weft_Extra : Weft_Spatial<"elements behind the last window">;
def Weft_Dilations : Weft_Spatial<"how far what a window sees is apart">;
def Weft_Groups : ConfinedAttr<I64Attr, []> {
  string attrKind = "number";
  string cppType = "std::int64_t";
  string optionDefault = "";
  string what = "into how many groups the channels are parted, which do not see each other";
}

defvar windowErrors = [
  Raises<ShapeError, "the ranks differ or are not 3 to 5, a window is larger than the padded axis or its size is "
                     "unknown, the channels do not fit the groups or each other, or a list has not an entry for "
                     "each spatial axis">,
  Raises<ValueError, "a stride, dilation or the number of groups is below 1, or padding is negative">,
  dtypes_differ];

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

def Weft_ConvolutionOp : Weft_PureOp<"convolution"> {
  let widening = "ring";
  let summary = "Sums of products of a kernel with the windows of images.";
  let description = [{
    Of each position, the sum over its window and the channels of its group of x and the kernel, which
    is not flipped. Padding is zeros that take part in the sum, so that NaN and infinities of the
    kernel meet them. Each sum is one chain over (window axes, channel).
  }];
  let arguments = (ins Weft_Number:$x, Weft_Number:$kernel, Weft_Strides:$strides, Weft_PaddingLow:$low,
                       Weft_PaddingHigh:$high, Weft_Dilations:$dilations, Weft_Groups:$groups);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (batch, 1 to 3 spatial axes, channels)",
                       "of shape (window, channels / groups, result's channels)"];
  let resultShape = "of shape (batch, positions, result's channels)";
  let resultDType = "the operands' dtype";
  let raises = windowErrors;
  let assemblyFormat = "$x `,` $kernel attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "convolution";
  let batching = "images";
  let vjp = [(convolution_back_input $kernel, $dy), (convolution_back_kernel $x, $dy)];
  let jvp = (bilinear);
  let cost = 100;
  let handwrittenApi = 1;
  let samples = [
    Sample<["finite 1x4x2", "finite 2x2x2"], ["[2]", "[1]", "[0]", "[1]", "1"]>,
    Sample<["finite 1x3x3x1", "finite 2x2x1x2"], ["[1, 2]", "[0, 1]", "[1, 0]", "[2, 1]", "1"]>,
    Sample<["finite 1x3x4", "finite 2x2x2"], ["[1]", "[0]", "[0]", "[1]", "2"]>,
    Sample<["finite 2x7x3", "finite 3x3x4"], ["[1]", "[0]", "[0]", "[1]", "1"]>,
    Sample<["finite 1x5x5x1", "finite 3x3x1x2"], ["[1, 1]", "[1, 1]", "[1, 1]", "[1, 1]", "1"]>,
    Sample<["finite 2x6x7x4", "finite 3x2x4x17"], ["[2, 3]", "[0, 1]", "[1, 0]", "[1, 2]", "1"]>,
    Sample<["finite 2x6x5x6", "finite 2x3x3x8"], ["[1, 2]", "[1, 0]", "[0, 2]", "[2, 1]", "2"]>,
    Sample<["finite 1x6x6x5", "finite 3x3x1x5"], ["[1, 1]", "[1, 1]", "[1, 1]", "[1, 1]", "5"]>,
    Sample<["finite 1x4x5x4x2", "finite 2x3x2x2x3"], ["[1, 2, 1]", "[0, 1, 0]", "[1, 1, 0]", "[1, 1, 1]", "1"]>,
    Sample<["finite 0x5x5x2", "finite 3x3x2x4"], ["[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1"]>,
    Sample<["finite 2x4x4x0", "finite 3x3x0x4"], ["[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1"]>,
    Sample<["finite 2x4x4x3", "finite 1x1x3x5"], ["[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1"]>,
    Sample<["finite transposed 3x5x5x2", "finite 3x3x3x4"], ["[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1"]>
  ];
  let numpy = "convolution(x, kernel, strides, low, high, dilations, groups)";
  let tolerance = "sums(kernel.size // max(kernel.shape[-1], 1))";
  let signedZeros = 0;
}

def Weft_ConvolutionTransposeOp : Weft_PureOp<"convolution_transpose"> {
  let widening = "ring";
  let summary = "The transpose of a convolution in its images: its gradient by them.";
  let description = [{
    The images of which a convolution with the same kernel and attributes has its positions where x has
    them: each element is the sum over the windows that see it of x and the kernel. `extra` is how
    many elements there are behind the last window, below the stride.
  }];
  let arguments = (ins Weft_Number:$x, Weft_Number:$kernel, Weft_Strides:$strides, Weft_PaddingLow:$low,
                       Weft_PaddingHigh:$high, Weft_Dilations:$dilations, Weft_Groups:$groups,
                       Weft_Extra:$extra);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (batch, positions, x's channels)",
                       "of shape (window, channels / groups, x's channels)"];
  let resultShape = "of shape (batch, spatial axes, channels)";
  let resultDType = "the operands' dtype";
  let raises = windowErrors;
  let assemblyFormat = "$x `,` $kernel attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "convolution_transpose";
  let batching = "images";
  let vjp = [(transposed_back_input $kernel, $dy), (transposed_back_kernel $x, $dy)];
  let jvp = (bilinear);
  let cost = 100;
  let handwrittenApi = 1;
  let samples = [
    Sample<["finite 1x3x2", "finite 2x2x2"], ["[2]", "[1]", "[0]", "[1]", "1", "[1]"]>,
    Sample<["finite 1x2x2x2", "finite 2x2x1x2"], ["[1, 2]", "[0, 1]", "[1, 0]", "[2, 1]", "2", "[0, 1]"]>,
    Sample<["finite 0x2x2", "finite 2x2x2"], ["[1]", "[0]", "[0]", "[1]", "1", "[0]"]>,
    Sample<["finite 2x5x4", "finite 3x3x4"], ["[1]", "[0]", "[0]", "[1]", "1", "[0]"]>,
    Sample<["finite 1x3x4x2", "finite 3x3x3x2"], ["[2, 3]", "[1, 0]", "[1, 1]", "[1, 1]", "1", "[1, 2]"]>,
    Sample<["finite 2x3x3x6", "finite 2x3x2x6"], ["[1, 2]", "[0, 0]", "[0, 1]", "[2, 1]", "2", "[0, 0]"]>,
    Sample<["finite 1x3x3x5", "finite 3x3x1x5"], ["[1, 2]", "[1, 1]", "[1, 1]", "[1, 1]", "5", "[0, 1]"]>,
    Sample<["finite 0x3x3x2", "finite 2x2x4x2"], ["[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1", "[0, 0]"]>
  ];
  let numpy = "convolution_transpose(x, kernel, strides, low, high, dilations, groups, extra)";
  let tolerance = "sums(kernel.size)";
  let signedZeros = 0;
}

def Weft_ConvolutionKernelGradientOp : Weft_PureOp<"convolution_kernel_gradient"> {
  let widening = "ring";
  let summary = "The gradient of a convolution by its kernel.";
  let description = [{
    Of each tap of the window, and each pair of channels of a group, the sum over all positions of x and
    the cotangent of the convolution's result. The positions are cut into chunks by the sizes; each
    chunk is one chain over (batch, axes), and chunks are added pairwise.
  }];
  let arguments = (ins Weft_Number:$x, Weft_Number:$cotangent, Weft_Window:$window,
                       Weft_Strides:$strides, Weft_PaddingLow:$low, Weft_PaddingHigh:$high,
                       Weft_Dilations:$dilations, Weft_Groups:$groups);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (batch, 1 to 3 spatial axes, channels)",
                       "of the shape of the convolution's result"];
  let resultShape = "of the kernel's shape, (window, channels / groups, the cotangent's channels)";
  let resultDType = "the operands' dtype";
  let raises = windowErrors;
  let assemblyFormat = "$x `,` $cotangent attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "convolution_kernel_gradient";
  let vjp = [(kernel_gradient_back_input $cotangent, $dy), (kernel_gradient_back_cotangent $x, $dy)];
  let jvp = (bilinear);
  let cost = 100;
  let handwrittenApi = 1;
  let samples = [
    Sample<["finite 1x4x2", "finite 1x2x2"], ["[2]", "[2]", "[1]", "[0]", "[1]", "1"]>,
    Sample<["finite 1x3x3x1", "finite 1x2x2x2"], ["[2, 2]", "[1, 2]", "[0, 1]", "[1, 0]", "[2, 1]", "1"]>,
    Sample<["finite 0x4x2", "finite 0x2x2"], ["[2]", "[2]", "[1]", "[0]", "[1]", "1"]>,
    Sample<["finite 2x7x3", "finite 2x5x4"], ["[3]", "[1]", "[0]", "[0]", "[1]", "1"]>,
    Sample<["finite 2x6x7x4", "finite 2x3x2x17"], ["[3, 2]", "[2, 3]", "[0, 1]", "[1, 0]", "[1, 2]", "1"]>,
    Sample<["finite 2x6x5x6", "finite 2x5x3x8"], ["[2, 3]", "[1, 2]", "[1, 0]", "[0, 2]", "[2, 1]", "2"]>,
    Sample<["finite 1x6x6x5", "finite 1x6x6x5"], ["[3, 3]", "[1, 1]", "[1, 1]", "[1, 1]", "[1, 1]", "5"]>,
    Sample<["finite 0x5x5x2", "finite 0x3x3x4"], ["[3, 3]", "[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]", "1"]>
  ];
  let numpy = "convolution_kernel_gradient(x, cotangent, window, strides, low, high, dilations, groups)";
  let tolerance = "sums(cotangent.size // max(cotangent.shape[-1], 1))";
  let signedZeros = 0;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What windows over the positions of images become, by their sizes alone.
class Weft_WindowOp<string mnemonic, dag operands> : Weft_PureOp<mnemonic> {
  let arguments = !con(operands, (ins Weft_Window:$window, Weft_Strides:$strides, Weft_PaddingLow:$low,
                                      Weft_PaddingHigh:$high, Weft_Dilations:$dilations));
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (batch, 1 to 3 spatial axes, channels)"];
  let resultShape = "of shape (batch, positions, channels)";
  let resultDType = "x's dtype";
  let raises = [
    Raises<ShapeError, "the rank is not 3 to 5, a window is larger than the padded axis or has more than 2^31 - 1 "
                       "elements, or a list has not an entry for each spatial axis">,
    Raises<ValueError, "a size of the window, a stride or a dilation is below 1, or padding is negative or as large "
                       "as what a window goes over">];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $y)";
  let attrStruct = "WindowAttrs";
  let batching = "every_image";
  let cost = 10;
  let handwrittenApi = 1;
}

/// The same on what lies at the positions: it becomes images again.
class Weft_WindowTransposeOp<string mnemonic, dag operands> : Weft_WindowOp<mnemonic, operands> {
  let arguments = !con(operands, (ins Weft_Window:$window, Weft_Strides:$strides, Weft_PaddingLow:$low,
                                      Weft_PaddingHigh:$high, Weft_Dilations:$dilations, Weft_Extra:$extra));
  let operandShapes = ["of shape (batch, positions, channels)"];
  let resultShape = "of shape (batch, spatial axes, channels)";
  let raises = [
    Raises<ShapeError, "the rank is not 3 to 5, the images would have fewer elements than none along an axis, a window "
                       "has more than 2^31 - 1 elements, or a list has not an entry for each spatial axis">,
    Raises<ValueError, "a size of the window, a stride or a dilation is below 1, padding is negative or as large as "
                       "what a window goes over, or `extra` is as large as the stride">];
  let attrStruct = "WindowTransposeAttrs";
}

/// A window takes one operand alone.
class Weft_WindowReductionOp<string mnemonic> : Weft_WindowOp<mnemonic, (ins Weft_Number:$x)> {
  let shapeFunction = "window_reduction";
  let samples = [
    Sample<["1x5x2"], ["[2]", "[2]", "[0]", "[0]", "[1]"]>,
    Sample<["2x7x3"], ["[3]", "[2]", "[1]", "[1]", "[1]"]>,
    Sample<["2x4x6x16"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]"]>,
    Sample<["1x5x6x17"], ["[3, 2]", "[1, 2]", "[1, 0]", "[0, 1]", "[1, 2]"]>,
    Sample<["1x5x5x1"], ["[3, 3]", "[3, 1]", "[2, 1]", "[0, 1]", "[1, 1]"]>,
    Sample<["1x3x4x5x4"], ["[2, 3, 2]", "[1, 2, 3]", "[0, 1, 0]", "[1, 1, 0]", "[1, 1, 2]"]>,
    Sample<["1x4x4x70"], ["[4, 4]", "[1, 1]", "[0, 0]", "[0, 0]", "[1, 1]"]>,
    Sample<["0x4x4x2"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]"]>,
    Sample<["2x4x0"], ["[2]", "[1]", "[0]", "[0]", "[1]"]>,
    Sample<["1x1x2"], ["[2]", "[1]", "[1]", "[1]", "[2]"]>,
    Sample<["transposed 3x5x2"], ["[2]", "[1]", "[0]", "[1]", "[1]"]>
  ];
}

def Weft_WindowMaxOp : Weft_WindowReductionOp<"window_max"> {
  let widening = "order";
  let summary = "Largest element of each window; NaN if any is NaN.";
  let description = [{
    Padding takes no part. Of a window that sees nothing else: -inf, or the lowest integer. The first of equal
    elements in the order of the window, and the first NaN, has the gradient.
  }];
  let vjp = [(window_extremum_back $x, $dy)];
  let jvp = (window_extremum_forward $x, $dx);
  let numpy = "window_extremum(x, window, strides, low, high, dilations, lowest(x))";
}

def Weft_WindowMinOp : Weft_WindowReductionOp<"window_min"> {
  let widening = "order";
  let summary = "Smallest element of each window; NaN if any is NaN.";
  let description = [{
    Padding takes no part. Of a window that sees nothing else: inf, or the highest integer. The first of equal
    elements in the order of the window, and the first NaN, has the gradient.
  }];
  let vjp = [(window_extremum_back $x, $dy)];
  let jvp = (window_extremum_forward $x, $dx);
  let numpy = "window_extremum(x, window, strides, low, high, dilations, highest(x))";
}

def Weft_WindowSumOp : Weft_WindowReductionOp<"window_sum"> {
  let widening = "ring";
  let summary = "Sum of each window.";
  let description = "Each sum is one chain from 0 over the axes of the window. Padding takes no part.";
  let vjp = [(window_sum_back $dy)];
  let jvp = (linear);
  let numpy = "window_sum(x, window, strides, low, high, dilations)";
  let tolerance = "sums(int(np.prod(window)))";
  let signedZeros = 0;
}

def Weft_WindowArgmaxOp : Weft_WindowReductionOp<"window_argmax"> {
  let widening = "order";
  let summary = "Place in each window of its first largest element, as i32; NaN counts as largest.";
  let description = [{
    Places count the elements of the window from 0, row by row, padding included. Of a window that sees
    nothing but padding: 0.
  }];
  let shapeFunction = "window_places";
  let resultDType = "i32";
  let inactive = "its result is an index";
  let numpy = "window_places(x, window, strides, low, high, dilations, lowest(x))";
}

def Weft_WindowArgminOp : Weft_WindowReductionOp<"window_argmin"> {
  let widening = "order";
  let summary = "Place in each window of its first smallest element, as i32; NaN counts as smallest.";
  let description = [{
    Places count the elements of the window from 0, row by row, padding included. Of a window that sees
    nothing but padding: 0.
  }];
  let shapeFunction = "window_places";
  let resultDType = "i32";
  let inactive = "its result is an index";
  let numpy = "window_places(x, window, strides, low, high, dilations, highest(x))";
}

def Weft_WindowTakeOp : Weft_WindowOp<"window_take", (ins Weft_Number:$x, Weft_WindowPlace:$places)> {
  let widening = "ring";
  let summary = "The element of each window at a place in it.";
  let description = "0 where the place is none of the window's, or in the padding.";
  let operandShapes = ["of shape (batch, 1 to 3 spatial axes, channels)", "of the result's shape"];
  let shapeFunction = "window_take";
  let vjp = [(window_take_back $places, $dy), (no_grad)];
  let jvp = (linear);
  let samples = [
    Sample<["1x5x2", "i32 [[[0, 1], [1, 2]]]"], ["[2]", "[2]", "[0]", "[0]", "[1]"]>,
    Sample<["1x3x3x2", "i32 [[[[3, 0], [1, 2]], [[0, 3], [-1, 4]]]]"],
           ["[2, 2]", "[1, 2]", "[0, 0]", "[0, 1]", "[1, 1]"]>,
    Sample<["2x4x6x17", "i32 2x2x3x17"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]"]>,
    Sample<["1x3x4x5x4", "i32 1x3x2x1x4"], ["[2, 3, 2]", "[1, 2, 3]", "[0, 1, 0]", "[1, 1, 0]", "[1, 1, 2]"]>,
    Sample<["0x4x4x2", "i32 0x2x2x2"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]"]>
  ];
  let numpy = "window_take(x, places, window, strides, low, high, dilations)";
}

def Weft_WindowSumTransposeOp : Weft_WindowTransposeOp<"window_sum_transpose", (ins Weft_Number:$x)> {
  let widening = "ring";
  let summary = "Of each element of images the sum of the windows that see it: the gradient of `window_sum`.";
  let description = [{
    The images of which `window_sum` with the same attributes has its positions where x has them. Each sum is one
    chain from 0 over the positions. `extra` is how many elements there are behind the last window.
  }];
  let shapeFunction = "window_sum_transpose";
  let vjp = [(window_sum_transpose_back $dy)];
  let jvp = (linear);
  let samples = [
    Sample<["finite 1x2x2"], ["[2]", "[2]", "[0]", "[0]", "[1]", "[1]"]>,
    Sample<["finite 2x4x3"], ["[3]", "[2]", "[1]", "[1]", "[1]", "[0]"]>,
    Sample<["finite 2x3x4x17"], ["[3, 2]", "[1, 3]", "[1, 0]", "[0, 1]", "[1, 2]", "[0, 2]"]>,
    Sample<["finite 1x2x2x3x2"], ["[2, 3, 1]", "[1, 2, 1]", "[0, 1, 0]", "[1, 1, 0]", "[1, 1, 1]", "[0, 1, 0]"]>,
    Sample<["finite 0x2x2x2"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]", "[0, 0]"]>
  ];
  let numpy = "window_sum_transpose(x, window, strides, low, high, dilations, extra)";
  let tolerance = "sums(int(np.prod(window)))";
  let signedZeros = 0;
}

def Weft_WindowScatterOp
    : Weft_WindowTransposeOp<"window_scatter", (ins Weft_Number:$x, Weft_WindowPlace:$places)> {
  let widening = "ring";
  let summary = "Images that have the elements of x at places in their windows: the gradient of `window_take`.";
  let description = [{
    The elements of windows whose places fall on one element of the images are added up, from 0 and in the order of
    their positions; those whose place is none of the window's, or in the padding, are left out. `extra`
    is how many elements there are behind the last window.
  }];
  let operandShapes = ["of shape (batch, positions, channels)", "of x's shape"];
  let shapeFunction = "window_scatter";
  let vjp = [(window_scatter_back $places, $dy), (no_grad)];
  let jvp = (linear);
  let samples = [
    Sample<["finite 1x2x2", "i32 [[[0, 1], [1, 2]]]"], ["[2]", "[2]", "[0]", "[0]", "[1]", "[1]"]>,
    Sample<["finite 1x2x2x2", "i32 [[[[3, 0], [1, 2]], [[0, 3], [-1, 4]]]]"],
           ["[2, 2]", "[1, 2]", "[0, 0]", "[0, 1]", "[1, 1]", "[0, 0]"]>,
    Sample<["finite 2x2x3x17", "i32 2x2x3x17"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]", "[1, 0]"]>,
    Sample<["finite 1x3x3x1x4", "i32 1x3x3x1x4"],
           ["[2, 3, 2]", "[1, 2, 3]", "[0, 1, 0]", "[1, 1, 0]", "[1, 1, 2]", "[0, 0, 2]"]>,
    Sample<["finite 0x2x2x2", "i32 0x2x2x2"], ["[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]", "[1, 1]", "[0, 0]"]>
  ];
  let numpy = "window_scatter(x, places, window, strides, low, high, dilations, extra)";
  let tolerance = "sums(int(np.prod(window)))";
  let signedZeros = 0;
}

//===----------------------------------------------------------------------===//
// Calls of the library
//===----------------------------------------------------------------------===//

def Weft_CallIntoOp
    : Op<Weft_Dialect, "call_into",
         [NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>, Weft_StaysInLinalg, AttrSizedOperandSegments,
          RangedTypesMatchWith<"results are of the types that they are written over", "into", "y", "$_self">]> {
  let summary = "What a routine of the library computes, written over `into`.";
  let description = [{
    What the conversion makes of ops whose kernels the library has: `into` says where the result may stand,
    and its elements are not read. Bufferization makes it a call of `weft_rt_` and the name, `_` and the
    dtype of the first input, with the numbers in an array and dense row-major buffers. Integers have no sign
    here: `is_unsigned` says that the dtype is unsigned.

    An op of kind routine is one as well: it has its attributes as integers, `attrs`, instead of numbers, and is
    given buffers of any strides; the array has rank, sizes and strides of each, then these integers. Where it has
    several results, there is an `into` for each; `into_pairs` says that there is one for each two, whose buffers
    it gives beside each other along a last axis of size 2. Complex numbers are real and imaginary parts along a last axis: `is_complex` says
    that those inputs are such which may be. One that may throw says after `leaving` what variables hold then; to bufferization
    that is a read.

    ```mlir
    %y = weft.call_into "convolution"(%x, %k) numbers(%n, %c0, %c1) into %into
        : (tensor<2x9xf32>, tensor<3xf32>) into tensor<2x7xf32>
    %l = weft.call_into "cholesky"(%a) numbers() into %place {attrs = array<i64>}
        : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w] = %w1 : tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$routine, Variadic<Weft_Any>:$into, Variadic<Weft_Any>:$inputs, Variadic<Index>:$numbers,
                       OptionalAttr<DenseI64ArrayAttr>:$attrs, UnitAttr:$is_unsigned, UnitAttr:$is_complex, UnitAttr:$into_pairs,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$variables, Variadic<Weft_Any>:$state);
  let results = (outs Variadic<Weft_Any>:$y);
  let assemblyFormat = [{
    $routine `(` $inputs `)` `numbers` `(` $numbers `)` `into` $into attr-dict
    `:` `(` type($inputs) `)` `into` type($into) (`leaving` $variables `=` $state^ `:` type($state))?
  }];
  let extraClassDeclaration = [{
    /// Whether the routine may throw: its op may stop the call, or it compares sizes.
    bool mayThrow();
  }];
  let hasVerifier = 1;
}

#endif // WEFT_IR_WINDOW_OPS
