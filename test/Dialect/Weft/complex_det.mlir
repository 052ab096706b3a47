// The op complex_det: its text, its types, its derivatives, and what it says of matrices of other sizes.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.complex_det %{{.*}}, %{{.*}} : (tensor<2x?x3xf32>, tensor<2x?x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %0:3 = weft.complex_det %x, %x : (tensor<2x?x3xf32>, tensor<2x?x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// The inverse transposed and conjugated, by a real system of twice the size.
// AD-LABEL: func.func @complex_det_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[RE:.*]], %[[IM:.*]], %{{.*}} = weft.complex_det %[[X]], %[[X]]
// AD: weft.lu %{{.*}} : (tensor<6x6xf64>)
// AD: weft.lu_solve %{{.*}} {adjoint = true}
// AD: return
func.func @complex_det_vjp(%x: tensor<3x3xf64>, %d: tensor<f64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @det(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<f64>) -> (tensor<f64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @complex_det_jvp(
// AD: weft.lu %{{.*}} : (tensor<6x6xf64>)
// AD: weft.lu_solve
// AD: weft.sum
// AD: return
func.func @complex_det_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<f64> {
  %0:2 = weft.jvp @det(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func @det(%x: tensor<3x3xf64>) -> tensor<f64> {
  %0:3 = weft.complex_det %x, %x : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
  return %0#0 : tensor<f64>
}

// -----

func.func @other_size(%x: tensor<3x3xf32>, %y: tensor<2x2xf32>) {
  // expected-error @below {{'weft.complex_det' op re has the shape (3, 3), so im has 3 rows, but it has the shape (2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = weft.complex_det %x, %y : (tensor<3x3xf32>, tensor<2x2xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}
