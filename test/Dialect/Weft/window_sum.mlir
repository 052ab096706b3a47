// The op window_sum: its text, the shape of its result, and its derivatives.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// Sizes that are not known stay so; strides, padding and dilations decide about the others.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf32>) {
  // CHECK: weft.window_sum %{{.*}} {dilations = array<i64: 2, 1>, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  %0 = weft.window_sum %x {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  return
}

// It is linear, and its gradient its transpose.
// AD-LABEL: func.func @window_sum_vjp(
// AD-SAME: %[[D:[a-z0-9]+]]: tensor<2x2x3xf32>
// AD: %[[DX:.*]] = weft.window_sum_transpose %[[D]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: return %[[DX]]
func.func @window_sum_vjp(%x: tensor<2x6x3xf32>, %d: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.vjp @line(%x) cotangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
// Forward it is the op on the tangent.
// AD-LABEL: func.func @window_sum_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[DY:.*]] = weft.window_sum %[[D]]
// AD: return %[[DY]]
func.func @window_sum_jvp(%x: tensor<2x6x3xf32>, %d: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0:2 = weft.jvp @line(%x) tangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return %0#1 : tensor<2x2x3xf32>
}
func.func @line(%x: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0 = weft.window_sum %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}
// What is behind the last window of a size that only the call knows is filled up with zeros.
// AD-LABEL: func.func @open_vjp(
// AD: weft.window_sum_transpose {{.*}}extra = array<i64: 0>
// AD: weft.slice {{.*}} to [-1, %{{.*}}, -1]
// AD: weft.pad {{.*}} high [0, %{{.*}}, 0]
func.func @open_vjp(%x: tensor<2x?x3xf32>, %d: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> {
  %0:2 = weft.vjp @open(%x) cotangents(%d) wrt [0] : (tensor<2x?x3xf32>, tensor<2x?x3xf32>) -> (tensor<2x?x3xf32>, tensor<2x?x3xf32>)
  return %0#1 : tensor<2x?x3xf32>
}
func.func @open(%x: tensor<2x?x3xf32>) -> tensor<2x?x3xf32> {
  %0 = weft.window_sum %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  return %0 : tensor<2x?x3xf32>
}
