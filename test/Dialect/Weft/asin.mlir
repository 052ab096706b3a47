// The op asin: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @asin(
// CHECK: weft.asin %{{.*}} : tensor<2x?xf32>
func.func @asin(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.asin %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @asin_vjp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.sqrt
// AD: weft.divide
// AD: return
func.func @asin_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @asin(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @asin_jvp(
// AD: weft.subtract
// AD: weft.add
// AD: weft.multiply
// AD: weft.sqrt
// AD: weft.divide
// AD: return
func.func @asin_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @asin(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
