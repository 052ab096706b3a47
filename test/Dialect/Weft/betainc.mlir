// The op betainc: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @betainc(
// CHECK: weft.betainc %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @betainc(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.betainc %a, %b, %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @betainc_vjp(
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.negate
// AD: weft.log1p
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.add
// AD: weft.betaln
// AD: weft.subtract
// AD: weft.exp
// AD: weft.multiply
// AD: return
func.func @betainc_vjp(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @betainc(%a, %b, %x) cotangents(%d) wrt [2] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @betainc_jvp(
// AD: weft.subtract
// AD: weft.log
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.subtract
// AD: weft.negate
// AD: weft.log1p
// AD: weft.equal
// AD: weft.multiply
// AD: weft.select
// AD: weft.add
// AD: weft.betaln
// AD: weft.subtract
// AD: weft.exp
// AD: weft.multiply
// AD: return
func.func @betainc_jvp(%a: tensor<2x?xf32>, %b: tensor<2x?xf32>, %x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @betainc(%a, %b, %x) tangents(%dx) wrt [2] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
