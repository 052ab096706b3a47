// The op gamma: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @gamma(
// CHECK: weft.gamma %{{.*}} : tensor<2x?xf32>
func.func @gamma(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.gamma %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @gamma_vjp(
// AD: weft.gamma
// AD: weft.digamma
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @gamma_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @gamma(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @gamma_jvp(
// AD: weft.gamma
// AD: weft.digamma
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @gamma_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @gamma(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
