// Derivatives of functions, as ops on their symbols. `weft-differentiate` expands them.

#ifndef WEFT_IR_AUTODIFF_OPS
#define WEFT_IR_AUTODIFF_OPS

include "Weft/IR/Base.td"

/// A call of a function that gives its results and derivatives of them by the arguments whose
/// numbers `wrt` lists, which are floating tensors, or handles of variables of that kind: the
/// derivative by a variable is that by all its reads. The function's effects happen once. These ops
/// are no records of the op table: no program executes them. Where there is a reverse part,
/// `checkpoint` says what loops may keep for it: "none", "sqrt", "binomial<k>" or "bytes<n>";
/// without it the pass's option does.
class Weft_DifferentialOp<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, traits # [Weft_IsDerivative, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let results = (outs Variadic<AnyType>:$values);
}

def Weft_GradientOp : Weft_DifferentialOp<"gradient"> {
  let summary = "Calls a function and differentiates its first result, a floating scalar.";
  let description = [{
    The results are those of the function, then the gradient of the first of them by each argument
    in `wrt`, of that argument's type; of a handle, of the variable's.

    ```mlir
    %loss, %dw, %db = weft.gradient @loss(%x, %w, %b) wrt [1, 2]
        : (tensor<8x4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       DenseI64ArrayAttr:$wrt, OptionalAttr<StrAttr>:$checkpoint);
  let assemblyFormat =
      "$callee `(` $args `)` `wrt` $wrt attr-dict `:` functional-type($args, results)";
}

def Weft_VjpOp : Weft_DifferentialOp<"vjp", [AttrSizedOperandSegments]> {
  let summary = "Calls a function and pulls cotangents of its results back to its arguments.";
  let description = [{
    There is one cotangent per floating result, of its type. The results are those of the function,
    then, for each argument in `wrt`, the cotangent that reaches it. Sizes that the types leave open
    must agree at run time, which nothing checks: `match_shape` does where it is not certain.

    ```mlir
    %y, %dx = weft.vjp @f(%x) cotangents(%dy) wrt [0]
        : (tensor<3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       Variadic<AnyType>:$cotangents, DenseI64ArrayAttr:$wrt,
                       OptionalAttr<StrAttr>:$checkpoint);
  let assemblyFormat = [{
    $callee `(` $args `)` `cotangents` `(` $cotangents `)` `wrt` $wrt attr-dict `:`
    functional-type(operands, results)
  }];
}

def Weft_JvpOp : Weft_DifferentialOp<"jvp", [AttrSizedOperandSegments]> {
  let summary = "Calls a function and pushes tangents of its arguments forward to its results.";
  let description = [{
    There is one tangent per argument in `wrt`, of its type. The results are those of the function,
    then the tangent of each floating result. Sizes that the types leave open must agree at run time,
    as for `vjp`.

    ```mlir
    %y, %dy = weft.jvp @f(%x) tangents(%dx) wrt [0]
        : (tensor<3xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       Variadic<AnyType>:$tangents, DenseI64ArrayAttr:$wrt);
  let assemblyFormat = [{
    $callee `(` $args `)` `tangents` `(` $tangents `)` `wrt` $wrt attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// A vjp in two parts
//===----------------------------------------------------------------------===//

def Weft_RecordType : Weft_Type<"Record", "record"> {
  let summary = "record";
  let description = "What a call keeps so that cotangents can be pulled back through it.";
}

def Weft_RecordOp : Op<Weft_Dialect, "record", [Weft_IsDerivative, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a function so that cotangents of its results can be pulled back later.";
  let description = [{
    The results are those of the function, then the record, which goes to weft.pull and nowhere else.

    ```mlir
    %y, %r = weft.record @f(%x, %v) wrt [0, 1]
        : (tensor<3xf32>, !weft.var<tensor<2xf32>>) -> (tensor<2xf32>, !weft.record)
    %dx, %dv = weft.pull %r(%dy) : (tensor<2xf32>) -> (tensor<3xf32>, tensor<2xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       DenseI64ArrayAttr:$wrt, OptionalAttr<StrAttr>:$checkpoint);
  let results = (outs Variadic<AnyType>:$values, Weft_RecordType:$record);
  let assemblyFormat =
      "$callee `(` $args `)` `wrt` $wrt attr-dict `:` functional-type($args, results)";
}

def Weft_PullOp : Op<Weft_Dialect, "pull", [Weft_IsDerivative, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Pulls cotangents back through a call that was recorded.";
  let description = [{
    Takes a cotangent for each floating result of the recorded function, of its type, and gives those
    that reach the arguments in `wrt`. It may stand anywhere behind the weft.record, in regions too,
    and there may be several: the function's effects happen once, where it was recorded.
  }];
  let arguments = (ins Weft_RecordType:$record, Variadic<AnyType>:$cotangents);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = [{
    $record `(` $cotangents `)` attr-dict `:` functional-type($cotangents, results)
  }];
}

//===----------------------------------------------------------------------===//
// Gradients of the user's own
//===----------------------------------------------------------------------===//

def Weft_CustomGradientOp
    : Op<Weft_Dialect, "custom_gradient",
         [Pure, Weft_IsDerivative, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives values as they are, whose derivative is what a function says.";
  let description = [{
    The results are `values`. Cotangents of them do not go to `values` but to `sources`, from which
    the values were computed: the function `pullback` takes a cotangent for each floating result and
    then `captures`, tensors and variables, and gives the cotangent of each source. It is called where
    the reverse comes to the op, so that is where its effects happen. Tangents of the sources go
    through its transpose. Where no derivative is asked, `weft-differentiate` puts `values` in the
    place of the results.

    ```mlir
    func.func private @clip(%dy: tensor<3xf32>, %most: tensor<f32>) -> tensor<3xf32>

    %y = weft.custom_gradient(%x) of(%x) by @clip(%most)
        : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values, Variadic<AnyRankedTensor>:$sources,
                       FlatSymbolRefAttr:$pullback, Variadic<AnyType>:$captures);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$values, "::mlir::ValueRange":$sources,
                                 "::llvm::StringRef":$pullback, "::mlir::ValueRange":$captures), [{
    build($_builder, $_state, values.getTypes(), values, sources, pullback, captures);
  }]>];
  let assemblyFormat = [{
    `(` $values `)` `of` `(` $sources `)` `by` $pullback `(` $captures `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // WEFT_IR_AUTODIFF_OPS
