// The op all_to_all: its text, its types, and what it says of sizes that have no equal parts.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// One axis becomes shorter and another one longer.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<8x?xf32>, %p: tensor<4x3xi1>) {
  // CHECK: weft.all_to_all %{{.*}} {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  %0 = weft.all_to_all %x {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.all_to_all %{{.*}} {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xi1>) -> tensor<1x12xi1>
  %1 = weft.all_to_all %p {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xi1>) -> tensor<1x12xi1>
  // CHECK: weft.all_to_all %{{.*}} {concat_axis = 0 : i64, group = 1 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xi1>) -> tensor<4x3xi1>
  %2 = weft.all_to_all %p {concat_axis = 0 : i64, group = 1 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xi1>) -> tensor<4x3xi1>
  return
}

// -----

// Six rows are no four equal parts.
func.func @parts(%x: tensor<6x1xf32>) {
  // expected-error @below {{'weft.all_to_all' op axis 0 of x has size 6, which is no multiple of the 4 ranks: the next are 4 and 8}}
  %0 = weft.all_to_all %x {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<6x1xf32>) -> tensor<1x4xf32>
  return
}

// -----

// There is no third axis to join along.
func.func @axis(%x: tensor<4x1xf32>) {
  // expected-error @below {{'weft.all_to_all' op axis 2 is out of range for x of shape (4, 1) (rank 2)}}
  %0 = weft.all_to_all %x {concat_axis = 2 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x1xf32>) -> tensor<1x4xf32>
  return
}
