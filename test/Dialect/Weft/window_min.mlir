// The op window_min: its text, the shape of its result, its derivatives, and what it says of windows that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// Sizes that are not known stay so; strides, padding and dilations decide about the others.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf32>) {
  // CHECK: weft.window_min %{{.*}} {dilations = array<i64: 2, 1>, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  %0 = weft.window_min %x {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  return
}

// The gradient goes where the least element is; there is one behind the last window.
// AD-LABEL: func.func @window_min_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x2x3xf32>
// AD: %[[P:.*]] = weft.window_argmin %[[X]]
// AD: %[[DX:.*]] = weft.window_scatter %[[D]], %[[P]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: return %[[DX]]
func.func @window_min_vjp(%x: tensor<2x6x3xf32>, %d: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.vjp @line(%x) cotangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
// AD-LABEL: func.func @window_min_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[P:.*]] = weft.window_argmin %[[X]]
// AD: %[[DY:.*]] = weft.window_take %[[D]], %[[P]]
// AD: return %[[DY]]
func.func @window_min_jvp(%x: tensor<2x6x3xf32>, %d: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0:2 = weft.jvp @line(%x) tangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return %0#1 : tensor<2x2x3xf32>
}
func.func @line(%x: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0 = weft.window_min %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}
