// What weft-split-derivative is told must fit the function.
// RUN: weft-opt %s -weft-split-derivative -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op has a 'weft.split' that is not {inputs = I, results = R} with at most its numbers of arguments and results, and perhaps part = "forward" or part = "backward"}}
func.func @too_many_inputs(%x: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 2 : i64, results = 1 : i64}} {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{is not {inputs = I, results = R}}}
func.func @no_results_told(%x: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 1 : i64}} {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{is not {inputs = I, results = R}}}
func.func @no_such_part(%x: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 1 : i64, results = 1 : i64, part = "middle"}} {
  return %x : tensor<f32>
}

// -----

// What is saved must be a tensor or a scalar.
weft.variable @v = dense<1.0> : tensor<f32>
// expected-error @below {{has values that its derivative needs and that cannot be kept}}
// expected-note @below {{differentiated here}}
func.func @cannot_be_kept(%v: !weft.var<tensor<f32>>, %d: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 1 : i64, results = 0 : i64}} {
  weft.assign %v, %d : tensor<f32>
  return %d : tensor<f32>
}

// -----

// The forward part does not know the cotangents.
// expected-error @below {{'func.func' op has a 'weft.split' by which its result 0 depends on a cotangent}}
func.func @depends(%x: tensor<f32>, %d: tensor<f32>) -> (tensor<f32>, tensor<f32>) attributes {weft.split = {inputs = 1 : i64, results = 1 : i64}} {
  %0 = weft.add %x, %d : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{by which its result 0 depends on a cotangent}}
func.func @is(%x: tensor<f32>, %d: tensor<f32>) -> tensor<f32> attributes {weft.split = {inputs = 1 : i64, results = 1 : i64}} {
  return %d : tensor<f32>
}
