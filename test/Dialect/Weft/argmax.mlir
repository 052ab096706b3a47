// The op argmax: its text, its result, and what it says where there is no largest element.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result is i64, and lacks the axis unless `keepdims` leaves a size of 1.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0x3xi32>) {
  // CHECK: weft.argmax %{{.*}} {axis = 0 : i64} : (tensor<2x?xf32>) -> tensor<?xi64>
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<2x?xf32>) -> tensor<?xi64>
  // CHECK: weft.argmax %{{.*}} {axis = 1 : i64, keepdims = true} : (tensor<2x?xf32>) -> tensor<2x1xi64>
  %1 = weft.argmax %x {axis = 1 : i64, keepdims = true} : (tensor<2x?xf32>) -> tensor<2x1xi64>
  // No row has a largest element to be found, and so nothing is missing.
  // CHECK: weft.argmax %{{.*}} {axis = 1 : i64} : (tensor<0x3xi32>) -> tensor<0xi64>
  %2 = weft.argmax %none {axis = 1 : i64} : (tensor<0x3xi32>) -> tensor<0xi64>
  return
}

// -----

// Of no elements none is the largest, and there is no index that could say so.
func.func @empty(%x: tensor<0x3xf32>) {
  // expected-error @below {{'weft.argmax' op x has shape (0, 3): axis 0 is empty, so there is no largest element}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<0x3xf32>) -> tensor<3xi64>
  return
}

// -----

// A scalar has no axis.
func.func @scalar(%x: tensor<f32>) {
  // expected-error @below {{'weft.argmax' op axis 0 is out of range for x of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<f32>) -> tensor<i64>
  return
}

// -----

// Bools have no order.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.argmax' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<2xi1>) -> tensor<i64>
  return
}

// -----

// Indices are i64, whatever x is.
func.func @result(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.argmax' op inferred type(s) 'tensor<i64>' are incompatible with return type(s) of operation 'tensor<i32>'}}
  // expected-error @below {{'weft.argmax' op failed to infer returned types}}
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<2xf32>) -> tensor<i32>
  return
}
