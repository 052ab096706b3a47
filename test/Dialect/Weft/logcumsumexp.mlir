// The op logcumsumexp: its text, its flags, and what it says of an axis that is not there.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result has x's type; flags that are off are not written.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %n: tensor<0xf64>) {
  // CHECK: weft.logcumsumexp %{{.*}} {axis = 1 : i64} : tensor<2x?xf32>
  %0 = weft.logcumsumexp %x {axis = 1 : i64} : tensor<2x?xf32>
  // CHECK: weft.logcumsumexp %{{.*}} {axis = 0 : i64, exclusive = true, reverse = true} : tensor<0xf64>
  %1 = weft.logcumsumexp %n {axis = 0 : i64, reverse = true, exclusive = true} : tensor<0xf64>
  return
}

// -----

// x has one axis.
func.func @out_of_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{'weft.logcumsumexp' op axis 1 is out of range for x of shape (4,) (rank 1)}}
  %0 = weft.logcumsumexp %x {axis = 1 : i64} : tensor<4xf32>
  return
}

// -----

// A scalar has none.
func.func @scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'weft.logcumsumexp' op axis 0 is out of range for x of shape () (rank 0)}}
  %0 = weft.logcumsumexp %x {axis = 0 : i64} : tensor<f32>
  return
}

// -----

// Logarithms are not whole numbers.
func.func @dtype(%x: tensor<2xi32>) {
  // expected-error @+1 {{'weft.logcumsumexp' op x must be floating (f16, bf16, f32, f64), but it is i32(2,)}}
  %0 = weft.logcumsumexp %x {axis = 0 : i64} : tensor<2xi32>
  return
}
