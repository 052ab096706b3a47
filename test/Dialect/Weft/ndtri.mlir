// The op ndtri: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @ndtri(
// CHECK: weft.ndtri %{{.*}} : tensor<2x?xf32>
func.func @ndtri(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.ndtri %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @ndtri_vjp(
// AD: weft.ndtri
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @ndtri_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @ndtri(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @ndtri_jvp(
// AD: weft.ndtri
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @ndtri_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @ndtri(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
