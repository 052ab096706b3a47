// The op reverse: its text, and what it says of axes that x does not have.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The type is that of x; no axes are a copy.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0xi64>, %scalar: tensor<i1>) {
  // CHECK: weft.reverse %{{.*}} {axes = array<i64: 0, 1>} : tensor<2x?xf32>
  %0 = weft.reverse %x {axes = array<i64: 0, 1>} : tensor<2x?xf32>
  // CHECK: weft.reverse %{{.*}} {axes = array<i64: 0>} : tensor<0xi64>
  %1 = weft.reverse %none {axes = array<i64: 0>} : tensor<0xi64>
  // CHECK: weft.reverse %{{.*}} {axes = array<i64>} : tensor<i1>
  %2 = weft.reverse %scalar {axes = array<i64>} : tensor<i1>
  return
}

// -----

// Axes of x are 0 and 1.
func.func @out_of_range(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reverse' op axis 2 is out of range for x of shape (2, 3) (rank 2)}}
  %0 = weft.reverse %x {axes = array<i64: 2>} : tensor<2x3xf32>
  return
}

// -----

// Twice reversed would be not at all.
func.func @order(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reverse' op axis 1 is given twice}}
  %0 = weft.reverse %x {axes = array<i64: 1, 1>} : tensor<2x3xf32>
  return
}
