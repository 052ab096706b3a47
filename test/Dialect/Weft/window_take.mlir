// The op window_take: its text, the shape of its result, its derivatives, and positions that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// Sizes that are not known stay so.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf64>, %p: tensor<?x?x3x4xi32>) {
  // CHECK: weft.window_take %{{.*}}, %{{.*}} {dilations = array<i64: 2, 1>, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x9x?x4xf64>, tensor<?x?x3x4xi32>) -> tensor<?x3x?x4xf64>
  %0 = weft.window_take %x, %p {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>} : (tensor<?x9x?x4xf64>, tensor<?x?x3x4xi32>) -> tensor<?x3x?x4xf64>
  return
}

// AD-LABEL: func.func @window_take_vjp(
// AD-SAME: %[[P:[a-z0-9]+]]: tensor<2x2x3xi32>, %[[D:[a-z0-9]+]]: tensor<2x2x3xf32>
// AD: %[[DX:.*]] = weft.window_scatter %[[D]], %[[P]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: return %[[DX]]
func.func @window_take_vjp(%x: tensor<2x6x3xf32>, %p: tensor<2x2x3xi32>, %d: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.vjp @line(%x, %p) cotangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x2x3xi32>, tensor<2x2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
// Forward it is the op on the tangent.
// AD-LABEL: func.func @window_take_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[P:[a-z0-9]+]]: tensor<2x2x3xi32>, %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[DY:.*]] = weft.window_take %[[D]], %[[P]]
// AD: return %[[DY]]
func.func @window_take_jvp(%x: tensor<2x6x3xf32>, %p: tensor<2x2x3xi32>, %d: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0:2 = weft.jvp @line(%x, %p) tangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x2x3xi32>, tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return %0#1 : tensor<2x2x3xf32>
}
func.func @line(%x: tensor<2x6x3xf32>, %p: tensor<2x2x3xi32>) -> tensor<2x2x3xf32> {
  %0 = weft.window_take %x, %p {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>, tensor<2x2x3xi32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// -----

// There is a position for each window.
func.func @places(%x: tensor<1x4x1xf32>, %p: tensor<1x2x1xi32>) {
  // expected-error @below {{'weft.window_take' op places must have shape (1, 3, 1), but has (1, 2, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_take %x, %p {window = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x4x1xf32>, tensor<1x2x1xi32>) -> tensor<1x3x1xf32>
  return
}

// -----

// Positions are of 32 bits.
func.func @dtype(%x: tensor<1x4x1xf32>, %p: tensor<1x3x1xi64>) {
  // expected-error @below {{'weft.window_take' op places must be an integer of 32 bits (i32), but it is i64(1, 3, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_take %x, %p {window = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x4x1xf32>, tensor<1x3x1xi64>) -> tensor<1x3x1xf32>
  return
}
