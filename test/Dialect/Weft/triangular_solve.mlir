// The op triangular_solve: its text, its derivatives, and what it says of what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x3xf32>, %b: tensor<3x?xf32>) {
  // CHECK: weft.triangular_solve %{{.*}}, %{{.*}} {lower = true} : (tensor<3x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %0 = weft.triangular_solve %x, %b {lower = true} : (tensor<3x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return
}

// By the matrix of its triangle alone.
// AD-LABEL: func.func @triangular_solve_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[B:[a-z0-9]+]]: tensor<3x2xf64>, %[[D:[a-z0-9]+]]: tensor<3x2xf64>
// AD: %[[Y:.*]] = weft.triangular_solve %[[X]], %[[B]]
// AD: %[[DB:.*]] = weft.triangular_solve %[[X]], %[[D]] {lower = true, transposed = true
// AD: weft.matmul %[[DB]], %[[Y]] {transpose_rhs = true}
// AD: %[[DX:.*]] = weft.select
// AD: return %[[DX]]
func.func @triangular_solve_vjp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x2xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @solve(%x, %b) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @triangular_solve_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[B:[a-z0-9]+]]: tensor<3x2xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[Y:.*]] = weft.triangular_solve %[[X]], %[[B]]
// AD: weft.matmul %{{.*}}, %[[Y]]
// AD: %[[DY:.*]] = weft.triangular_solve %[[X]], %{{.*}} {lower = true
// AD: return %[[DY]]
func.func @triangular_solve_jvp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x3xf64>) -> tensor<3x2xf64> {
  %0:2 = weft.jvp @solve(%x, %b) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x3xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return %0#1 : tensor<3x2xf64>
}
func.func @solve(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %0 = weft.triangular_solve %x, %b {lower = true} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

// -----

func.func @rows(%x: tensor<3x3xf32>, %b: tensor<2x1xf32>) {
  // expected-error @below {{'weft.triangular_solve' op x has the shape (3, 3), so b has 3 rows, but it has the shape (2, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.triangular_solve %x, %b : (tensor<3x3xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @batches(%x: tensor<2x3x3xf32>, %b: tensor<3x1xf32>) {
  // expected-error @below {{'weft.triangular_solve' op the batches differ: x has the shape (2, 3, 3), and b has (3, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.triangular_solve %x, %b : (tensor<2x3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return
}

// -----

func.func @dtypes(%x: tensor<3x3xf32>, %b: tensor<3x1xf64>) {
  // expected-error @below {{'weft.triangular_solve' op the dtypes differ: x is f32 and b is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.triangular_solve %x, %b : (tensor<3x3xf32>, tensor<3x1xf64>) -> tensor<3x1xf64>
  return
}
