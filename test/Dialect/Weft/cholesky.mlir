// The op cholesky: its text, its derivatives, and what it says of what is not square.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.cholesky %{{.*}} : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %0 = weft.cholesky %x : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  return
}

// AD-LABEL: func.func @cholesky_vjp(
// AD: %[[L:.*]] = weft.cholesky
// AD: weft.triangular_solve %[[L]], %{{.*}} {lower = true, transposed = true
// AD: weft.triangular_solve %[[L]], %{{.*}} {lower = true, transposed = true
// AD: %[[DX:.*]] = weft.multiply
// AD: return %[[DX]]
func.func @cholesky_vjp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @factor(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @cholesky_jvp(
// AD: %[[L:.*]] = weft.cholesky
// AD: weft.triangular_solve %[[L]], %{{.*}} {lower = true
// AD: %[[DY:.*]] = weft.matmul %[[L]], %{{.*}}
// AD: return %[[DY]]
func.func @cholesky_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @factor(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @factor(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0 = weft.cholesky %x : (tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// -----

func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.cholesky' op x has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.cholesky %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
