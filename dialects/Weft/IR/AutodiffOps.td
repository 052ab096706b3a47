// Derivatives of functions, as ops on their symbols. `weft-differentiate` expands them.

#ifndef WEFT_IR_AUTODIFF_OPS
#define WEFT_IR_AUTODIFF_OPS

include "Weft/IR/Base.td"

/// A call of a function that gives its results and derivatives of them by the arguments whose
/// numbers `wrt` lists, which are floating tensors. The function's effects happen once. These ops are
/// no records of the op table: no program executes them.
class Weft_DifferentialOp<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let results = (outs Variadic<AnyType>:$values);
}

def Weft_GradientOp : Weft_DifferentialOp<"gradient"> {
  let summary = "Calls a function and differentiates its first result, a floating scalar.";
  let description = [{
    The results are those of the function, then the gradient of the first of them by each argument
    in `wrt`, of that argument's type.

    ```mlir
    %loss, %dw, %db = weft.gradient @loss(%x, %w, %b) wrt [1, 2]
        : (tensor<8x4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       DenseI64ArrayAttr:$wrt);
  let assemblyFormat =
      "$callee `(` $args `)` `wrt` $wrt attr-dict `:` functional-type($args, results)";
}

def Weft_VjpOp : Weft_DifferentialOp<"vjp", [AttrSizedOperandSegments]> {
  let summary = "Calls a function and pulls cotangents of its results back to its arguments.";
  let description = [{
    There is one cotangent per floating result, of its type. The results are those of the function,
    then, for each argument in `wrt`, the cotangent that reaches it.

    ```mlir
    %y, %dx = weft.vjp @f(%x) cotangents(%dy) wrt [0]
        : (tensor<3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       Variadic<AnyType>:$cotangents, DenseI64ArrayAttr:$wrt);
  let assemblyFormat = [{
    $callee `(` $args `)` `cotangents` `(` $cotangents `)` `wrt` $wrt attr-dict `:`
    functional-type(operands, results)
  }];
}

def Weft_JvpOp : Weft_DifferentialOp<"jvp", [AttrSizedOperandSegments]> {
  let summary = "Calls a function and pushes tangents of its arguments forward to its results.";
  let description = [{
    There is one tangent per argument in `wrt`, of its type. The results are those of the function,
    then the tangent of each floating result.

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

#endif // WEFT_IR_AUTODIFF_OPS
