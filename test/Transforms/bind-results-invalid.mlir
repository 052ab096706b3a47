// A function that is called cannot get more arguments.
// RUN: weft-opt %s --weft-bind-results --split-input-file --verify-diagnostics

func.func private @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' op calls a function that is yet to get places for its results; calls are inlined before}}
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @differentiates(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'weft.gradient' op calls a function that is yet to get places for its results}}
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
