// The op eigh: its text, its types, its derivatives by some of its results, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x3xf64>) {
  // CHECK: weft.eigh %{{.*}} : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  %0:2 = weft.eigh %x : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return
}

// By the values alone nothing is divided.
// AD-LABEL: func.func @eigh_vjp(
// AD: weft.eigh
// AD-NOT: weft.divide
// AD: return
func.func @eigh_vjp(%x: tensor<3x3xf64>, %d: tensor<3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @values(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @eigh_jvp(
// AD: weft.eigh
// AD: %[[DY:.*]] = weft.sum
// AD: return %[[DY]]
func.func @eigh_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:2 = weft.jvp @values(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}
func.func @values(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:2 = weft.eigh %x : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return %0#0 : tensor<3xf64>
}

// Eigenvalues of a complex matrix are real, and its vectors turn by no number of length 1.
// CHECK-LABEL: func.func @complex
func.func @complex(%x: tensor<3x3xcomplex<f64>>) {
  // CHECK: weft.eigh %{{.*}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>)
  %0:2 = weft.eigh %x : (tensor<3x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>)
  return
}
// AD-LABEL: func.func @complex_vjp(
// AD: %[[W:.*]], %[[V:.*]] = weft.eigh
// AD: %[[C:.*]] = weft.conj %[[V]]
// AD: weft.multiply %[[C]]
// AD: %[[TURN:.*]] = weft.complex
// AD: weft.subtract %{{.*}}, %[[TURN]]
// AD: return
func.func @complex_vjp(%x: tensor<3x3xcomplex<f64>>, %d: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %0:2 = weft.vjp @vectors(%x) cotangents(%d) wrt [0] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#1 : tensor<3x3xcomplex<f64>>
}
func.func @vectors(%x: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
  %0:2 = weft.eigh %x : (tensor<3x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>)
  return %0#1 : tensor<3x3xcomplex<f64>>
}

// -----

func.func @vector(%x: tensor<3xf64>) {
  // expected-error @below {{'weft.eigh' op x has the shape (3,): a matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = weft.eigh %x : (tensor<3xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return
}
