// The op scatter_add: its text, and what it says of updates that do not belong to the indices.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Updates have the shape of a gather; the result has that of x.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3x?xf32>, %one: tensor<i32>, %v: tensor<4xf32>) {
  // CHECK: weft.scatter_add %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi64>, tensor<2x3x?xf32>) -> tensor<4x?xf32>
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi64>, tensor<2x3x?xf32>) -> tensor<4x?xf32>
  // CHECK: weft.scatter_add %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i32>, tensor<4xf32>) -> tensor<4x?xf32>
  %1 = weft.scatter_add %x, %one, %v {axis = 1 : i64} : (tensor<4x?xf32>, tensor<i32>, tensor<4xf32>) -> tensor<4x?xf32>
  return
}

// -----

// One row of updates belongs to each index.
func.func @updates(%x: tensor<4x3xf32>, %i: tensor<2xi32>, %u: tensor<3x3xf32>) {
  // expected-error @below {{'weft.scatter_add' op updates must have shape (2, 3) for x of shape (4, 3) and indices of shape (2,), but has (3, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf64>) {
  // expected-error @below {{'weft.scatter_add' op the dtypes differ: x is f32 and updates is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

// An index is an integer.
func.func @indices(%x: tensor<4xf32>, %i: tensor<2xf32>, %u: tensor<2xf32>) {
  // expected-error @below {{'weft.scatter_add' op indices must be an integer (i32, i64), but it is f32(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

// Of bools there are no sums.
func.func @dtype(%x: tensor<4xi1>, %i: tensor<2xi32>, %u: tensor<2xi1>) {
  // expected-error @below {{'weft.scatter_add' op x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool(4,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4xi1>, tensor<2xi32>, tensor<2xi1>) -> tensor<4xi1>
  return
}

// -----

// x has one axis.
func.func @out_of_range(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) {
  // expected-error @below {{'weft.scatter_add' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<4xf32>
  return
}
