// The op nextafter: its text, its derivatives, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @step
// CHECK: weft.nextafter %{{.*}}, %{{.*}} : tensor<2x?xf32>, tensor<?xf32>
func.func @step(%x: tensor<2x?xf32>, %y: tensor<?xf32>) -> tensor<2x?xf32> {
  %0 = weft.nextafter %x, %y : tensor<2x?xf32>, tensor<?xf32>
  return %0 : tensor<2x?xf32>
}

// The slope by lhs is 1.
// AD-LABEL: func.func @nextafter_vjp(
// AD-SAME: %{{.*}}: tensor<2x?xf32>, %{{.*}}: tensor<?xf32>, %[[D:[a-z0-9]+]]: tensor<2x?xf32>
// AD: return %[[D]]
func.func @nextafter_vjp(%x: tensor<2x?xf32>, %y: tensor<?xf32>, %d: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.vjp @step(%x, %y) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// The tangent of lhs is that of the result.
// AD-LABEL: func.func @nextafter_jvp(
// AD-SAME: %{{.*}}: tensor<2x?xf32>, %{{.*}}: tensor<?xf32>, %[[T:[a-z0-9]+]]: tensor<2x?xf32>
// AD: return %[[T]]
func.func @nextafter_jvp(%x: tensor<2x?xf32>, %y: tensor<?xf32>, %t: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.jvp @step(%x, %y) tangents(%t) wrt [0] : (tensor<2x?xf32>, tensor<?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// -----

func.func @integers(%x: tensor<2xi32>) {
  // expected-error @+1 {{'weft.nextafter' op lhs must be floating (f16, bf16, f32, f64), but it is i32(2,)}}
  %0 = weft.nextafter %x, %x : tensor<2xi32>
  return
}
