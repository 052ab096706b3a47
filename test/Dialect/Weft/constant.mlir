// The op constant: its text, and what it says of values that are no tensor.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Elements or one for all; the type stands behind them, and NaN and infinities are words of bits.
// CHECK-LABEL: func.func @values
func.func @values() {
  // CHECK: weft.constant dense<[1.000000e+00, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  %0 = weft.constant dense<[1.0, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  // CHECK: weft.constant dense<true> : tensor<2x2xi1>
  %1 = weft.constant dense<true> : tensor<2x2xi1>
  // CHECK: weft.constant dense<-7> : tensor<i64>
  %2 = weft.constant dense<-7> : tensor<i64>
  // CHECK: weft.constant dense<> : tensor<0x3xf64>
  %3 = weft.constant dense<> : tensor<0x3xf64>
  return
}

// -----

// There is no tensor of the library with these elements.
func.func @no_dtype() {
  // expected-error @below {{'weft.constant' op attribute 'value' must be elements of a tensor of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2}}
  %0 = weft.constant dense<1.0> : tensor<2xf80>
  return
}

// -----

// The value has its type.
func.func @result() {
  // expected-error @below {{'weft.constant' op the value is of type 'tensor<2xf32>', but the result of 'tensor<3xf32>'}}
  %0 = "weft.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

// Even where the claim could be true of it: the text says one type only, the value's.
func.func @wider() -> tensor<?xf32> {
  // expected-error @below {{'weft.constant' op the value is of type 'tensor<2xf32>', but the result of 'tensor<?xf32>'}}
  %0 = "weft.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// No constant has more bytes than an address can count.
func.func @bytes() {
  // expected-error @below {{'weft.constant' op a tensor of shape (4611686018427387904, 4) has more bytes than 2^63 - 1}}
  %0 = weft.constant dense<1.0> : tensor<4611686018427387904x4xf32>
  return
}

// -----

// The elements stand in the text. A resource may be nowhere, as here.
func.func @resource() {
  // expected-error @below {{'weft.constant' op the value must be dense<..>, whose elements stand in the text}}
  %0 = weft.constant dense_resource<x> : tensor<f32>
  return
}

// -----

func.func @sparse() {
  // expected-error @below {{'weft.constant' op the value must be dense<..>, whose elements stand in the text}}
  %0 = weft.constant sparse<[[1]], 2.0> : tensor<4xf32>
  return
}
