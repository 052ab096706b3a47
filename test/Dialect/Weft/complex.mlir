// Ops on complex numbers: their text and types, what they refuse, and that derivatives conjugate.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @ops
// CHECK: weft.complex %{{.*}}, %{{.*}} : tensor<2x?xf32>, tensor<f32>
// CHECK: weft.conj %{{.*}} : tensor<2x?xcomplex<f32>>
// CHECK: weft.abs %{{.*}} : tensor<2x?xcomplex<f32>>
func.func @ops(%x: tensor<2x?xf32>, %y: tensor<f32>) -> tensor<2x?xf32> {
  %z = weft.complex %x, %y : tensor<2x?xf32>, tensor<f32>
  %w = weft.conj %z : tensor<2x?xcomplex<f32>>
  %a = weft.abs %w : tensor<2x?xcomplex<f32>>
  return %a : tensor<2x?xf32>
}

// AD-LABEL: func.func @product_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2xcomplex<f64>>, %[[Y:[a-z0-9]+]]: tensor<2xcomplex<f64>>, %[[D:[a-z0-9]+]]: tensor<2xcomplex<f64>>
// AD: %[[C:.*]] = weft.conj %[[Y]]
// AD: %[[DX:.*]] = weft.multiply %[[D]], %[[C]]
// AD: return %[[DX]]
func.func @product(%x: tensor<2xcomplex<f64>>, %y: tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>> {
  %z = weft.multiply %x, %y : tensor<2xcomplex<f64>>
  return %z : tensor<2xcomplex<f64>>
}
func.func @product_vjp(%x: tensor<2xcomplex<f64>>, %y: tensor<2xcomplex<f64>>, %d: tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>> {
  %0:2 = weft.vjp @product(%x, %y) cotangents(%d) wrt [0]
      : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>)
  return %0#1 : tensor<2xcomplex<f64>>
}

// -----

// The cotangent of a part is that of the number with zeros as the other part, and conversely.
func.func @real(%x: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %y = weft.real %x : tensor<2xcomplex<f32>>
  return %y : tensor<2xf32>
}
// AD-LABEL: func.func @real_vjp(
// AD: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// AD: weft.complex %arg1, %[[ZERO]] : tensor<2xf32>, tensor<f32>
func.func @real_vjp(%x: tensor<2xcomplex<f32>>, %d: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0:2 = weft.vjp @real(%x) cotangents(%d) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xcomplex<f32>>)
  return %0#1 : tensor<2xcomplex<f32>>
}

// AD-LABEL: func.func @real_jvp(
// AD: weft.real %arg1 : tensor<2xcomplex<f32>>
func.func @real_jvp(%x: tensor<2xcomplex<f32>>, %t: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0:2 = weft.jvp @real(%x) tangents(%t) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

func.func @imag(%x: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %y = weft.imag %x : tensor<2xcomplex<f32>>
  return %y : tensor<2xf32>
}
// AD-LABEL: func.func @imag_vjp(
// AD: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// AD: weft.complex %[[ZERO]], %arg1 : tensor<f32>, tensor<2xf32>
func.func @imag_vjp(%x: tensor<2xcomplex<f32>>, %d: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0:2 = weft.vjp @imag(%x) cotangents(%d) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xcomplex<f32>>)
  return %0#1 : tensor<2xcomplex<f32>>
}

// AD-LABEL: func.func @imag_jvp(
// AD: weft.imag %arg1 : tensor<2xcomplex<f32>>
func.func @imag_jvp(%x: tensor<2xcomplex<f32>>, %t: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0:2 = weft.jvp @imag(%x) tangents(%t) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

func.func @conj(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %y = weft.conj %x : tensor<2xcomplex<f32>>
  return %y : tensor<2xcomplex<f32>>
}
// AD-LABEL: func.func @conj_vjp(
// AD: weft.conj %arg1 : tensor<2xcomplex<f32>>
func.func @conj_vjp(%x: tensor<2xcomplex<f32>>, %d: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0:2 = weft.vjp @conj(%x) cotangents(%d) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>)
  return %0#1 : tensor<2xcomplex<f32>>
}

// AD-LABEL: func.func @conj_jvp(
// AD: weft.conj %arg1 : tensor<2xcomplex<f32>>
func.func @conj_jvp(%x: tensor<2xcomplex<f32>>, %t: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0:2 = weft.jvp @conj(%x) tangents(%t) wrt [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>)
  return %0#1 : tensor<2xcomplex<f32>>
}

func.func @complex(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %z = weft.complex %x, %y : tensor<2xf32>
  return %z : tensor<2xcomplex<f32>>
}
// AD-LABEL: func.func @complex_vjp(
// AD: %[[RE:.*]] = weft.real %arg2 : tensor<2xcomplex<f32>>
// AD: %[[IM:.*]] = weft.imag %arg2 : tensor<2xcomplex<f32>>
// AD: return %[[RE]], %[[IM]]
func.func @complex_vjp(%x: tensor<2xf32>, %y: tensor<2xf32>, %d: tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:3 = weft.vjp @complex(%x, %y) cotangents(%d) wrt [0, 1] : (tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<2xf32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>
}

// AD-LABEL: func.func @complex_jvp(
// AD: weft.complex %arg2, %arg3 : tensor<2xf32>
func.func @complex_jvp(%x: tensor<2xf32>, %y: tensor<2xf32>, %s: tensor<2xf32>, %t: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0:2 = weft.jvp @complex(%x, %y) tangents(%s, %t) wrt [0, 1] : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>)
  return %0#1 : tensor<2xcomplex<f32>>
}

// -----

func.func @less(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'weft.less' op lhs must be a real number or bool (bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is c64(2,)}}
  %y = weft.less %x, %x : tensor<2xcomplex<f32>>
  return
}

// -----

func.func @cast(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'weft.cast' op x is c64, and f32 has no imaginary part: take real(x) or imag(x)}}
  %y = weft.cast %x to f32 : tensor<2xcomplex<f32>>
  return
}

// -----

func.func @parts(%x: tensor<2xf32>) {
  // expected-error @+1 {{'weft.real' op x must be complex (c64, c128), but it is f32(2,)}}
  %y = weft.real %x : tensor<2xf32>
  return
}
