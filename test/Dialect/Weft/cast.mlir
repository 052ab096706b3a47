// The op cast: its text, its types, and what it says of a dtype that does not exist.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The text names the dtype; the shape is that of the operand.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0xi64>, %scalar: tensor<i1>)
    -> (tensor<2x?xi32>, tensor<0xi1>, tensor<f64>) {
  // CHECK: weft.cast %{{.*}} to i32 : tensor<2x?xf32>
  %0 = weft.cast %x to i32 : tensor<2x?xf32>
  // CHECK: weft.cast %{{.*}} to i1 : tensor<0xi64>
  %1 = weft.cast %none to i1 : tensor<0xi64>
  // CHECK: weft.cast %{{.*}} to f64 : tensor<i1>
  %2 = weft.cast %scalar to f64 : tensor<i1>
  return %0, %1, %2 : tensor<2x?xi32>, tensor<0xi1>, tensor<f64>
}

// -----

func.func @no_dtype(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.cast' op attribute 'dtype' must be one of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN, f8E5M2}}
  %0 = weft.cast %x to f80 : tensor<2xf32>
  return
}

// -----

// A bool takes one byte and an f64 eight, so that only the result is too large.
func.func @too_large(%x: tensor<2305843009213693952xi1>) {
  // expected-error @below {{'weft.cast' op a tensor of shape (2305843009213693952,) has more bytes than 2^63 - 1}}
  %0 = weft.cast %x to f64 : tensor<2305843009213693952xi1>
  return
}
