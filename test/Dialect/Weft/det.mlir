// The op det: its text, its derivatives, which are cofactors, and what it says of what is not square.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.det %{{.*}} : (tensor<2x?x3xf32>) -> tensor<2xf32>
  %0 = weft.det %x : (tensor<2x?x3xf32>) -> tensor<2xf32>
  return
}

// AD-LABEL: func.func @det_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[C:.*]] = weft.cofactors %[[X]]
// AD: %[[DX:.*]] = weft.multiply %{{.*}}, %[[C]]
// AD: return %[[DX]]
func.func @det_vjp(%x: tensor<3x3xf64>, %d: tensor<f64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @determinant(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<f64>) -> (tensor<f64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @det_jvp(
// AD: weft.cofactors
// AD: %[[DY:.*]] = weft.sum
// AD: return %[[DY]]
func.func @det_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<f64> {
  %0:2 = weft.jvp @determinant(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func @determinant(%x: tensor<3x3xf64>) -> tensor<f64> {
  %0 = weft.det %x : (tensor<3x3xf64>) -> tensor<f64>
  return %0 : tensor<f64>
}

// The cofactors of the conjugated matrix.
// AD-LABEL: func.func @complex(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xcomplex<f64>>
// AD: %[[C:.*]] = weft.conj %[[X]]
// AD: weft.cofactors %[[C]]
func.func @complex(%x: tensor<3x3xcomplex<f64>>, %d: tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %0:2 = weft.vjp @complex_determinant(%x) cotangents(%d) wrt [0] : (tensor<3x3xcomplex<f64>>, tensor<complex<f64>>) -> (tensor<complex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#1 : tensor<3x3xcomplex<f64>>
}
func.func @complex_determinant(%x: tensor<3x3xcomplex<f64>>) -> tensor<complex<f64>> {
  %0 = weft.det %x : (tensor<3x3xcomplex<f64>>) -> tensor<complex<f64>>
  return %0 : tensor<complex<f64>>
}

// -----

func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.det' op x has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.det %x : (tensor<2x3xf32>) -> tensor<f32>
  return
}
