// The op size: its text, its folding, and an axis that is not there.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// A size that the type knows is a constant.
// CHECK-LABEL: func.func @sizes
// FOLD-LABEL: func.func @sizes
func.func @sizes(%x: tensor<4x?xf32>) -> (tensor<i64>, tensor<i64>) {
  // CHECK: weft.size %{{.*}} {axis = 0 : i64} : (tensor<4x?xf32>) -> tensor<i64>
  // FOLD-DAG: %[[FOUR:.*]] = weft.constant dense<4> : tensor<i64>
  %0 = weft.size %x {axis = 0 : i64} : (tensor<4x?xf32>) -> tensor<i64>
  // CHECK: weft.size %{{.*}} {axis = 1 : i64} : (tensor<4x?xf32>) -> tensor<i64>
  // FOLD-DAG: %[[SIZE:.*]] = weft.size %{{.*}} {axis = 1 : i64}
  %1 = weft.size %x {axis = 1 : i64} : (tensor<4x?xf32>) -> tensor<i64>
  // FOLD: return %[[FOUR]], %[[SIZE]]
  return %0, %1 : tensor<i64>, tensor<i64>
}

// -----

// Axes count from 0.
func.func @axis(%x: tensor<4xf32>) {
  // expected-error @below {{'weft.size' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.size %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<i64>
  return
}
