// The op irfft, half a spectrum to real numbers: its text, its types, its derivatives, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3xf32>, %y: tensor<?xf64>) {
  // CHECK: weft.irfft %{{.*}}, %{{.*}} {axis = 1 : i64, norm = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  %0 = weft.irfft %x, %x {axis = 1, norm = 0} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  // CHECK: weft.irfft %{{.*}}, %{{.*}} {axis = 1 : i64, norm = 1 : i64, odd = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %1 = weft.irfft %x, %x {axis = 1, norm = 1, odd = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  // CHECK: weft.irfft %{{.*}}, %{{.*}} {axis = 0 : i64, norm = 1 : i64} : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %2 = weft.irfft %y, %y {axis = 0, norm = 1} : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return
}

// What stands for two elements counts twice.
// AD-LABEL: func.func @irfft_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3xf64>, %[[D:[a-z0-9]+]]: tensor<4xf64>
// AD: %[[RE:.*]], %[[IM:.*]] = weft.rfft %[[D]] {axis = 0 : i64, norm = 1 : i64}
// AD: weft.select
// AD-DAG: weft.multiply %[[RE]]
// AD-DAG: weft.multiply %[[IM]]
func.func @irfft_vjp(%x: tensor<3xf64>, %d: tensor<4xf64>) -> tensor<3xf64> {
  %0:2 = weft.vjp @numbers(%x) cotangents(%d) wrt [0] : (tensor<3xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}
// AD-LABEL: func.func @irfft_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3xf64>, %[[D:[a-z0-9]+]]: tensor<3xf64>
// AD: %[[DY:.*]] = weft.irfft %[[D]], %[[D]] {axis = 0 : i64, norm = 1 : i64}
// AD: return %[[DY]]
func.func @irfft_jvp(%x: tensor<3xf64>, %d: tensor<3xf64>) -> tensor<4xf64> {
  %0:2 = weft.jvp @numbers(%x) tangents(%d) wrt [0] : (tensor<3xf64>, tensor<3xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %0#1 : tensor<4xf64>
}
func.func @numbers(%x: tensor<3xf64>) -> tensor<4xf64> {
  %0 = weft.irfft %x, %x {axis = 0, norm = 1} : (tensor<3xf64>, tensor<3xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @nothing(%x: tensor<1xf32>) {
  // expected-error @below {{'weft.irfft' op re has the shape (1,): a transform along axis 0 would have no element}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.irfft %x, %x {axis = 0, norm = 0} : (tensor<1xf32>, tensor<1xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @norm(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.irfft' op norm is 3: it is 0, 1 or 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.irfft %x, %x {axis = 0, norm = 3} : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}
