// The op cospi: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @cospi(
// CHECK: weft.cospi %{{.*}} : tensor<2x?xf32>
func.func @cospi(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.cospi %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cospi_vjp(
// AD: weft.sinpi
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @cospi_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @cospi(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @cospi_jvp(
// AD: weft.sinpi
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @cospi_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @cospi(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
