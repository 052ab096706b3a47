// The op i1e: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @i1e(
// CHECK: weft.i1e %{{.*}} : tensor<2x?xf32>
func.func @i1e(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.i1e %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i1e_vjp(
// AD: weft.i1e
// AD: weft.i0e
// AD: weft.sign
// AD: weft.multiply
// AD: weft.less
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.add
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i1e_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @i1e(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i1e_jvp(
// AD: weft.i1e
// AD: weft.i0e
// AD: weft.sign
// AD: weft.multiply
// AD: weft.less
// AD: weft.select
// AD: weft.divide
// AD: weft.select
// AD: weft.add
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i1e_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @i1e(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
