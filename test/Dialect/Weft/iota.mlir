// The op iota: its text, and what it says of shapes that cannot be counted through.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes() {
  // CHECK: weft.iota [2, 3] {axis = 1 : i64, dtype = f32} : tensor<2x3xf32>
  %0 = weft.iota [2, 3] {dtype = f32, axis = 1 : i64} : tensor<2x3xf32>
  // CHECK: weft.iota [0] {axis = 0 : i64, dtype = i64} : tensor<0xi64>
  %1 = weft.iota [0] {dtype = i64, axis = 0 : i64} : tensor<0xi64>
  return
}

// -----

// Bools do not count.
func.func @dtype() {
  // expected-error @below {{'weft.iota' op dtype must be a number, but it is bool}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.iota [2] {dtype = i1, axis = 0 : i64} : tensor<2xi1>
  return
}

// -----

// A size of -1 would follow from nothing here.
func.func @negative() {
  // expected-error @below {{'weft.iota' op the shape has a size of -1, which is negative}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.iota [-1] {dtype = f32, axis = 0 : i64} : tensor<1xf32>
  return
}

// -----

// The result has one axis.
func.func @out_of_range() {
  // expected-error @below {{'weft.iota' op axis 1 is out of range for a tensor of shape (2,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.iota [2] {dtype = f32, axis = 1 : i64} : tensor<2xf32>
  return
}

// -----

// A scalar has no axis to count along.
func.func @scalar() {
  // expected-error @below {{'weft.iota' op axis 0 is out of range for a tensor of shape () (rank 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.iota [] {dtype = f32, axis = 0 : i64} : tensor<f32>
  return
}

// -----

// The size is checked before memory is asked for.
func.func @too_large() {
  // expected-error @below {{'weft.iota' op a tensor of shape (4294967296, 4294967296) has more bytes than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.iota [4294967296, 4294967296] {dtype = f32, axis = 0 : i64} : tensor<4294967296x4294967296xf32>
  return
}
