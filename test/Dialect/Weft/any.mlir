// The op any: its text, which sizes it leaves, and what it says of axes that x does not have.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The axes that go are listed from the first to the last; with `keepdims` each leaves a size of 1.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x4xi1>, %none: tensor<0x3xi1>, %scalar: tensor<i1>) {
  // CHECK: weft.any %{{.*}} {{[{]}}axes = array<i64: 0, 2>{{[}]}} : (tensor<2x?x4xi1>) -> tensor<?xi1>
  %0 = weft.any %x {axes = array<i64: 0, 2>} : (tensor<2x?x4xi1>) -> tensor<?xi1>
  // CHECK: weft.any %{{.*}} {{[{]}}axes = array<i64: 1>, keepdims = true{{[}]}} : (tensor<2x?x4xi1>) -> tensor<2x1x4xi1>
  %1 = weft.any %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x?x4xi1>) -> tensor<2x1x4xi1>
  // Over no elements there is a result all the same, and over no axes nothing is reduced.
  // CHECK: weft.any %{{.*}} {{[{]}}axes = array<i64: 0>{{[}]}} : (tensor<0x3xi1>) -> tensor<3xi1>
  %2 = weft.any %none {axes = array<i64: 0>} : (tensor<0x3xi1>) -> tensor<3xi1>
  // CHECK: weft.any %{{.*}} {{[{]}}axes = array<i64>{{[}]}} : (tensor<i1>) -> tensor<i1>
  %3 = weft.any %scalar {axes = array<i64>} : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// Axes of x are 0 and 1.
func.func @out_of_range(%x: tensor<2x3xi1>) {
  // expected-error @below {{'weft.any' op axis 2 is out of range for x of shape (2, 3) (rank 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: 2>} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

// -----

// In the text axes do not count from the end.
func.func @negative(%x: tensor<2x3xi1>) {
  // expected-error @below {{'weft.any' op axis -1 is out of range for x of shape (2, 3) (rank 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: -1>} : (tensor<2x3xi1>) -> tensor<2xi1>
  return
}

// -----

// An axis can go only once.
func.func @twice(%x: tensor<2x3xi1>) {
  // expected-error @below {{'weft.any' op axis 1 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: 1, 1>} : (tensor<2x3xi1>) -> tensor<2xi1>
  return
}

// -----

// One order of the axes makes equal reductions equal texts.
func.func @order(%x: tensor<2x3xi1>) {
  // expected-error @below {{'weft.any' op the axes (1, 0) are not ascending}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: 1, 0>} : (tensor<2x3xi1>) -> tensor<i1>
  return
}

// -----

// The element type does not admit the reduction.
func.func @dtype(%x: tensor<2xi32>) {
  // expected-error @below {{'weft.any' op x must be bool (bool), but it is i32(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: 0>} : (tensor<2xi32>) -> tensor<i32>
  return
}

// -----

// Axis 1 goes, and the size of axis 0 is 2.
func.func @result(%x: tensor<2x3xi1>) {
  // expected-error @below {{'weft.any' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  // expected-error @below {{'weft.any' op failed to infer returned types}}
  %0 = weft.any %x {axes = array<i64: 1>} : (tensor<2x3xi1>) -> tensor<3xi1>
  return
}
