// The op window_sum_transpose: its text, the shape of its result, its derivative, and images that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// The images have what windows go over, and what is behind the last one.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x2x?x3xi32>) {
  // CHECK: weft.window_sum_transpose %{{.*}} {dilations = array<i64: 1, 1>, extra = array<i64: 1, 0>, high = array<i64: 0, 0>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x2x?x3xi32>) -> tensor<?x5x?x3xi32>
  %0 = weft.window_sum_transpose %x {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, extra = array<i64: 1, 0>} : (tensor<?x2x?x3xi32>) -> tensor<?x5x?x3xi32>
  return
}

// AD-LABEL: func.func @window_sum_transpose_vjp(
// AD-SAME: %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[DX:.*]] = weft.window_sum %[[D]] {{.*}} -> tensor<2x2x3xf32>
// AD: return %[[DX]]
func.func @window_sum_transpose_vjp(%x: tensor<2x2x3xf32>, %d: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0:2 = weft.vjp @line(%x) cotangents(%d) wrt [0] : (tensor<2x2x3xf32>, tensor<2x6x3xf32>) -> (tensor<2x6x3xf32>, tensor<2x2x3xf32>)
  return %0#1 : tensor<2x2x3xf32>
}
// Forward it is the op on the tangent.
// AD-LABEL: func.func @window_sum_transpose_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x2x3xf32>
// AD: %[[DY:.*]] = weft.window_sum_transpose %[[D]]
// AD: return %[[DY]]
func.func @window_sum_transpose_jvp(%x: tensor<2x2x3xf32>, %d: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.jvp @line(%x) tangents(%d) wrt [0] : (tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> (tensor<2x6x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
func.func @line(%x: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0 = weft.window_sum_transpose %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, extra = array<i64: 1>} : (tensor<2x2x3xf32>) -> tensor<2x6x3xf32>
  return %0 : tensor<2x6x3xf32>
}

// -----

// A window more would fit.
func.func @extra(%x: tensor<1x2x1xf32>) {
  // expected-error @below {{'weft.window_sum_transpose' op extra has 2, but must be below the stride, 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_sum_transpose %x {window = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, extra = array<i64: 2>} : (tensor<1x2x1xf32>) -> tensor<1x6x1xf32>
  return
}

// -----

// Images have no fewer elements than none.
func.func @none(%x: tensor<1x0x1xf32>) {
  // expected-error @below {{'weft.window_sum_transpose' op spatial axis 0 of the result would have -1 elements}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_sum_transpose %x {window = array<i64: 2>, strides = array<i64: 3>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, extra = array<i64: 0>} : (tensor<1x0x1xf32>) -> tensor<1x0x1xf32>
  return
}
