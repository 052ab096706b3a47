// The op gammainc: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @gammainc(
// CHECK: weft.gammainc %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @gammainc(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.gammainc %a, %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @gammainc_vjp(
// AD: weft.gammainc_da
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.lgamma
// AD: weft.subtract
// AD: weft.exp
// AD: weft.multiply
// AD: return
func.func @gammainc_vjp(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %0:3 = weft.vjp @gammainc(%a, %x) cotangents(%d) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1, %0#2 : tensor<2x?xf32>, tensor<2x?xf32>
}

// AD-LABEL: func.func @gammainc_jvp(
// AD: weft.gammainc_da
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.lgamma
// AD: weft.subtract
// AD: weft.exp
// AD: weft.multiply
// AD: weft.add
// AD: return
func.func @gammainc_jvp(%a: tensor<2x?xf32>, %x: tensor<2x?xf32>, %da: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @gammainc(%a, %x) tangents(%da, %dx) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
