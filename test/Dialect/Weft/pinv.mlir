// The op pinv: its text, its derivatives by the matrix alone, and what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>, %s: tensor<2x3xf32>, %u: tensor<2x?x3xf32>, %v: tensor<2x3x3xf32>) {
  // CHECK: weft.pinv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x?x3xf32>, tensor<2x3xf32>, tensor<2x?x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x?xf32>
  %0 = weft.pinv %x, %s, %u, %v : (tensor<2x?x3xf32>, tensor<2x3xf32>, tensor<2x?x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x?xf32>
  return
}

// Nothing is divided, whatever the singular values are.
// AD-LABEL: func.func @pinv_vjp(
// AD: %[[P:.*]] = weft.pinv
// AD: weft.matmul %[[P]], %[[P]]
// AD-NOT: weft.divide
// AD: weft.subtract
// AD: return
func.func @pinv_vjp(%x: tensor<4x2xf64>, %s: tensor<2xf64>, %u: tensor<4x2xf64>, %v: tensor<2x2xf64>, %d: tensor<2x4xf64>) -> tensor<4x2xf64> {
  %0:2 = weft.vjp @inverse(%x, %s, %u, %v) cotangents(%d) wrt [0] : (tensor<4x2xf64>, tensor<2xf64>, tensor<4x2xf64>, tensor<2x2xf64>, tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<4x2xf64>)
  return %0#1 : tensor<4x2xf64>
}
// AD-LABEL: func.func @pinv_jvp(
// AD: %[[P:.*]] = weft.pinv
// AD: weft.matmul %[[P]], %[[P]]
// AD: weft.subtract
// AD: return
func.func @pinv_jvp(%x: tensor<4x2xf64>, %s: tensor<2xf64>, %u: tensor<4x2xf64>, %v: tensor<2x2xf64>, %d: tensor<4x2xf64>) -> tensor<2x4xf64> {
  %0:2 = weft.jvp @inverse(%x, %s, %u, %v) tangents(%d) wrt [0] : (tensor<4x2xf64>, tensor<2xf64>, tensor<4x2xf64>, tensor<2x2xf64>, tensor<4x2xf64>) -> (tensor<2x4xf64>, tensor<2x4xf64>)
  return %0#1 : tensor<2x4xf64>
}
func.func @inverse(%x: tensor<4x2xf64>, %s: tensor<2xf64>, %u: tensor<4x2xf64>, %v: tensor<2x2xf64>) -> tensor<2x4xf64> {
  %0 = weft.pinv %x, %s, %u, %v : (tensor<4x2xf64>, tensor<2xf64>, tensor<4x2xf64>, tensor<2x2xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

// -----

func.func @wide(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %v: tensor<3x3xf32>) {
  // expected-error @below {{'weft.pinv' op x has the shape (2, 3): at least as many rows as columns are wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pinv %x, %s, %x, %v : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @vectors(%x: tensor<3x2xf32>, %s: tensor<2xf32>, %v: tensor<2x3xf32>) {
  // expected-error @below {{'weft.pinv' op x has the shape (3, 2), so right is (2, 2), but it has the shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pinv %x, %s, %x, %v : (tensor<3x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
