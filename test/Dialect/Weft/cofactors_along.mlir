// The op cofactors_along: its text, its derivatives by the matrix, which solve, and by the direction, and what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>, %d: tensor<2x3x3xf32>) {
  // CHECK: weft.cofactors_along %{{.*}}, %{{.*}} : (tensor<2x?x3xf32>, tensor<2x3x3xf32>) -> tensor<2x?x3xf32>
  %0 = weft.cofactors_along %x, %d : (tensor<2x?x3xf32>, tensor<2x3x3xf32>) -> tensor<2x?x3xf32>
  return
}

// AD-LABEL: func.func @cofactors_along_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>, %[[E:[a-z0-9]+]]: tensor<3x3xf64>
// AD: weft.lu_solve
// AD: %[[DD:.*]] = weft.cofactors_along %[[X]], %[[E]]
// AD: return %{{.*}}, %[[DD]]
func.func @cofactors_along_vjp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>, %e: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %0:3 = weft.vjp @along(%x, %d) cotangents(%e) wrt [0, 1] : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1, %0#2 : tensor<3x3xf64>, tensor<3x3xf64>
}
// AD-LABEL: func.func @cofactors_along_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>, %[[E:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[DY:.*]] = weft.cofactors_along %[[X]], %[[E]]
// AD: return %[[DY]]
func.func @cofactors_along_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>, %e: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @along(%x, %d) tangents(%e) wrt [1] : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @along(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0 = weft.cofactors_along %x, %d : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// -----

func.func @rows(%x: tensor<3x3xf32>, %d: tensor<2x3xf32>) {
  // expected-error @below {{'weft.cofactors_along' op x has the shape (3, 3), so d has 3 rows, but it has the shape (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.cofactors_along %x, %d : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @columns(%x: tensor<3x3xf32>, %d: tensor<3x2xf32>) {
  // expected-error @below {{'weft.cofactors_along' op x has the shape (3, 3), so d has 3 columns, but it has the shape (3, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.cofactors_along %x, %d : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  return
}
