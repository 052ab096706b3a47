// The op atan2: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @atan2(
// CHECK: weft.atan2 %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @atan2(%y: tensor<2x?xf32>, %x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.atan2 %y, %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @atan2_vjp(
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.negate
// AD: return
func.func @atan2_vjp(%y: tensor<2x?xf32>, %x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %0:3 = weft.vjp @atan2(%y, %x) cotangents(%d) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1, %0#2 : tensor<2x?xf32>, tensor<2x?xf32>
}

// AD-LABEL: func.func @atan2_jvp(
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.hypot
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.multiply
// AD: weft.negate
// AD: weft.add
// AD: return
func.func @atan2_jvp(%y: tensor<2x?xf32>, %x: tensor<2x?xf32>, %dy: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @atan2(%y, %x) tangents(%dy, %dx) wrt [0, 1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
