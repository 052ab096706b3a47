// The op draw_permutation: its text, and what it says of dtypes and shapes that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @types
func.func @types(%s: tensor<2xi64>, %x: tensor<?x3xf32>, %y: tensor<5xi1>) {
  // CHECK: weft.draw_permutation %{{.*}}, %{{.*}} {dtype = i64} : (tensor<2xi64>, tensor<?x3xf32>) -> tensor<?xi64>
  %0 = weft.draw_permutation %s, %x {dtype = i64} : (tensor<2xi64>, tensor<?x3xf32>) -> tensor<?xi64>
  // CHECK: weft.draw_permutation %{{.*}}, %{{.*}} {dtype = i32} : (tensor<2xi64>, tensor<5xi1>) -> tensor<5xi32>
  %1 = weft.draw_permutation %s, %y {dtype = i32} : (tensor<2xi64>, tensor<5xi1>) -> tensor<5xi32>
  return
}

// -----

// Indices are integers.
func.func @dtype(%s: tensor<2xi64>, %x: tensor<3xi1>) {
  // expected-error @below {{'weft.draw_permutation' op dtype must be an integer (i32, i64), but it is f32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_permutation %s, %x {dtype = f32} : (tensor<2xi64>, tensor<3xi1>) -> tensor<3xf32>
  return
}

// -----

// A scalar has no first axis.
func.func @scalar(%s: tensor<2xi64>, %x: tensor<i1>) {
  // expected-error @below {{'weft.draw_permutation' op x is a scalar, so it has no first axis}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_permutation %s, %x {dtype = i32} : (tensor<2xi64>, tensor<i1>) -> tensor<?xi32>
  return
}

// -----

// The state has a seed and a stream.
func.func @state(%s: tensor<3xi64>, %x: tensor<3xi1>) {
  // expected-error @below {{'weft.draw_permutation' op state must be a seed and the number of a stream, of shape (2,), but has (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_permutation %s, %x {dtype = i32} : (tensor<3xi64>, tensor<3xi1>) -> tensor<3xi32>
  return
}

// -----

// 2^31 - 1 is the largest i32.
func.func @too_many(%s: tensor<2xi64>, %x: tensor<4294967296xi1>) {
  // expected-error @below {{'weft.draw_permutation' op 4294967296 numbers do not fit the dtype i32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_permutation %s, %x {dtype = i32} : (tensor<2xi64>, tensor<4294967296xi1>) -> tensor<4294967296xi32>
  return
}
