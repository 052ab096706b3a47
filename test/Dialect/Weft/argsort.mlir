// The op argsort: its text, its result, and what it says of what has no order.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result is i64 of x's shape.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0xi32>) {
  // CHECK: weft.argsort %{{.*}} {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xi64>
  %0 = weft.argsort %x {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xi64>
  // CHECK: weft.argsort %{{.*}} {axis = 0 : i64, descending = true} : (tensor<0xi32>) -> tensor<0xi64>
  %1 = weft.argsort %none {axis = 0 : i64, descending = true} : (tensor<0xi32>) -> tensor<0xi64>
  // CHECK: weft.argsort %{{.*}} {axis = 1 : i64, count = 3 : i64} : (tensor<2x?xf32>) -> tensor<2x3xi64>
  %2 = weft.argsort %x {axis = 1 : i64, count = 3 : i64} : (tensor<2x?xf32>) -> tensor<2x3xi64>
  return
}

// -----

// There are not more than the axis has.
func.func @count(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.argsort' op the first 3 are asked for, but axis 0 of x, which has shape (2,), is shorter}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argsort %x {axis = 0 : i64, count = 3 : i64} : (tensor<2xf32>) -> tensor<3xi64>
  return
}

// -----

// -1 is all; other negative counts are none.
func.func @negative(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.argsort' op count is -2, which is negative}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argsort %x {axis = 0 : i64, count = -2 : i64} : (tensor<2xf32>) -> tensor<2xi64>
  return
}

// -----

// A scalar has no axis.
func.func @scalar(%x: tensor<f32>) {
  // expected-error @below {{'weft.argsort' op axis 0 is out of range for x of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argsort %x {axis = 0 : i64} : (tensor<f32>) -> tensor<i64>
  return
}

// -----

// Bools have no order.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.argsort' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argsort %x {axis = 0 : i64} : (tensor<2xi1>) -> tensor<2xi64>
  return
}

// -----

// Indices are i64, whatever x is.
func.func @result(%x: tensor<2xi32>) {
  // expected-error @below {{'weft.argsort' op inferred type(s) 'tensor<2xi64>' are incompatible with return type(s) of operation 'tensor<2xi32>'}}
  // expected-error @below {{'weft.argsort' op failed to infer returned types}}
  %0 = weft.argsort %x {axis = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return
}
