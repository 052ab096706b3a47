// Attention as one op, for targets that have a kernel for it; elsewhere it is what it was traced as.

#ifndef WEFT_IR_ATTENTION_OPS
#define WEFT_IR_ATTENTION_OPS

include "Weft/IR/Base.td"

class Weft_AttentionKernelOp<string mnemonic>
    : Op<Weft_Dialect, mnemonic,
         [AlwaysSpeculatable, Weft_StaysInLinalg, Weft_IsOneKernel, AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

def Weft_AttentionOp : Weft_AttentionKernelOp<"attention"> {
  let summary = "Means of values, weighted by the softmax of products of queries and keys.";
  let description = [{
    Written over `into`, on tensors or on buffers: the means, of query's shape, and for each row the logarithm
    of its sum of exponentials, in f32, by which gradients find the weights again. `query` is (batch.., rows, depth), `key` and
    `value` (batch.., keys, depth). Products are multiplied by `scale`; where a mask of bools is false they count as
    -infinity, one of floats is added. `mask` broadcasts with (batch.., rows, keys). A row that sees nothing has 0 for its
    means and its logarithm. What a row does not see has no influence on it, be it NaN.

    Rows are those of several heads behind each other where these share keys, `queries` of each. With `causal`
    "top_left" row i of a head sees keys 0 to i, with "bottom_right" the last row sees all keys, each before it one less.
    Numbers are of `format`, or their bits, which is what they are behind weft-to-linalg.

    ```mlir
    %y, %logs = weft.attention %q, %k, %v into %means, %sums {causal = "no", format = bf16, queries = 64, scale = 0.125}
        : (tensor<2x64x32xbf16>, tensor<2x80x32xbf16>, tensor<2x80x32xbf16>, tensor<2x64x32xbf16>, tensor<2x64x1xf32>)
          -> (tensor<2x64x32xbf16>, tensor<2x64x1xf32>)
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<AnyShaped>:$mask,
                       Variadic<AnyShaped>:$into, StrAttr:$causal, F64Attr:$scale, I64Attr:$queries, TypeAttr:$format);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? `into` $into attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Whether the kernels take operands of these types, those of this op or of its gradients: of
    /// bf16 or f16, of known sizes that are not 0, with a depth of 16 to 128 that is a multiple of
    /// 16; with a scale above 0.
    static bool hasKernel(::mlir::TypeRange operands, double scale);
  }];
}

def Weft_AttentionGradientsOp : Weft_AttentionKernelOp<"attention_gradients"> {
  let summary = "Gradients of attention by query, key and value.";
  let description = [{
    Written over `into`: what weft.attention's means depend on query, key and value by, of their shapes, where `cotangent`
    is that of the means. `logs` is what it gives beside these, and `along`, (batch.., rows, 1) of f32, the sum of each row
    of means times cotangent. The other operands and attributes are those of weft.attention.

    ```mlir
    %dq, %dk, %dv = weft.attention_gradients %q, %k, %v by %logs, %along, %dy into %0, %1, %2
        {causal = "no", format = bf16, queries = 64, scale = 0.125} : (tensor<2x64x32xbf16>, ..)
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<AnyShaped>:$mask,
                       AnyShaped:$logs, AnyShaped:$along, AnyShaped:$cotangent, Variadic<AnyShaped>:$into,
                       StrAttr:$causal, F64Attr:$scale, I64Attr:$queries, TypeAttr:$format);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? `by` $logs `,` $along `,` $cotangent `into` $into attr-dict
        `:` functional-type(operands, results)
  }];
}

#endif // WEFT_IR_ATTENTION_OPS
