// The op tan: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @tan(
// CHECK: weft.tan %{{.*}} : tensor<2x?xf32>
func.func @tan(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.tan %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @tan_vjp(
// AD: weft.tan
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: return
func.func @tan_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @tan(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @tan_jvp(
// AD: weft.tan
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: return
func.func @tan_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @tan(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
