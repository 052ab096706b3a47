// The op acosh: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @acosh(
// CHECK: weft.acosh %{{.*}} : tensor<2x?xf32>
func.func @acosh(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.acosh %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @acosh_vjp(
// AD: weft.subtract
// AD: weft.sqrt
// AD: weft.add
// AD: weft.sqrt
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @acosh_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @acosh(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @acosh_jvp(
// AD: weft.subtract
// AD: weft.sqrt
// AD: weft.add
// AD: weft.sqrt
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @acosh_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @acosh(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
