// The op atanh: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @atanh(
// CHECK: weft.atanh %{{.*}} : tensor<2x?xf32>
func.func @atanh(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.atanh %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @atanh_vjp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @atanh_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @atanh(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @atanh_jvp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.divide
// AD: return
func.func @atanh_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @atanh(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
