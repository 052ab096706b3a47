// The op qr, both of whose results have derivatives: its text, its types, its derivatives, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x5x3xf32>, %y: tensor<?x3xf64>) {
  // CHECK: weft.qr %{{.*}} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x3xf32>)
  %0:2 = weft.qr %x : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x3xf32>)
  // CHECK: weft.qr %{{.*}} {complete = true} : (tensor<?x3xf64>) -> (tensor<?x?xf64>, tensor<?x3xf64>)
  %1:2 = weft.qr %y {complete = true} : (tensor<?x3xf64>) -> (tensor<?x?xf64>, tensor<?x3xf64>)
  return
}

// A result without a cotangent counts as zeros.
// AD-LABEL: func.func @qr_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<5x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[Q:.*]], %[[R:.*]] = weft.qr %[[X]]
// AD: weft.broadcast
// AD: weft.triangular_solve %[[R]]
// AD-NEXT: %[[DX:.*]] = weft.transpose
// AD-NEXT: return %[[DX]]
func.func @qr_vjp(%x: tensor<5x3xf64>, %d: tensor<3x3xf64>) -> tensor<5x3xf64> {
  %0:2 = weft.vjp @triangle(%x) cotangents(%d) wrt [0] : (tensor<5x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<5x3xf64>)
  return %0#1 : tensor<5x3xf64>
}
// AD-LABEL: func.func @qr_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<5x3xf64>, %[[D:[a-z0-9]+]]: tensor<5x3xf64>
// AD: %[[Q:.*]], %[[R:.*]] = weft.qr %[[X]]
// AD: %[[DY:.*]] = weft.matmul %{{.*}}, %[[R]]
// AD: return %[[DY]]
func.func @qr_jvp(%x: tensor<5x3xf64>, %d: tensor<5x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @triangle(%x) tangents(%d) wrt [0] : (tensor<5x3xf64>, tensor<5x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @triangle(%x: tensor<5x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.qr %x : (tensor<5x3xf64>) -> (tensor<5x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}

// Of complex matrices the adjoint of the triangle is solved with.
// AD-LABEL: func.func @complex(
// AD: %[[Q:.*]], %[[R:.*]] = weft.qr
// AD: %[[C:.*]] = weft.conj %[[R]]
// AD: weft.triangular_solve %[[C]]
func.func @complex(%x: tensor<3x3xcomplex<f64>>, %d: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %0:2 = weft.vjp @columns(%x) cotangents(%d) wrt [0] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#1 : tensor<3x3xcomplex<f64>>
}
func.func @columns(%x: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %0:2 = weft.qr %x : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#0 : tensor<3x3xcomplex<f64>>
}

// -----

func.func @wide(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.qr' op x has the shape (2, 3): at least as many rows as columns are wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.qr %x : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>)
  return
}
