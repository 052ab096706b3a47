// What the pass cannot tell the runtime of.
// RUN: weft-opt %s --weft-checks-to-runtime --verify-diagnostics

func.func @tensors(%i: tensor<2xi32>, %n: index) {
  // expected-error@below {{'weft.leave' op has a tensor where bufferization leaves a buffer: this pass runs after it}}
  weft.leave index "gather", %i, %n : tensor<2xi32>, index
  return
}
