// Ops on windows of images, which are (batch, spatial axes.., channels): convolution and its
// gradients, and what the conversion makes of them.

#ifndef WEFT_IR_WINDOW_OPS
#define WEFT_IR_WINDOW_OPS

include "Weft/IR/Base.td"

/// An entry for each spatial axis.
class Weft_Spatial<string words> : Weft_IntsAttr<"spatial", words>;
def Weft_Strides : Weft_Spatial<"how far one window is from the next">;
def Weft_PaddingLow : Weft_Spatial<"zeros in front of each axis">;
def Weft_PaddingHigh : Weft_Spatial<"zeros behind each axis">;
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

def Weft_ConvolutionOp : Weft_PureOp<"convolution"> {
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
  let summary = "The transpose of a convolution in its images: its gradient by them.";
  let description = [{
    The images of which a convolution with the same kernel and attributes has its positions where x has
    them: each element is the sum over the windows that see it of x and the kernel. `extra` is how
    many elements there are behind the last window, below the stride.
  }];
  let arguments = (ins Weft_Number:$x, Weft_Number:$kernel, Weft_Strides:$strides, Weft_PaddingLow:$low,
                       Weft_PaddingHigh:$high, Weft_Dilations:$dilations, Weft_Groups:$groups,
                       Weft_Spatial<"elements behind the last window">:$extra);
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
  let summary = "The gradient of a convolution by its kernel.";
  let description = [{
    Of each tap of the window, and each pair of channels of a group, the sum over all positions of x and
    the cotangent of the convolution's result. The positions are cut into chunks by the sizes; each
    chunk is one chain over (batch, axes), and chunks are added pairwise.
  }];
  let arguments = (ins Weft_Number:$x, Weft_Number:$cotangent, Weft_Spatial<"the sizes of the window">:$window,
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

def Weft_CallIntoOp
    : Op<Weft_Dialect, "call_into",
         [Pure, Weft_StaysInLinalg, AttrSizedOperandSegments, AllTypesMatch<["into", "y"]>]> {
  let summary = "What a routine of the library computes, written over `into`.";
  let description = [{
    What the conversion makes of ops whose kernels the library has: `into` says where the result may stand,
    and its elements are not read. Bufferization makes it a call of `weft_rt_` and the name, `_` and the
    dtype of the first input, with the numbers in an array and dense row-major buffers.

    ```mlir
    %y = weft.call_into "convolution"(%x, %k) numbers(%n, %c0, %c1) into %into
        : (tensor<2x9xf32>, tensor<3xf32>) into tensor<2x7xf32>
    ```
  }];
  let arguments = (ins StrAttr:$routine, Weft_Any:$into, Variadic<Weft_Any>:$inputs, Variadic<Index>:$numbers);
  let results = (outs Weft_Any:$y);
  let assemblyFormat = [{
    $routine `(` $inputs `)` `numbers` `(` $numbers `)` `into` $into attr-dict
    `:` `(` type($inputs) `)` `into` type($into)
  }];
  let hasVerifier = 1;
}

#endif // WEFT_IR_WINDOW_OPS
