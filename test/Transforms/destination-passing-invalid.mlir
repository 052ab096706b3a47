// A function that is called cannot get more arguments.
// RUN: weft-opt %s --weft-destination-passing --split-input-file --verify-diagnostics

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

// -----

// expected-error @below {{'func.func' op has a 'weft.split', by which weft-split-derivative makes two functions of it before}}
func.func @split(%x: tensor<f32>, %d: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 1 : i64, results = 0 : i64}} {
  return %d : tensor<f32>
}

// -----

// expected-error @below {{'func.func' op gives buffers already, and results that are to be bound are tensors}}
func.func @buffers(%a: memref<4xi64> {weft.variable = @a}) -> (memref<4xi64> {weft.variable = @a}) {
  return %a : memref<4xi64>
}
