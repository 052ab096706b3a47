// The op erfc: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @erfc(
// CHECK: weft.erfc %{{.*}} : tensor<2x?xf32>
func.func @erfc(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.erfc %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfc_vjp(
// AD: weft.multiply
// AD: weft.negate
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @erfc_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @erfc(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfc_jvp(
// AD: weft.multiply
// AD: weft.negate
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @erfc_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @erfc(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
