// The op concatenate: its text, its shapes, and what it says of tensors that do not join.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Sizes along the axis add up, unknown ones to an unknown; the others agree, and a known one says what an unknown is.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %some: tensor<?x?xf32>, %none: tensor<2x0xf32>) {
  // CHECK: weft.concatenate %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x0xf32>) -> tensor<2x7xf32>
  %0 = weft.concatenate %x, %y, %none {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x0xf32>) -> tensor<2x7xf32>
  // CHECK: weft.concatenate %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<?x?xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %1 = weft.concatenate %some, %x {axis = 0 : i64} : (tensor<?x?xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  // CHECK: weft.concatenate %{{.*}} {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = weft.concatenate %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Rows of 3 and of 4 elements make no matrix.
func.func @shapes_differ(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @below {{'weft.concatenate' op the shapes differ outside axis 0: xs[0] is (2, 3) and xs[1] is (2, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// No axis is added.
func.func @ranks_differ(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{'weft.concatenate' op the shapes differ outside axis 0: xs[0] is (2, 3) and xs[1] is (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @below {{'weft.concatenate' op the dtypes differ: xs[0] is f32 and xs[1] is i32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

// Scalars have no axis to be joined along.
func.func @scalars(%x: tensor<f32>, %y: tensor<f32>) {
  // expected-error @below {{'weft.concatenate' op axis 0 is out of range for xs[0] of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// Of nothing there is no dtype.
func.func @nothing() {
  // expected-error @below {{'weft.concatenate' op there is nothing to concatenate: xs is empty}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "weft.concatenate"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

// The sum of two sizes may be no size.
func.func @overflow(%x: tensor<9223372036854775807x0xf32>, %y: tensor<9223372036854775807x0xf32>) {
  // expected-error @below {{'weft.concatenate' op the sizes of axis 0 add up to more than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<9223372036854775807x0xf32>, tensor<9223372036854775807x0xf32>) -> tensor<1x0xf32>
  return
}
