// The op draw_permutation: its text, sizes that are operands, and what it says of dtypes and shapes that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @text
// FOLD-LABEL: func.func @text
func.func @text(%s: tensor<2xi64>, %n: tensor<i64>) -> (tensor<?xi64>, tensor<5xi32>, tensor<i64>) {
  // CHECK: weft.draw_permutation %{{.*}} to [%{{.*}}] {dtype = i64} : (tensor<2xi64>) -> tensor<?xi64>
  %0 = weft.draw_permutation %s to [%n] {dtype = i64} : (tensor<2xi64>) -> tensor<?xi64>
  // CHECK: weft.draw_permutation %{{.*}} to [5] {dtype = i32} : (tensor<2xi64>) -> tensor<5xi32>
  %1 = weft.draw_permutation %s to [5] {dtype = i32} : (tensor<2xi64>) -> tensor<5xi32>
  // Its size is the one that it was given.
  // FOLD: return %{{.*}}, %{{.*}}, %arg1
  %2 = weft.size %0 {axis = 0 : i64} : (tensor<?xi64>) -> tensor<i64>
  return %0, %1, %2 : tensor<?xi64>, tensor<5xi32>, tensor<i64>
}

// -----

func.func @floating(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_permutation' op dtype must be an integer (i32, i64), but it is f32}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_permutation %s to [3] {dtype = f32} : (tensor<2xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @two_sizes(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_permutation' op the shape is (3, 4): one size is wanted}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_permutation %s to [3, 4] {dtype = i32} : (tensor<2xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @state(%s: tensor<3xi64>) {
  // expected-error @below {{'weft.draw_permutation' op state must be a seed and the number of a stream, of shape (2,), but has (3,)}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_permutation %s to [3] {dtype = i32} : (tensor<3xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @too_many(%s: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_permutation' op 4294967296 numbers do not fit the dtype i32}}
  // expected-error @below {{failed to infer}}
  %0 = weft.draw_permutation %s to [4294967296] {dtype = i32} : (tensor<2xi64>) -> tensor<4294967296xi32>
  return
}
