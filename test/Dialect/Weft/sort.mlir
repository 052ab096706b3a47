// The op sort: its text, its result, its derivatives, and what it says of what has no order.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// The result is of x's type.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0xi32>) {
  // CHECK: weft.sort %{{.*}} {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %0 = weft.sort %x {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.sort %{{.*}} {axis = 0 : i64, descending = true} : (tensor<0xi32>) -> tensor<0xi32>
  %1 = weft.sort %none {axis = 0 : i64, descending = true} : (tensor<0xi32>) -> tensor<0xi32>
  return
}

// Cotangents go where the elements came from.
// AD-LABEL: func.func @sort_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// AD: %[[FROM:.*]] = weft.argsort %[[X]] {axis = 0 : i64, descending = true}
// AD: %[[DX:.*]] = weft.add_along_axis %{{.*}}, %[[FROM]], %[[D]] {axis = 0 : i64}
// AD: return %[[DX]]
func.func @sort_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @line(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// Tangents come along.
// AD-LABEL: func.func @sort_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// AD: %[[FROM:.*]] = weft.argsort %[[X]] {axis = 0 : i64, descending = true}
// AD: %[[DY:.*]] = weft.take_along_axis %[[D]], %[[FROM]] {axis = 0 : i64}
// AD: return %[[DY]]
func.func @sort_jvp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @line(%x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
func.func @line(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.sort %x {axis = 0 : i64, descending = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A scalar has no axis.
func.func @scalar(%x: tensor<f32>) {
  // expected-error @below {{'weft.sort' op axis 0 is out of range for x of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.sort %x {axis = 0 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Bools have no order.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.sort' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.sort %x {axis = 0 : i64} : (tensor<2xi1>) -> tensor<2xi1>
  return
}
