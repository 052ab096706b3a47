// The op draw_uniform: its text, sizes that are operands, and what it says of a state or a shape that is none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @text
// FOLD-LABEL: func.func @text
func.func @text(%s: tensor<2xi64>, %n: tensor<i64>) -> (tensor<3x?xf32>, tensor<i1>, tensor<?x4xf64>, tensor<i64>) {
  // CHECK: weft.draw_uniform %{{.*}} to [3, %{{.*}}] {dtype = f32} : (tensor<2xi64>) -> tensor<3x?xf32>
  %0 = weft.draw_uniform %s to [3, %n] {dtype = f32} : (tensor<2xi64>) -> tensor<3x?xf32>
  // CHECK: weft.draw_uniform %{{.*}} to [] {dtype = i1} : (tensor<2xi64>) -> tensor<i1>
  %1 = weft.draw_uniform %s to [] {dtype = i1} : (tensor<2xi64>) -> tensor<i1>
  // A constant moves into the list, and a size of the result is what was given.
  // FOLD: weft.draw_uniform %{{.*}} to [7, 4] {dtype = f64} : (tensor<2xi64>) -> tensor<7x4xf64>
  %seven = weft.constant dense<7> : tensor<i64>
  %2 = weft.draw_uniform %s to [%seven, 4] {dtype = f64} : (tensor<2xi64>) -> tensor<?x4xf64>
  // FOLD: return %{{.*}}, %{{.*}}, %{{.*}}, %arg1
  %3 = weft.size %0 {axis = 1 : i64} : (tensor<3x?xf32>) -> tensor<i64>
  return %0, %1, %2, %3 : tensor<3x?xf32>, tensor<i1>, tensor<?x4xf64>, tensor<i64>
}

// -----

func.func @state(%s: tensor<i64>) {
  // expected-error @below {{'weft.draw_uniform' op state must be a seed and the number of a stream, of shape (2,), but has ()}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_uniform %s to [3] {dtype = f32} : (tensor<i64>) -> tensor<3xf32>
  return
}

// -----

func.func @narrow_state(%s: tensor<2xi32>) {
  // expected-error @below {{'weft.draw_uniform' op state must be an integer of 64 bits (i64), but it is i32(2,)}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_uniform %s to [3] {dtype = f32} : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @negative(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_uniform' op the shape has a size of -3, which is negative}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_uniform %s to [-3] {dtype = f32} : (tensor<2xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @operands_missing(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_uniform' op}}
  %0 = "weft.draw_uniform"(%s) {shape = array<i64: -9223372036854775808>, dtype = f32} : (tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @too_large(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_uniform' op a tensor of shape (4611686018427387904,) has more bytes than 2^63 - 1}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_uniform %s to [4611686018427387904] {dtype = f32} : (tensor<2xi64>) -> tensor<4611686018427387904xf32>
  return
}
