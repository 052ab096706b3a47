// The op gather: its text, its shapes, and what it says of indices and axes that pick nothing.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The shape of the indices stands where the axis of x was, also none for a scalar index.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %i: tensor<2x3xi64>, %one: tensor<i32>, %none: tensor<0xi32>) {
  // CHECK: weft.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi64>) -> tensor<2x3x?xf32>
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi64>) -> tensor<2x3x?xf32>
  // CHECK: weft.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = weft.gather %x, %one {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i32>) -> tensor<4xf32>
  // CHECK: weft.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x?xf32>, tensor<0xi32>) -> tensor<4x0xf32>
  %2 = weft.gather %x, %none {axis = 1 : i64} : (tensor<4x?xf32>, tensor<0xi32>) -> tensor<4x0xf32>
  return
}

// -----

// An index is an integer.
func.func @indices(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{'weft.gather' op indices must be an integer (i32, i64), but it is f32(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// x has one axis.
func.func @out_of_range(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{'weft.gather' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.gather %x, %i {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4x2xf32>
  return
}

// -----

// A scalar has no axis to pick from.
func.func @scalar(%x: tensor<f32>, %i: tensor<i32>) {
  // expected-error @below {{'weft.gather' op axis 0 is out of range for x of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

// The result has the dtype of x, not of the indices.
func.func @result(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{'weft.gather' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xi32>'}}
  // expected-error @below {{'weft.gather' op failed to infer returned types}}
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
