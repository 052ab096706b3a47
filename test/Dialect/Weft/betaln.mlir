// The op betaln: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @betaln(
// CHECK: weft.betaln %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @betaln(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.betaln %a, %b : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @betaln_vjp(
// AD: weft.digamma
// AD: weft.add
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: weft.digamma
// AD: weft.add
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @betaln_vjp(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %0:3 = weft.vjp @betaln(%a, %b) cotangents(%d) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1, %0#2 : tensor<2x?xf32>, tensor<2x?xf32>
}

// AD-LABEL: func.func @betaln_jvp(
// AD: weft.digamma
// AD: weft.add
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: weft.digamma
// AD: weft.add
// AD: weft.digamma
// AD: weft.subtract
// AD: weft.multiply
// AD: weft.add
// AD: return
func.func @betaln_jvp(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %da: tensor<2x?xf32>, %db: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @betaln(%a, %b) tangents(%da, %db) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
