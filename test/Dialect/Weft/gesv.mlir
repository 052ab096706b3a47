// The op gesv: its text, its derivatives, which are those of a solve with the matrix, and what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x3xf32>, %b: tensor<3x?xf32>) {
  // CHECK: weft.gesv %{{.*}}, %{{.*}} : (tensor<3x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %0 = weft.gesv %x, %b : (tensor<3x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return
}

// AD-LABEL: func.func @gesv_vjp(
// AD: %[[Y:.*]] = weft.gesv
// AD: %[[T:.*]] = weft.transpose
// AD: %[[DB:.*]] = weft.gesv %[[T]], %{{.*}}
// AD: weft.matmul %[[DB]], %[[Y]] {transpose_rhs = true}
// AD: %[[DX:.*]] = weft.negate
// AD: return %[[DX]]
func.func @gesv_vjp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x2xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @solve(%x, %b) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @gesv_jvp(
// AD: %[[Y:.*]] = weft.gesv
// AD: weft.matmul %{{.*}}, %[[Y]]
// AD: %[[DY:.*]] = weft.gesv
// AD: return %[[DY]]
func.func @gesv_jvp(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>, %d: tensor<3x3xf64>) -> tensor<3x2xf64> {
  %0:2 = weft.jvp @solve(%x, %b) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x3xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return %0#1 : tensor<3x2xf64>
}
func.func @solve(%x: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %0 = weft.gesv %x, %b : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

// -----

func.func @rows(%x: tensor<3x3xf32>, %b: tensor<2x1xf32>) {
  // expected-error @below {{'weft.gesv' op x has the shape (3, 3), so b has 3 rows, but it has the shape (2, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.gesv %x, %b : (tensor<3x3xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  return
}
