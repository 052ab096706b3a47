// The op fft, on real and imaginary parts: its text, its types, its derivatives, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x5xf32>, %y: tensor<?x3xf64>) {
  // CHECK: weft.fft %{{.*}}, %{{.*}} {axis = 1 : i64, norm = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)
  %0:2 = weft.fft %x, %x {axis = 1, norm = 0} : (tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)
  // CHECK: weft.fft %{{.*}}, %{{.*}} {axis = 0 : i64, inverse = true, norm = 1 : i64} : (tensor<?x3xf64>, tensor<?x3xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>)
  %1:2 = weft.fft %y, %y {axis = 0, inverse = true, norm = 1} : (tensor<?x3xf64>, tensor<?x3xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>)
  return
}

// The derivatives by both parts are one transform of the other direction.
// AD-LABEL: func.func @fft_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[D:[a-z0-9]+]]: tensor<4xf64>
// AD: %[[ZERO:.*]] = weft.broadcast
// AD: %[[RE:.*]], %[[IM:.*]] = weft.fft %[[D]], %[[ZERO]] {axis = 0 : i64, inverse = true, norm = 2 : i64}
// AD-NOT: weft.fft
// AD: %[[DX:.*]] = weft.add %{{.*}}
// AD: return %[[DX]]
func.func @fft_vjp(%x: tensor<4xf64>, %d: tensor<4xf64>) -> tensor<4xf64> {
  %0:2 = weft.vjp @twice(%x) cotangents(%d) wrt [0] : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %0#1 : tensor<4xf64>
}
// AD-LABEL: func.func @fft_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[D:[a-z0-9]+]]: tensor<4xf64>
// AD: %[[RE:.*]], %[[IM:.*]] = weft.fft %[[D]], %[[D]] {axis = 0 : i64, norm = 2 : i64}
// AD: return %[[RE]]
func.func @fft_jvp(%x: tensor<4xf64>, %d: tensor<4xf64>) -> tensor<4xf64> {
  %0:2 = weft.jvp @twice(%x) tangents(%d) wrt [0] : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %0#1 : tensor<4xf64>
}
func.func @twice(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0:2 = weft.fft %x, %x {axis = 0, norm = 2} : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %0#0 : tensor<4xf64>
}

// -----

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.fft' op axis 2 is out of range for re of shape (2, 3) (rank 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.fft %x, %x {axis = 2, norm = 0} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @nothing(%x: tensor<2x0xf32>) {
  // expected-error @below {{'weft.fft' op re has the shape (2, 0): a transform along axis 1 would have no element}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.fft %x, %x {axis = 1, norm = 0} : (tensor<2x0xf32>, tensor<2x0xf32>) -> (tensor<2x0xf32>, tensor<2x0xf32>)
  return
}

// -----

func.func @shapes_differ(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @below {{'weft.fft' op the shapes differ: re has (2, 3), and im (2, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.fft %x, %y {axis = 1, norm = 0} : (tensor<2x3xf32>, tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}
