// The op svd: its text, its types, its derivatives by some of its results, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x3xf64>) {
  // CHECK: weft.svd %{{.*}} : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  %0:3 = weft.svd %x : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// By the values alone nothing is divided.
// AD-LABEL: func.func @svd_vjp(
// AD: weft.svd
// AD-NOT: weft.divide
// AD: return
func.func @svd_vjp(%x: tensor<3x3xf64>, %d: tensor<3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @values(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @svd_jvp(
// AD: weft.svd
// AD: %[[DY:.*]] = weft.sum
// AD: return %[[DY]]
func.func @svd_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:2 = weft.jvp @values(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}
func.func @values(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:3 = weft.svd %x : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#0 : tensor<3xf64>
}

// CHECK-LABEL: func.func @complex
func.func @complex(%x: tensor<4x3xcomplex<f32>>) {
  // CHECK: weft.svd %{{.*}} : (tensor<4x3xcomplex<f32>>) -> (tensor<3xf32>, tensor<4x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
  %0:3 = weft.svd %x : (tensor<4x3xcomplex<f32>>) -> (tensor<3xf32>, tensor<4x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
  return
}

// -----

func.func @vector(%x: tensor<3xf64>) {
  // expected-error @below {{'weft.svd' op x has the shape (3,): a matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = weft.svd %x : (tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return
}
