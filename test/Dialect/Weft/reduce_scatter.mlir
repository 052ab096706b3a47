// The ops reduce_scatter_sum, reduce_scatter_max and reduce_scatter_min: their text, their types, and what they say of sizes that have no equal parts.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// One part of an axis, of as many as there are ranks.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<8x?xf32>, %n: tensor<4x0xi32>) {
  // CHECK: weft.reduce_scatter_sum %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  %0 = weft.reduce_scatter_sum %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.reduce_scatter_sum %{{.*}} {axis = 1 : i64, group = 2 : i64, mean = true, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  %1 = weft.reduce_scatter_sum %x {axis = 1 : i64, group = 2 : i64, mean = true, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  // CHECK: weft.reduce_scatter_max %{{.*}} {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4x0xi32>) -> tensor<4x0xi32>
  %2 = weft.reduce_scatter_max %n {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4x0xi32>) -> tensor<4x0xi32>
  // CHECK: weft.reduce_scatter_min %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 1 : i64} : (tensor<4x0xi32>) -> tensor<4x0xi32>
  %3 = weft.reduce_scatter_min %n {axis = 0 : i64, group = 0 : i64, ranks = 1 : i64} : (tensor<4x0xi32>) -> tensor<4x0xi32>
  return
}

// -----

// Six rows are no four equal parts.
func.func @parts(%x: tensor<6xf32>) {
  // expected-error @below {{'weft.reduce_scatter_sum' op axis 0 of x has size 6, which is no multiple of the 4 ranks: the next are 4 and 8}}
  %0 = weft.reduce_scatter_sum %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<6xf32>) -> tensor<2xf32>
  return
}

// -----

// A scalar has no parts.
func.func @axis(%x: tensor<f32>) {
  // expected-error @below {{'weft.reduce_scatter_max' op axis 0 is out of range for x of shape () (rank 0)}}
  %0 = weft.reduce_scatter_max %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Nobody is there.
func.func @ranks(%x: tensor<4xf32>) {
  // expected-error @below {{'weft.reduce_scatter_sum' op there are 0 ranks: at least one is wanted}}
  %0 = weft.reduce_scatter_sum %x {axis = 0 : i64, group = 0 : i64, ranks = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Whole numbers have no mean among them.
func.func @mean(%x: tensor<4xi64>) {
  // expected-error @below {{'weft.reduce_scatter_sum' op a mean wants floating-point numbers, not i64}}
  %0 = weft.reduce_scatter_sum %x {axis = 0 : i64, group = 0 : i64, mean = true, ranks = 4 : i64} : (tensor<4xi64>) -> tensor<1xi64>
  return
}
