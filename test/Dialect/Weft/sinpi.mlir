// The op sinpi: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @sinpi(
// CHECK: weft.sinpi %{{.*}} : tensor<2x?xf32>
func.func @sinpi(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.sinpi %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @sinpi_vjp(
// AD: weft.cospi
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @sinpi_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @sinpi(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @sinpi_jvp(
// AD: weft.cospi
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @sinpi_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @sinpi(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
