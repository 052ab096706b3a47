// The op i0e: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @i0e(
// CHECK: weft.i0e %{{.*}} : tensor<2x?xf32>
func.func @i0e(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.i0e %x : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i0e_vjp(
// AD: weft.i0e
// AD: weft.i1e
// AD: weft.sign
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i0e_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @i0e(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @i0e_jvp(
// AD: weft.i0e
// AD: weft.i1e
// AD: weft.sign
// AD: weft.multiply
// AD: weft.subtract
// AD: weft.multiply
// AD: return
func.func @i0e_jvp(%x: tensor<2x?xf32>, %dx: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @i0e(%x) tangents(%dx) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
