// The op permute_ranks: its text, and what it says of pairs that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Pairs stand one behind the other, from and to.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %p: tensor<i1>) {
  // CHECK: weft.permute_ranks %{{.*}} {group = 0 : i64, pairs = array<i64: 0, 1, 1, 2>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, 1, 1, 2>} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.permute_ranks %{{.*}} {group = 2 : i64, pairs = array<i64>} : (tensor<i1>) -> tensor<i1>
  %1 = weft.permute_ranks %p {group = 2 : i64, pairs = array<i64>} : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// A pair has two.
func.func @half(%x: tensor<f32>) {
  // expected-error @below {{'weft.permute_ranks' op pairs has 3 ranks: each pair has two}}
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, 1, 2>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Ranks are counted from 0.
func.func @none(%x: tensor<f32>) {
  // expected-error @below {{'weft.permute_ranks' op pairs has -2, which is no rank}}
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, -2>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// What a rank has goes to one other.
func.func @sends(%x: tensor<f32>) {
  // expected-error @below {{'weft.permute_ranks' op rank 0 sends twice in pairs}}
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, 1, 0, 2>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// And comes from one.
func.func @gets(%x: tensor<f32>) {
  // expected-error @below {{'weft.permute_ranks' op rank 2 gets twice in pairs}}
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, 2, 1, 2>} : (tensor<f32>) -> tensor<f32>
  return
}
