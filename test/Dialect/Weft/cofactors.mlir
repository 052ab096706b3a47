// The op cofactors: its text, its derivatives, which are cofactors_along a direction, and what is not square.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.cofactors %{{.*}} : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %0 = weft.cofactors %x : (tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  return
}

// AD-LABEL: func.func @cofactors_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[DX:.*]] = weft.cofactors_along %[[X]], %[[D]]
// AD: return %[[DX]]
func.func @cofactors_vjp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @cofactors(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @cofactors_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[DY:.*]] = weft.cofactors_along %[[X]], %[[D]]
// AD: return %[[DY]]
func.func @cofactors_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @cofactors(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @cofactors(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0 = weft.cofactors %x : (tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// -----

func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.cofactors' op x has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.cofactors %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
