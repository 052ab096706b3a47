// The op eig, which has four results: its text, its types, its derivatives, and what it says of what is no square matrix.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>) {
  // CHECK: weft.eig %{{.*}}, %{{.*}} : (tensor<2x?x3xf32>, tensor<2x?x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x?x3xf32>, tensor<2x?x3xf32>)
  %0:4 = weft.eig %x, %x : (tensor<2x?x3xf32>, tensor<2x?x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x?x3xf32>, tensor<2x?x3xf32>)
  return
}

// Eigenvalues move by V^-1 dA V, which is solved for as a real system of twice the size.
// AD-LABEL: func.func @eig_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %{{.*}}, %{{.*}}, %[[RE:.*]], %[[IM:.*]] = weft.eig %[[X]], %[[X]]
// AD: weft.complex %[[RE]], %[[IM]]
// AD: weft.lu %{{.*}} : (tensor<6x6xf64>)
// AD: weft.lu_solve
// AD: return
func.func @eig_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:2 = weft.jvp @values(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}
// AD-LABEL: func.func @eig_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3xf64>
// AD: %{{.*}}, %{{.*}}, %[[RE:.*]], %[[IM:.*]] = weft.eig %[[X]], %[[X]]
// AD: weft.lu %{{.*}} : (tensor<6x6xf64>)
// AD: weft.lu_solve %{{.*}} {adjoint = true}
// AD: return
func.func @eig_vjp(%x: tensor<3x3xf64>, %d: tensor<3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @values(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @values(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:4 = weft.eig %x, %x : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#0 : tensor<3xf64>
}

// -----

func.func @not_square(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.eig' op re has the shape (2, 3): a square matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:4 = weft.eig %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @other_dtype(%x: tensor<3x3xf32>, %y: tensor<3x3xf64>) {
  // expected-error @below {{'weft.eig' op the dtypes differ: re is f32 and im is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0:4 = weft.eig %x, %y : (tensor<3x3xf32>, tensor<3x3xf64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  return
}
