// The op i1: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @i1(
// CHECK: weft.i1 %{{.*}} : tensor<2x?xf32>
func.func @i1(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.i1 %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i1_vjp(
// AD: weft.i1
// AD: weft.i0
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i1_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @i1(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i1_jvp(
// AD: weft.i1
// AD: weft.i0
// AD: weft.equal
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i1_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @i1(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
