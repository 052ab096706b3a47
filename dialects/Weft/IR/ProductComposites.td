// Sums of products over axes, made of matrix products.

#ifndef WEFT_IR_PRODUCT_COMPOSITES
#define WEFT_IR_PRODUCT_COMPOSITES

include "Weft/IR/MatrixComposites.td"

class Weft_ProductFn<string name> : Weft_PairFn<name, Weft_Numeric> {
  let operandShapes = ["of any shape", "of any shape"];
  let resultShape = "of the axes of a, then of b, that are not summed";
  let raises = [Raises<ShapeError, "axes that are summed are of different sizes">];
  let cppBody = name;
  let moves = 1; // to one product and from it
  let tolerance = "sums(64)";
}

def Weft_DotFn : Weft_ProductFn<"dot"> {
  let summary = "The sum of products over the last axis of a and the last but one of b, or its only one; of a scalar the product.";
  let samples = [Sample<["3", "3"]>, Sample<["2x3", "3x2"]>, Sample<["2x3", "3"]>, Sample<["2x3x4", "4x3"]>, Sample<["2x3x4", "2x4x3"]>,
                 Sample<["2x3", "scalar"]>, Sample<["0x3", "3x0"]>];
  let numpy = "np.dot(a, b)";
  let example = "dot([1, 2, 3], [4, 5, 6])  ->  32";
  let method = 1;
}

def Weft_InnerFn : Weft_ProductFn<"inner"> {
  let summary = "The sum of products over the last axes of both; of a scalar the product.";
  let samples = [Sample<["3", "3"]>, Sample<["2x3", "2x3"]>, Sample<["2x3x4", "2x4"]>, Sample<["scalar", "3"]>, Sample<["0x3", "0x3"]>];
  let numpy = "np.inner(a, b)";
  let example = "inner([[1, 2], [3, 4]], [5, 6])  ->  [17, 39]";
}

def Weft_VdotFn : Weft_ProductFn<"vdot"> {
  let summary = "The sum of products of all elements, both in a row, complex ones of a conjugated.";
  let resultShape = "a scalar";
  let raises = [Raises<ShapeError, "there are not as many elements in both">];
  let samples = [Sample<["3", "3"]>, Sample<["2x3", "2x3"]>, Sample<["2x3", "3x2"]>, Sample<["scalar", "scalar"]>, Sample<["0x3", "0x3"]>];
  let numpy = "np.vdot(a, b)";
  let example = "vdot([[1, 2], [3, 4]], [[1, 0], [0, 1]])  ->  5";
}

def Weft_TensordotFn : Weft_ProductFn<"tensordot"> {
  let summary = "The sum of products over axes of a and b: so many of the last and first, or those of two lists.";
  let parameters = (params Weft_Numeric:$a, Weft_Numeric:$b,
                           Weft_Parameter<"contraction", "ContractedAxes", "2", "how many axes, or two lists of them">:$axes);
  let raises = [Raises<ShapeError, "axes that are summed are of different sizes">, axis_out_of_range,
                Raises<ValueError, "the lists are not of one length, one has an axis twice, or a tensor has not as many axes">];
  let samples = [Sample<["2x3", "2x3"], ["2"]>, Sample<["2x3", "3x2"], ["1"]>, Sample<["2x3", "2x3"], ["0"]>,
                 Sample<["2x3x4", "2x3"], ["[[0, 1], [0, 1]]"]>, Sample<["2x3x4", "4x3"], ["[[-1, 1], [0, 1]]"]>,
                 Sample<["2x3", "2"], ["[0, 0]"]>, Sample<["0x3", "0x3"], ["[[0], [0]]"]>];
  let numpy = "np.tensordot(a, b, axes)";
  let example = "tensordot([[1, 2], [3, 4]], [5, 6], {{0}, {0}})  ->  [23, 34]";
}

def Weft_EinsumFn : Weft_CompositeFn<"einsum"> {
  let summary = "Products of tensors, whose axes have letters, summed over those that are not in the result: 'bij,bjk->bik'.";
  let description = [{
    An ellipsis stands for axes in front that all have; without an arrow the result has the letters that come once, sorted.
  }];
  let parameters = (params Weft_Text<"the letters of each tensor, and of the result">:$equation, Weft_Rest<Weft_Computable>:$xs);
  let operandShapes = ["of an axis for each letter"];
  let promotion = "common";
  let resultShape = "of an axis for each letter of the result";
  let resultDType = "their dtype, i64 of sums of bools";
  let raises = [Raises<ValueError, "there are not as many terms as tensors, or the result has a letter that no term has">,
                Raises<ShapeError, "a term does not fit its tensor, or axes of one letter are of different sizes">,
                Raises<DTypeError, "several are all of bools">];
  let cppBody = "einsum";
  let moves = 1; // see there
  let samples = [Sample<["i32 2x3", "f32 3x2"], ["'ij,jk->ik'"]>, Sample<["f64 2x3", "f64 2x3"], ["'ij,kj'"]>,
                 Sample<["f32 2x3x4", "f32 2x3"], ["'...ij,...i->...j'"]>, Sample<["i32 3x3"], ["'ii->i'"]>, Sample<["bool 2x3"], ["'ij->ji'"]>,
                 Sample<["f32 2x3", "f32 3", "f32 3x2"], ["'ij,j,jk->ki'"]>, Sample<["i32 2x3", "i32 2x3"], ["'ab,ab->ab'"]>,
                 Sample<["f64 3", "f64 2"], ["'i,j->ji'"]>, Sample<["f32 0x3", "f32 3x2"], ["'ij,jk->ik'"]>, Sample<["f32 5x7"], ["'ij->j'"]>];
  let numpy = "np.einsum(equation, *xs, dtype=np.result_type(*xs))";
  let tolerance = "sums(64)";
  let example = "einsum(\"ij,jk->ik\", {[[1, 2], [3, 4]], [[1, 0], [1, 1]]})  ->  [[3, 2], [7, 4]]";
}

#endif // WEFT_IR_PRODUCT_COMPOSITES
