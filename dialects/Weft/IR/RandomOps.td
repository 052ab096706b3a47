// Random numbers: what is drawn from a stream that a state names. Users call the distributions of
// RandomComposites.td, which are made of these.

#ifndef WEFT_IR_RANDOM_OPS
#define WEFT_IR_RANDOM_OPS

include "Weft/IR/Base.td"

//===----------------------------------------------------------------------===//
// Evenly
//===----------------------------------------------------------------------===//

def Weft_DrawUniformOp : Weft_PureOp<"draw_uniform"> {
  let summary = "Random numbers, all values equally likely.";
  let description = [{
    Floats are of [0, 1) and have as many random bits as the dtype has: 24 or 53; integers and bools
    are of all their values. `state` is the seed and the number of the stream. Element i is a
    function of these and of i alone, by Philox4x32-10: the key is the seed, the counter is
    (b, stream), all in words of 32 bits, low ones first. Block b gives elements 4 b to 4 b + 3, a
    word each, or 2 b and 2 b + 1 of 64 bits, high word first; of each the highest bits are taken.
  }];
  let arguments = (ins Weft_Stream:$state, Variadic<Weft_Size>:$sizes, Weft_Sizes<>:$shape, Weft_DTypeAttr:$dtype);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (2,)"];
  let resultShape = "of the shape given";
  let resultDType = "the dtype given";
  let raises = [Raises<ShapeError, "state has another shape, or a size is negative">,
                Raises<DTypeError, "the dtype is an integer or float of fewer than 32 bits, unsigned or complex">];
  let assemblyFormat = "$state custom<TargetSizes>($sizes, type($sizes), $shape) attr-dict `:` functional-type($state, $y)";
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "draw_uniform";
  let inactive = "its result depends on nothing but the state";
  let cost = 40;
  let samples = !foldl([]<Sample>, ["[0, 0]", "[9223372036854775807, -9223372036854775807]", "strided [3, 1, 1099511627777]"],
      made, state, !listconcat(made,
          !foldl([]<Sample>, ["[]", "[0]", "[1]", "[33]", "[1000]", "[3, 5, 7]", "[5, 1]", "[2, 0, 3]"],
              shapes, shape, !listconcat(shapes,
                  !foreach(dtype, ["bool", "i32", "i64", "f32", "f64"], Sample<[state], [shape, dtype]>)))));
  let numpy = "draw_uniform(state, shape, dtype)";
  let example = "draw_uniform([0, 0], {3}, f32)  ->  [0.39904642, 0.88052016, 0.73571277]";
}

def Weft_DrawPermutationOp : Weft_PureOp<"draw_permutation"> {
  let summary = "The numbers from 0 to below a size in a random order.";
  let description = [{
    `state` is the seed and the number of the stream, as of `draw_uniform`. All orders are equally
    likely but for differences below n / 2^64: for k = 0, 1, ... the number at n - 1 - k is exchanged
    with that at floor(r (n - k) / 2^64), where r is the first number of 64 bits of block k (Fisher
    and Yates).
  }];
  let arguments = (ins Weft_Stream:$state, Variadic<Weft_Size>:$sizes,
                       Weft_Sizes<"the size of the result, a list of one">:$shape, Weft_DTypeAttr:$dtype);
  let results = (outs Weft_Any:$y);
  let operandShapes = ["of shape (2,)"];
  let resultShape = "of rank 1 and the size given";
  let resultDType = "the dtype given";
  let raises = [Raises<ShapeError, "state has another shape, the size is negative or not one">,
                Raises<DTypeError, "the dtype given is no integer">,
                Raises<ValueError, "the dtype given does not hold the numbers">];
  let assemblyFormat = "$state custom<TargetSizes>($sizes, type($sizes), $shape) attr-dict `:` functional-type($state, $y)";
  let hasCanonicalizeMethod = 1;
  let shapeFunction = "draw_permutation";
  let inactive = "its result depends on nothing but the state";
  let samples = !foldl([]<Sample>, ["[0, 0]", "[9223372036854775807, -9223372036854775807]", "strided [3, 1, 1099511627777]"],
      made, state, !listconcat(made,
          !foldl([]<Sample>, ["[0]", "[1]", "[5]", "[1000]"], shapes, shape, !listconcat(shapes,
              !foreach(dtype, ["i32", "i64"], Sample<[state], [shape, dtype]>)))));
  let numpy = "draw_permutation(state, shape[0], dtype)";
  let example = "draw_permutation([0, 0], {5}, i64)  ->  [2, 4, 0, 3, 1]";
}

def Weft_DrawIntoOp : Op<Weft_Dialect, "draw_into", [Pure, Weft_StaysInLinalg, AllTypesMatch<["into", "y"]>]> {
  let summary = "Random numbers in a given place.";
  let description = [{
    What `draw_uniform` and, with `permutation`, `draw_permutation` become where the library does them:
    every element of `into` is overwritten. `seed` and `stream` are the numbers of their state.

    ```mlir
    %y = weft.draw_into %into, %seed, %stream : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Weft_Any:$into, I64:$seed, I64:$stream, UnitAttr:$permutation);
  let results = (outs Weft_Any:$y);
  let assemblyFormat = "$into `,` $seed `,` $stream attr-dict `:` type($into)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// By rejection
//===----------------------------------------------------------------------===//

defvar stateOfEach = "of shape (2,), or with such a pair for each place in the first axes of the other operands";
class Raises_NoStates<string parameters>
    : Raises<ShapeError, "the last axis of state is not of size 2, or " # parameters # " does not begin with its other axes">;

/// A distribution that is drawn by rejection, of a parameter for each element. A routine of lib/Kernels computes it.
class Weft_RejectionOp<string mnemonic> : Weft_RoutineOp<mnemonic> {
  let pythonName = "";
  let batching = "every";
  let cost = 100;
  let domain = "nowhere"; // a step where another attempt is accepted
  let results = (outs Weft_Any:$y);
}

def Weft_DrawLogGammaOp : Weft_RejectionOp<"draw_log_gamma"> {
  let summary = "Logarithms of numbers of gamma distributions of shape parameter a and scale 1; NaN of an a that is not positive.";
  let description = [{
    `state` is the seed and the number of the stream, as of `draw_uniform`, or that of each batch. An element has at most 64
    attempts, of which at least four of five succeed; the last one is kept. Attempt t of element i of a batch is a function
    of the state, of t and of i alone: its two numbers u and v are those of block i of the stream that is t 2^48 beyond the
    state's, (n + 1/2) / 2^52 of the highest 52 bits n of two words. An attempt is Marsaglia and Tsang's ("A simple method for
    generating gamma variables", 2000) with the normal number ndtri(u); of an a below 1 it is that of a + 1, plus log(u) / a,
    where u is of attempt 64. All is computed in f64. The derivative by a is at a fixed share of the distribution
    (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018), and has none by a itself.
  }];
  let arguments = (ins Weft_Float:$a, Weft_Stream:$state);
  let operandShapes = ["of any shape", stateOfEach];
  let resultShape = "of a's shape";
  let resultDType = "a's dtype";
  let raises = [Raises_NoStates<"a">];
  let assemblyFormat = "$a `,` $state attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "draw_log_gamma";
  let vjp = [(mul $dy, (log_gamma_slope $a, $y)), (no_grad)];
  let samples = [Sample<["33", "i64 [7, 0]"]>, Sample<["scalar", "i64 [7, 1]"]>, Sample<["[[1, 2], [5, 1000]]", "i64 strided [3, 1, 1099511627777]"]>,
                 Sample<["2x700", "i64 [[1, 2], [3, 4]]"]>, Sample<["transposed 7x5", "i64 [-5, -7]"]>, Sample<["3x2", "i64 [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 0], [1, 3]]]"]>,
                 Sample<["0x3", "i64 [1, 2]"]>, Sample<["2x0", "i64 [[1, 2], [3, 4]]"]>];
  let numpy = "draw_log_gamma(a, state)";
  let tolerance = "near(64)";
  let example = "draw_log_gamma([0.5, 3.0], [1, 0])  ->  [-1.2454625, 1.241906]";
}

def Weft_DrawPoissonOp : Weft_RejectionOp<"draw_poisson"> {
  let summary = "Counts of Poisson distributions: how many events there are, whose mean number is the rate.";
  let description = [{
    Attempts are those of `draw_log_gamma`. Below a rate of 10 it is as many terms of the distribution as are below u of the first
    attempt together, at most 64; else by Hormann's PTRS ("The transformed rejection method for generating Poisson random
    variables", 1993). It is 0 of a rate that is not positive; rates above 2^60 count as that.
  }];
  let arguments = (ins Weft_Float:$rate, Weft_Stream:$state);
  let operandShapes = ["of any shape", stateOfEach];
  let resultShape = "of the rate's shape";
  let resultDType = "i64";
  let raises = [Raises_NoStates<"the rate">];
  let assemblyFormat = "$rate `,` $state attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "draw_count";
  let inactive = "its result is a count";
  let samples = [Sample<["33", "i64 [7, 0]"]>, Sample<["scalar", "i64 [7, 1]"]>, Sample<["[[1, 9], [10, 1000]]", "i64 strided [3, 1, 1099511627777]"]>,
                 Sample<["2x700", "i64 [[1, 2], [3, 4]]"]>, Sample<["transposed 7x5", "i64 [-5, -7]"]>, Sample<["[[11, 60000, 30], [5, 25, 17]]", "i64 [[1, 2], [3, 4]]"]>,
                 Sample<["0x3", "i64 [1, 2]"]>];
  let numpy = "draw_poisson(rate, state)";
  let example = "draw_poisson([0.5, 4.0, 100.0], [1, 0])  ->  [1, 5, 92]";
}

def Weft_DrawBinomialOp : Weft_RejectionOp<"draw_binomial"> {
  let summary = "How many of n trials succeed, each with probability p.";
  let description = [{
    As `draw_poisson` does it where n times the smaller of p and 1 - p is below 10, else by Hormann's BTRS ("The generation of
    binomial random variates", 1993). It is 0 of an n or p that is not positive; a p above 1 counts as that.
  }];
  let arguments = (ins Weft_Float:$n, Weft_Float:$p, Weft_Stream:$state);
  let operandShapes = ["of any shape", "of n's shape", stateOfEach];
  let resultShape = "of n's shape";
  let resultDType = "i64";
  let raises = [Raises_NoStates<"n">, Raises<ShapeError, "p has another shape than n">, dtypes_differ];
  let assemblyFormat = "$n `,` $p `,` $state attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "draw_count";
  let inactive = "its result is a count";
  let samples = [Sample<["[10, 3, 0, 1000]", "4", "i64 [7, 0]"]>, Sample<["[[10, 3], [1000, 7]]", "[[0, 1], [1, 2]]", "i64 strided [3, 1, 1099511627777]"]>,
                 Sample<["[[30, 3, 20, 50], [1000, 1000, 60000, 7]]", "2x4", "i64 [[1, 2], [3, 4]]"]>, Sample<["0x3", "0x3", "i64 [1, 2]"]>];
  let numpy = "draw_binomial(n, p, state)";
  let example = "draw_binomial([10.0, 100.0], [0.5, 0.5], [1, 0])  ->  [7, 53]";
}

def Weft_DrawMultinomialOp : Weft_RejectionOp<"draw_multinomial"> {
  let summary = "How often each of several things comes in n trials, one of them each time.";
  let description = [{
    Of each thing what the ones before it leave, by `draw_binomial` with the stream that is as many beyond the state's as there
    are things before it; the last one takes what is left. What they leave of n and of 1 is computed in the dtype.
  }];
  let arguments = (ins Weft_Float:$n, Weft_Float:$pvals, Weft_Stream:$state);
  let operandShapes = ["of any shape", "of n's shape and with one axis more, that of the things", stateOfEach];
  let resultShape = "of the shape of pvals";
  let resultDType = "i64";
  let raises = [Raises_NoStates<"n">, Raises<ShapeError, "pvals has another shape than n and one axis">, dtypes_differ];
  let assemblyFormat = "$n `,` $pvals `,` $state attr-dict `:` functional-type(operands, $y)";
  let shapeFunction = "draw_multinomial";
  let inactive = "its result is a count";
  let samples = [Sample<["[10, 0, 1000]", "[[1, 0, 0], [0, 0, 1], [0, 1, 0]]", "i64 [7, 0]"]>,
                 Sample<["[[30, 3, 20, 50], [1000, 1000, 60000, 7]]", "2x4x3", "i64 [[1, 2], [3, 4]]"]>, Sample<["[7]", "transposed 3x1", "i64 strided [3, 1, 1099511627777]"]>,
                 Sample<["3", "3x0", "i64 [1, 2]"]>, Sample<["0", "0x4", "i64 [1, 2]"]>];
  let numpy = "draw_multinomial(n, pvals, state)";
  let example = "draw_multinomial([10.0], [[0.2, 0.3, 0.5]], [1, 0])  ->  [[4, 0, 6]]";
}

#endif // WEFT_IR_RANDOM_OPS
