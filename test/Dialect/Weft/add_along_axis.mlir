// The op add_along_axis: its text, and what it says of indices and updates that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %i: tensor<2x3xi32>, %u: tensor<?x3xf32>) {
  // CHECK: weft.add_along_axis %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi32>, tensor<?x3xf32>) -> tensor<4x?xf32>
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi32>, tensor<?x3xf32>) -> tensor<4x?xf32>
  return
}

// -----

// One update for each index.
func.func @updates(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{'weft.add_along_axis' op updates must have the shape of indices, (2,), but has (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

// The indices stand for x's elements.
func.func @indices(%x: tensor<4x2xf32>, %i: tensor<2xi32>, %u: tensor<2xf32>) {
  // expected-error @below {{'weft.add_along_axis' op indices must have x's sizes but for axis 0: x is (4, 2) and indices is (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4x2xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Nothing is promoted.
func.func @dtypes(%x: tensor<4xf32>, %i: tensor<2xi32>, %u: tensor<2xf64>) {
  // expected-error @below {{'weft.add_along_axis' op the dtypes differ: x is f32 and updates is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

// Bools do not add up.
func.func @bools(%x: tensor<4xi1>, %i: tensor<2xi32>, %u: tensor<2xi1>) {
  // expected-error @below {{'weft.add_along_axis' op x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool(4,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4xi1>, tensor<2xi32>, tensor<2xi1>) -> tensor<4xi1>
  return
}
