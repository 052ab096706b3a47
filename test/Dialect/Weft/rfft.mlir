// The op rfft, real numbers to half a spectrum: its text, its types, its derivatives, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x5xf32>, %y: tensor<4x?xf64>) {
  // CHECK: weft.rfft %{{.*}} {axis = 1 : i64, norm = 0 : i64} : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %0:2 = weft.rfft %x {axis = 1, norm = 0} : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: weft.rfft %{{.*}} {axis = 0 : i64, norm = 1 : i64} : (tensor<4x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  %1:2 = weft.rfft %y {axis = 0, norm = 1} : (tensor<4x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  // CHECK: weft.rfft %{{.*}} {axis = 1 : i64, norm = 1 : i64} : (tensor<4x?xf64>) -> (tensor<4x?xf64>, tensor<4x?xf64>)
  %2:2 = weft.rfft %y {axis = 1, norm = 1} : (tensor<4x?xf64>) -> (tensor<4x?xf64>, tensor<4x?xf64>)
  return
}

// The real part of a whole transform of the other direction.
// AD-LABEL: func.func @rfft_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<5xf64>, %[[D:[a-z0-9]+]]: tensor<3xf64>
// AD-DAG: %[[RE:.*]] = weft.pad %[[D]]
// AD: %[[DX:.*]], %{{.*}} = weft.fft %[[RE]], %{{.*}} {axis = 0 : i64, inverse = true, norm = 0 : i64}
// AD: return %[[DX]]
func.func @rfft_vjp(%x: tensor<5xf64>, %d: tensor<3xf64>) -> tensor<5xf64> {
  %0:2 = weft.vjp @real_part(%x) cotangents(%d) wrt [0] : (tensor<5xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<5xf64>)
  return %0#1 : tensor<5xf64>
}
// AD-LABEL: func.func @rfft_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<5xf64>, %[[D:[a-z0-9]+]]: tensor<5xf64>
// AD: %[[RE:.*]], %{{.*}} = weft.rfft %[[D]] {axis = 0 : i64, norm = 0 : i64}
// AD: return %[[RE]]
func.func @rfft_jvp(%x: tensor<5xf64>, %d: tensor<5xf64>) -> tensor<3xf64> {
  %0:2 = weft.jvp @real_part(%x) tangents(%d) wrt [0] : (tensor<5xf64>, tensor<5xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}
func.func @real_part(%x: tensor<5xf64>) -> tensor<3xf64> {
  %0:2 = weft.rfft %x {axis = 0, norm = 0} : (tensor<5xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#0 : tensor<3xf64>
}

// -----

func.func @nothing(%x: tensor<0xf32>) {
  // expected-error @below {{'weft.rfft' op x has the shape (0,): a transform along axis 0 would have no element}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.rfft %x {axis = 0, norm = 0} : (tensor<0xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return
}
