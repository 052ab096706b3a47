// The op broadcast_rank: its text, and what it says of a root that is none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// All have the type of the root's tensor.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %p: tensor<i1>) {
  // CHECK: weft.broadcast_rank %{{.*}} {group = 0 : i64, root = 0 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %0 = weft.broadcast_rank %x {group = 0 : i64, root = 0 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.broadcast_rank %{{.*}} {group = 2 : i64, root = 3 : i64} : (tensor<i1>) -> tensor<i1>
  %1 = weft.broadcast_rank %p {group = 2 : i64, root = 3 : i64} : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// Ranks are counted from 0; how many there are is known when the program runs.
func.func @root(%x: tensor<f32>) {
  // expected-error @below {{'weft.broadcast_rank' op root -1 is no rank}}
  %0 = weft.broadcast_rank %x {group = 0 : i64, root = -1 : i64} : (tensor<f32>) -> tensor<f32>
  return
}
