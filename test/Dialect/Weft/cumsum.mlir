// The op cumsum: its text, its flags, and what it says of an axis that is not there.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result has x's type; flags that are off are not written.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %n: tensor<0xi32>) {
  // CHECK: weft.cumsum %{{.*}} {axis = 1 : i64} : tensor<2x?xf32>
  %0 = weft.cumsum %x {axis = 1 : i64} : tensor<2x?xf32>
  // CHECK: weft.cumsum %{{.*}} {axis = 0 : i64, exclusive = true, reverse = true} : tensor<0xi32>
  %1 = weft.cumsum %n {axis = 0 : i64, reverse = true, exclusive = true} : tensor<0xi32>
  return
}

// -----

// x has one axis.
func.func @out_of_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{'weft.cumsum' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  %0 = weft.cumsum %x {axis = 1 : i64} : tensor<4xf32>
  return
}

// -----

// A scalar has none.
func.func @scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'weft.cumsum' op axis 0 is out of range for x of shape () (rank 0)}}
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<f32>
  return
}

// -----

// Bools are not numbers.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @+1 {{'weft.cumsum' op x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool(2,)}}
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<2xi1>
  return
}
