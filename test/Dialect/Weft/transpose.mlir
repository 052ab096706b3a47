// The op transpose: its text, its shapes, and what it says of lists that are no permutation.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Axis i of the result is axis permutation[i] of x.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x4xf32>, %none: tensor<0x5xi64>, %scalar: tensor<i1>) {
  // CHECK: weft.transpose %{{.*}} {permutation = array<i64: 2, 0, 1>} : (tensor<2x?x4xf32>) -> tensor<4x2x?xf32>
  %0 = weft.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x?x4xf32>) -> tensor<4x2x?xf32>
  // CHECK: weft.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<0x5xi64>) -> tensor<5x0xi64>
  %1 = weft.transpose %none {permutation = array<i64: 1, 0>} : (tensor<0x5xi64>) -> tensor<5x0xi64>
  // CHECK: weft.transpose %{{.*}} {permutation = array<i64>} : (tensor<i1>) -> tensor<i1>
  %2 = weft.transpose %scalar {permutation = array<i64>} : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// Axis 0 would stand twice, and axis 1 in none.
func.func @twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.transpose' op (0, 0) is not a permutation of the axes of x, which has shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// Axes of x are 0 and 1.
func.func @out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.transpose' op (0, 2) is not a permutation of the axes of x, which has shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.transpose %x {permutation = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// In the text axes do not count from the end.
func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.transpose' op (-1, 0) is not a permutation of the axes of x, which has shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.transpose %x {permutation = array<i64: -1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Every axis is named once.
func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.transpose' op permutation (0,) has 1 entry, but x has shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.transpose %x {permutation = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// The sizes go with their axes.
func.func @result(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.transpose' op inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  // expected-error @below {{'weft.transpose' op failed to infer returned types}}
  %0 = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
