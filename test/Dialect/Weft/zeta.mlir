// The op zeta: its text, and the code of its derivatives.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @zeta(
// CHECK: weft.zeta %{{.*}}, %{{.*}} : tensor<2x?xf32>
func.func @zeta(%x: tensor<2x?xf32>, %q: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = weft.zeta %x, %q : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// AD-LABEL: func.func @zeta_vjp(
// AD: weft.add
// AD: weft.zeta
// AD: weft.multiply
// AD: weft.negate
// AD: weft.multiply
// AD: return
func.func @zeta_vjp(%x: tensor<2x?xf32>, %q: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> (tensor<2x?xf32>) {
  %0:2 = weft.vjp @zeta(%x, %q) cotangents(%d) wrt [1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// AD-LABEL: func.func @zeta_jvp(
// AD: weft.add
// AD: weft.zeta
// AD: weft.multiply
// AD: weft.negate
// AD: weft.multiply
// AD: return
func.func @zeta_jvp(%x: tensor<2x?xf32>, %q: tensor<2x?xf32>, %dq: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @zeta(%x, %q) tangents(%dq) wrt [1] : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}
