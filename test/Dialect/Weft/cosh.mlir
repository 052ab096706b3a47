// The op cosh: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @cosh(
// CHECK: weft.cosh %{{.*}} : tensor<2x?xf32>
func.func @cosh(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.cosh %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cosh_vjp(
// AD: weft.sinh
// AD: weft.multiply
// AD: return
func.func @cosh_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @cosh(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cosh_jvp(
// AD: weft.sinh
// AD: weft.multiply
// AD: return
func.func @cosh_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @cosh(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
