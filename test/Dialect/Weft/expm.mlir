// The op expm: its text, its derivatives, which are parts of the exponential of a matrix twice as large, and what is not square.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.expm %{{.*}} : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %0 = weft.expm %x : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  return
}

// AD-LABEL: func.func @expm_vjp(
// AD: weft.transpose
// AD: %[[E:.*]] = weft.expm %{{.*}} : (tensor<6x6xf64>)
// AD: %[[PART:.*]] = weft.slice %[[E]] from [0, 3] to [3, 6]
// AD: weft.multiply %[[PART]]
// AD: return
func.func @expm_vjp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @exponential(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @expm_jvp(
// AD-NOT: weft.transpose
// AD: weft.expm %{{.*}} : (tensor<6x6xf64>)
// AD: return
func.func @expm_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @exponential(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @exponential(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0 = weft.expm %x : (tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// -----

func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.expm' op x has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.expm %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
