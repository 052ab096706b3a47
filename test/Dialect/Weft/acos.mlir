// The op acos: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @acos(
// CHECK: weft.acos %{{.*}} : tensor<2x?xf32>
func.func @acos(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.acos %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @acos_vjp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.sqrt
// AD: weft.divide
// AD: weft.negate
// AD: return
func.func @acos_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @acos(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @acos_jvp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.sqrt
// AD: weft.divide
// AD: weft.negate
// AD: return
func.func @acos_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @acos(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
