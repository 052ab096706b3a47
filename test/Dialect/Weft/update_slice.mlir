// The op update_slice: its text, and what it says of a value that is no slice.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The value has x's shape without the axis; the result has that of x.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %i: tensor<i64>, %row: tensor<?xf32>, %column: tensor<4xf32>) {
  // CHECK: weft.update_slice %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x?xf32>, tensor<i64>, tensor<?xf32>) -> tensor<4x?xf32>
  %0 = weft.update_slice %x, %i, %row {axis = 0 : i64} : (tensor<4x?xf32>, tensor<i64>, tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: weft.update_slice %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i64>, tensor<4xf32>) -> tensor<4x?xf32>
  %1 = weft.update_slice %x, %i, %column {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i64>, tensor<4xf32>) -> tensor<4x?xf32>
  return
}

// -----

// A slice lacks the axis.
func.func @value(%x: tensor<4x3xf32>, %i: tensor<i32>, %v: tensor<1x3xf32>) {
  // expected-error @below {{'weft.update_slice' op value must have shape (3,), x's without axis 0, but has (1, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.update_slice %x, %i, %v {axis = 0 : i64} : (tensor<4x3xf32>, tensor<i32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// One slice is replaced; scatter_add takes many indices.
func.func @indices(%x: tensor<4xf32>, %i: tensor<2xi32>, %v: tensor<f32>) {
  // expected-error @below {{'weft.update_slice' op index must be a scalar, but has shape (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.update_slice %x, %i, %v {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes(%x: tensor<4xf32>, %i: tensor<i32>, %v: tensor<f64>) {
  // expected-error @below {{'weft.update_slice' op the dtypes differ: x is f32 and value is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.update_slice %x, %i, %v {axis = 0 : i64} : (tensor<4xf32>, tensor<i32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

// Axes count from 0.
func.func @axis(%x: tensor<4xf32>, %i: tensor<i32>, %v: tensor<f32>) {
  // expected-error @below {{'weft.update_slice' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.update_slice %x, %i, %v {axis = 1 : i64} : (tensor<4xf32>, tensor<i32>, tensor<f32>) -> tensor<4xf32>
  return
}
