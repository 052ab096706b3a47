// The op hypot: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @hypot(
// CHECK: weft.hypot %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @hypot(%x: tensor<2x?xf32>, %y: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.hypot %x, %y : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @hypot_vjp(
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: return
func.func @hypot_vjp(%x: tensor<2x?xf32>, %y: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %0:3 = weft.vjp @hypot(%x, %y) cotangents(%d) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1, %0#2 : tensor<2x?xf32>, tensor<2x?xf32>
}

// AD-LABEL: func.func @hypot_jvp(
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.add
// AD: return
func.func @hypot_jvp(%x: tensor<2x?xf32>, %y: tensor<2x?xf32>, %dx: tensor<2x?xf32>, %dy: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @hypot(%x, %y) tangents(%dx, %dy) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
