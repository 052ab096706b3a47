// The op log_ndtr: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @log_ndtr(
// CHECK: weft.log_ndtr %{{.*}} : tensor<2x?xf32>
func.func @log_ndtr(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.log_ndtr %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @log_ndtr_vjp(
// AD: weft.multiply
// AD: weft.erfcx
// AD: weft.divide
// AD: weft.multiply
// AD: return
func.func @log_ndtr_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @log_ndtr(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @log_ndtr_jvp(
// AD: weft.multiply
// AD: weft.erfcx
// AD: weft.divide
// AD: weft.multiply
// AD: return
func.func @log_ndtr_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @log_ndtr(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
