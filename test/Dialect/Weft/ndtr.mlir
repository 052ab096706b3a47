// The op ndtr: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @ndtr(
// CHECK: weft.ndtr %{{.*}} : tensor<2x?xf32>
func.func @ndtr(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.ndtr %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @ndtr_vjp(
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @ndtr_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @ndtr(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @ndtr_jvp(
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @ndtr_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @ndtr(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
