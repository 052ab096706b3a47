// The op all_gather: its text, its types, and what it says of axes and sizes that are none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// An axis as many times as long as there are ranks, of any dtype.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %p: tensor<3xi1>) {
  // CHECK: weft.all_gather %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<2x?xf32>) -> tensor<8x?xf32>
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<2x?xf32>) -> tensor<8x?xf32>
  // CHECK: weft.all_gather %{{.*}} {axis = 1 : i64, group = 7 : i64, ranks = 4 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %1 = weft.all_gather %x {axis = 1 : i64, group = 7 : i64, ranks = 4 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.all_gather %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 1 : i64} : (tensor<3xi1>) -> tensor<3xi1>
  %2 = weft.all_gather %p {axis = 0 : i64, group = 0 : i64, ranks = 1 : i64} : (tensor<3xi1>) -> tensor<3xi1>
  return
}

// -----

// A scalar has no axis.
func.func @axis(%x: tensor<f32>) {
  // expected-error @below {{'weft.all_gather' op axis 0 is out of range for x of shape () (rank 0)}}
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// All ranks together have more than a size can be.
func.func @size(%x: tensor<9223372036854775807x0xf32>) {
  // expected-error @below {{'weft.all_gather' op the sizes of axis 0 of all ranks add up to more than 2^63 - 1}}
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<9223372036854775807x0xf32>) -> tensor<4x0xf32>
  return
}

// -----

// The result is longer.
func.func @type(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.all_gather' op gives 'tensor<8xf32>', but the result is of type 'tensor<2xf32>'}}
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
