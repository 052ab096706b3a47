// The passes that turn derivatives of functions into ops.

#ifndef WEFT_AD_PASSES
#define WEFT_AD_PASSES

include "mlir/Pass/PassBase.td"

def CheckLimitsPass : Pass<"weft-check-limits", "::mlir::ModuleOp"> {
  let summary = "Refuses what is nested deeper, or grows larger, than passes can do with.";
  let description = [{
    Before: any functions.

    After: the same. It is an error if branches and loops in a function, with those of the functions
    that it calls inside of them, are nested more than 256 deep (weft::kMaxNesting): calls will be
    inlined, and passes call themselves for what is nested. It is an error, too, if a function that
    calls others would have more than 1,048,576 ops with them (weft::kMaxInlinedOps).
  }];
}

def CountIterationsPass : Pass<"weft-count-iterations", "::mlir::ModuleOp"> {
  let summary = "Makes loops in steps other than 1 loops over the numbers of their iterations.";
  let description = [{
    Before: scf.for whose bounds and step are any numbers of their type.

    After: its step is 1. One with another step counts its iterations from 0, however close to the ends of
    the type its bounds are, and computes what it counted with before: the number itself never goes
    past the last iteration, where it might wrap around and the loop never end. Of a step that only the
    call knows a weft.assert wants that it is positive.

    ```mlir
    scf.for %i = %low to %high step %c2
    ```
    becomes
    ```mlir
    scf.for %t = %c0 to %count step %c1 {
      %0 = arith.muli %t, %c2 : index
      %i = arith.addi %0, %low : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DifferentiatePass : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "Expands derivatives of functions into the ops that compute them.";
  let description = [{
    Before: weft ops with weft.gradient, weft.vjp, weft.jvp and weft.record with weft.pull on
    functions of weft ops and scf, which may call others and contain derivatives themselves.

    After: none of these is left. In the place of each stands the function's body (its forward
    part, with its effects, once) followed by the ops that the records' rules give: in reverse the
    adjoints from the last op to the first, in forward mode the tangents. For a weft.custom_gradient
    its pullback's body stands there, and no such op is left either. Only ops between the
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
  let options = [
    Option<"checkpoint", "checkpoint", "std::string", /*default=*/"\"none\"",
           "What loops may keep for the reverse of ops that do not say it themselves: none, sqrt, "
           "binomial<k> or bytes<n>">,
    Option<"report", "report", "bool", /*default=*/"false",
           "Note every value that is stored, in the attribute weft.saved of the module">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SplitDerivativePass : Pass<"weft-split-derivative", "::mlir::ModuleOp"> {
  let summary = "Splits a function that has its derivative in it into a forward and a backward part.";
  let description = [{
    Before: functions without derivative ops, some with the attribute `weft.split = {inputs = I,
    results = R}`: the first I arguments are those of a function, the first R results its results; the
    other arguments are cotangents and the other results gradients.

    After: each of these is two functions. The forward part has its name, takes the first I arguments,
    has all effects that neither depend on a cotangent nor belong to the pullback of a
    weft.custom_gradient (`weft.pulled`), and gives the first R results and, behind
    them, values that the backward part needs. That one is called `NAME_backward`, takes what is saved
    and the cotangents, and gives the gradients. What is saved is found by a minimum cut, as for the
    reverse of a region; scalars are saved as tensors. Of reads of one variable between which nothing
    writes it, one is left. Both have the attribute `weft.saved`, two numbers
    for each saved value: 0 and the number of an argument of the forward part, or 1 and that of one of
    its results. With `part = "forward"` or `part = "backward"` in `weft.split` only that part is left,
    by the function's name, with what it uses.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif // WEFT_AD_PASSES
