// The op erfinv: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @erfinv(
// CHECK: weft.erfinv %{{.*}} : tensor<2x?xf32>
func.func @erfinv(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.erfinv %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfinv_vjp(
// AD: weft.erfinv
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @erfinv_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @erfinv(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfinv_jvp(
// AD: weft.erfinv
// AD: weft.multiply
// AD: weft.exp
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @erfinv_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @erfinv(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
