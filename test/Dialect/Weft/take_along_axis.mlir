// The op take_along_axis: its text, its shapes, and what it says of indices that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The size along the axis is that of the indices; the others are those that either operand knows.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xi1>, %i: tensor<?x3xi32>) {
  // CHECK: weft.take_along_axis %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x?xi1>, tensor<?x3xi32>) -> tensor<?x3xi1>
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4x?xi1>, tensor<?x3xi32>) -> tensor<?x3xi1>
  // CHECK: weft.take_along_axis %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x?xi1>, tensor<?x3xi32>) -> tensor<4x3xi1>
  %1 = weft.take_along_axis %x, %i {axis = 1 : i64} : (tensor<4x?xi1>, tensor<?x3xi32>) -> tensor<4x3xi1>
  return
}

// -----

// Each element has an index of its own; one for whole slices is a gather.
func.func @rank(%x: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{'weft.take_along_axis' op indices must have x's sizes but for axis 0: x is (4, 3) and indices is (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// Nothing is repeated.
func.func @sizes(%x: tensor<4x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{'weft.take_along_axis' op indices must have x's sizes but for axis 0: x is (4, 3) and indices is (2, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  return
}

// -----

// An index is an integer.
func.func @indices(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{'weft.take_along_axis' op indices must be an integer (i32, i64), but it is f32(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// A scalar has no axis to pick from.
func.func @scalar(%x: tensor<f32>, %i: tensor<i32>) {
  // expected-error @below {{'weft.take_along_axis' op axis 0 is out of range for x of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}
