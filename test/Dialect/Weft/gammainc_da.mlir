// The op gammainc_da: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @gammainc_da(
// CHECK: weft.gammainc_da %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @gammainc_da(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.gammainc_da %a, %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @gammainc_da_vjp(
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.lgamma
// AD: weft.subtract
// AD: weft.exp
// AD: weft.log
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @gammainc_da_vjp(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @gammainc_da(%a, %x) cotangents(%d) wrt [1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @gammainc_da_jvp(
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.lgamma
// AD: weft.subtract
// AD: weft.exp
// AD: weft.log
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: weft.multiply
// AD: return
func.func @gammainc_da_jvp(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @gammainc_da(%a, %x) tangents(%dx) wrt [1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
