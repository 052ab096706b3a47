// The op max: its text, which sizes it leaves, and what it says of axes that x does not have.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The axes that go are listed from the first to the last; with `keepdims` each leaves a size of 1.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x4xf32>, %none: tensor<0x3xi64>, %scalar: tensor<f32>) {
  // CHECK: weft.max %{{.*}} {{[{]}}axes = array<i64: 0, 2>{{[}]}} : (tensor<2x?x4xf32>) -> tensor<?xf32>
  %0 = weft.max %x {axes = array<i64: 0, 2>} : (tensor<2x?x4xf32>) -> tensor<?xf32>
  // CHECK: weft.max %{{.*}} {{[{]}}axes = array<i64: 1>, keepdims = true{{[}]}} : (tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
  %1 = weft.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
  // Over no elements there is a result all the same, and over no axes nothing is reduced.
  // CHECK: weft.max %{{.*}} {{[{]}}axes = array<i64: 0>{{[}]}} : (tensor<0x3xi64>) -> tensor<3xi64>
  %2 = weft.max %none {axes = array<i64: 0>} : (tensor<0x3xi64>) -> tensor<3xi64>
  // CHECK: weft.max %{{.*}} {{[{]}}axes = array<i64>{{[}]}} : (tensor<f32>) -> tensor<f32>
  %3 = weft.max %scalar {axes = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Axes of x are 0 and 1.
func.func @out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.max' op axis 2 is out of range for x of shape (2, 3) (rank 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// In the text axes do not count from the end.
func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.max' op axis -1 is out of range for x of shape (2, 3) (rank 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// An axis can go only once.
func.func @twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.max' op axis 1 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// One order of the axes makes equal reductions equal texts.
func.func @order(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.max' op the axes (1, 0) are not ascending}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

// The element type does not admit the reduction.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.max' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: 0>} : (tensor<2xi1>) -> tensor<i1>
  return
}

// -----

// Axis 1 goes, and the size of axis 0 is 2.
func.func @result(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.max' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{'weft.max' op failed to infer returned types}}
  %0 = weft.max %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}
