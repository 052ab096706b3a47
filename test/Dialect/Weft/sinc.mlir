// The op sinc: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @sinc(
// CHECK: weft.sinc %{{.*}} : tensor<2x?xf32>
func.func @sinc(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.sinc %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @sinc_vjp(
// AD: weft.sinc
// AD: weft.abs
// AD: weft.less
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
// AD: weft.multiply
// AD: weft.add
// AD: weft.select
// AD: weft.cospi
// AD: weft.subtract
// AD: weft.divide
// AD: weft.multiply
// AD: weft.select
// AD: weft.multiply
// AD: return
func.func @sinc_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @sinc(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @sinc_jvp(
// AD: weft.sinc
// AD: weft.abs
// AD: weft.less
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
// AD: weft.multiply
// AD: weft.add
// AD: weft.select
// AD: weft.cospi
// AD: weft.subtract
// AD: weft.divide
// AD: weft.multiply
// AD: weft.select
// AD: weft.multiply
// AD: return
func.func @sinc_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @sinc(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
