// The op cbrt: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @cbrt(
// CHECK: weft.cbrt %{{.*}} : tensor<2x?xf32>
func.func @cbrt(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.cbrt %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cbrt_vjp(
// AD: weft.cbrt
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @cbrt_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @cbrt(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cbrt_jvp(
// AD: weft.cbrt
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @cbrt_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @cbrt(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
