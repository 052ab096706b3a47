// The pass that turns derivatives of functions into ops.

#ifndef WEFT_AD_PASSES
#define WEFT_AD_PASSES

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "Expands derivatives of functions into the ops that compute them.";
  let description = [{
    Before: weft ops with weft.gradient, weft.vjp, weft.jvp and weft.record with weft.pull on
    functions of weft ops and scf, which may call others and contain derivatives themselves.

    After: none of these is left. In the place of each stands the function's body (its forward
    part, with its effects, once) followed by the ops that the records' rules give: in reverse the
    adjoints from the last op to the first, in forward mode the tangents. Only ops between the
    arguments in `wrt` and the results get any. Derivatives inside a function are expanded before
    those of the function.

    In reverse a branch becomes a branch and a loop a counted loop behind it. What these need of the
    values in the forward op's regions is computed again, given by a branch as further results, or
    kept by a loop in stacks, which are further state. In forward mode tangents are further results
    and state. The reverse of a recorded call stands where it is pulled.

    ```mlir
    func.func private @f(%x: tensor<f32>) -> tensor<f32> {
      %y = weft.exp %x : tensor<f32>
      return %y : tensor<f32>
    }
    %y, %dx = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    ```
    becomes
    ```mlir
    %y = weft.exp %x : tensor<f32>
    %one = weft.constant dense<1.0> : tensor<f32>
    %dx = weft.multiply %one, %y : tensor<f32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // WEFT_AD_PASSES
