// The op lu_solve: its text, its derivatives, which are those of a solve with the matrix, and what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x3xf32>, %p: tensor<3xi64>, %b: tensor<3x?xf32>) {
  // CHECK: weft.lu_solve %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {transposed = true} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %0 = weft.lu_solve %x, %x, %p, %b {transposed = true} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return
}

// AD-LABEL: func.func @lu_solve_vjp(
// AD: %[[F:.*]], %{{.*}}, %[[P:.*]] = weft.lu
// AD: %[[Y:.*]] = weft.lu_solve %{{.*}}, %[[F]], %[[P]], %{{.*}}
// AD: %[[DB:.*]] = weft.lu_solve %{{.*}}, %[[F]], %[[P]], %{{.*}} {transposed = true}
// AD: weft.matmul %[[DB]], %[[Y]] {transpose_rhs = true}
// AD: %[[DX:.*]] = weft.negate
// AD: return %[[DX]]
func.func @lu_solve_vjp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x2xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @solve(%x, %b) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @lu_solve_jvp(
// AD: %[[Y:.*]] = weft.lu_solve
// AD: weft.matmul %{{.*}}, %[[Y]]
// AD: %[[DY:.*]] = weft.lu_solve {{.*}}
// AD: return %[[DY]]
func.func @lu_solve_jvp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x3xf64>) -> tensor<3x2xf64> {
  %0:2 = weft.jvp @solve(%x, %b) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x3xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return %0#1 : tensor<3x2xf64>
}
func.func @solve(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %same = weft.stop_gradient %x : tensor<3x3xf64>
  %0:3 = weft.lu %same : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi64>, tensor<3xi64>)
  %1 = weft.lu_solve %x, %0#0, %0#2, %b : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xi64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %1 : tensor<3x2xf64>
}

// -----

func.func @permutation(%x: tensor<3x3xf32>, %p: tensor<2xi64>, %b: tensor<3x1xf32>) {
  // expected-error @below {{'weft.lu_solve' op x has the shape (3, 3), so permutation has 3 rows, but it has the shape (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.lu_solve %x, %x, %p, %b : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<2xi64>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return
}
