// The op eig, whose results are complex: its text, its types, its derivatives, and what it says of what is no square matrix.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>, %y: tensor<3x3xcomplex<f64>>) {
  // CHECK: weft.eig %{{.*}} : (tensor<2x?x3xf32>) -> (tensor<2x3xcomplex<f32>>, tensor<2x?x3xcomplex<f32>>)
  %0:2 = weft.eig %x : (tensor<2x?x3xf32>) -> (tensor<2x3xcomplex<f32>>, tensor<2x?x3xcomplex<f32>>)
  // CHECK: weft.eig %{{.*}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  %1:2 = weft.eig %y : (tensor<3x3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return
}

// Eigenvalues move by V^-1 dA V.
// AD-LABEL: func.func @eig_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %{{.*}}, %[[V:.*]] = weft.eig %[[X]]
// AD: %[[LU:.*]], %{{.*}}, %[[P:.*]] = weft.lu %
// AD: weft.lu_solve %[[V]], %[[LU]], %[[P]]
// AD: return
func.func @eig_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3xcomplex<f64>> {
  %0:2 = weft.jvp @values(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>)
  return %0#1 : tensor<3xcomplex<f64>>
}
// A real matrix has a real gradient.
// AD-LABEL: func.func @eig_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %{{.*}}, %[[V:.*]] = weft.eig %[[X]]
// AD: %[[C:.*]] = weft.conj %[[V]]
// AD: %[[LU:.*]], %{{.*}}, %[[P:.*]] = weft.lu %
// AD: %[[DX:.*]] = weft.lu_solve %[[C]], %[[LU]], %[[P]], %{{.*}} {transposed = true}
// AD: %[[RE:.*]] = weft.real %[[DX]]
// AD: return %[[RE]]
func.func @eig_vjp(%x: tensor<3x3xf64>, %d: tensor<3xcomplex<f64>>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @values(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @values(%x: tensor<3x3xf64>) -> tensor<3xcomplex<f64>> {
  %0:2 = weft.eig %x : (tensor<3x3xf64>) -> (tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#0 : tensor<3xcomplex<f64>>
}

// -----

func.func @not_square(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.eig' op x has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.eig %x : (tensor<2x3xf32>) -> (tensor<3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
  return
}

// -----

func.func @integers(%x: tensor<3x3xi32>) {
  // expected-error @below {{'weft.eig' op x must be floating or complex (f16, bf16, f32, f64, c64, c128), but it is i32(3, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.eig %x : (tensor<3x3xi32>) -> (tensor<3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
  return
}
