// The op erfcx: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @erfcx(
// CHECK: weft.erfcx %{{.*}} : tensor<2x?xf32>
func.func @erfcx(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.erfcx %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfcx_vjp(
// AD: weft.erfcx
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.maximum
// AD: weft.divide
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.greater
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.select
// AD: weft.multiply
// AD: return
func.func @erfcx_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @erfcx(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @erfcx_jvp(
// AD: weft.erfcx
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.maximum
// AD: weft.divide
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.multiply
// AD: weft.add
// AD: weft.greater
// AD: weft.multiply
// AD: weft.multiply
// AD: weft.select
// AD: weft.multiply
// AD: return
func.func @erfcx_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @erfcx(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
