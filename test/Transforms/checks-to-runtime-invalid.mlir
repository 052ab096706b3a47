// What the pass cannot tell the runtime of.
// RUN: weft-opt %s --weft-checks-to-runtime --split-input-file --verify-diagnostics

func.func @tensors(%i: tensor<2xi32>, %n: index) {
  // expected-error@below {{'weft.leave' op has a tensor where bufferization leaves a buffer: this pass runs after it}}
  weft.leave index "gather", %i, %n : tensor<2xi32>, index
  return
}

// -----

func.func @state(%w: tensor<4xf32> {weft.variable = @w}) {
  // expected-error@below {{'weft.leave' op has a tensor where bufferization leaves a buffer: this pass runs after it}}
  weft.leave assertion "c" leaving [@w] = %w : tensor<4xf32>
  return
}
