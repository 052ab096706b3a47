// The op assert: its text, that no assert is dropped or moved, and what it says of conditions that are none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// A condition of any shape; the values that the message shows; a check of sizes; one that never holds stays for the call to say so.
// CHECK-LABEL: func.func @asserts
func.func @asserts(%p: tensor<2x?xi1>, %x: tensor<f32>, %n: tensor<0xi64>, %size: tensor<i64>) {
  // CHECK: weft.assert %{{.*}}, "all hold" : tensor<2x?xi1>
  weft.assert %p, "all hold" : tensor<2x?xi1>
  // CHECK: weft.assert %{{.*}}, "x is {}", %{{.*}}, %{{.*}} {note = "kept"} : tensor<2x?xi1>, tensor<f32>, tensor<0xi64>
  weft.assert %p, "x is {}", %x, %n {note = "kept"} : tensor<2x?xi1>, tensor<f32>, tensor<0xi64>
  %no = weft.constant dense<false> : tensor<i1>
  // CHECK: weft.assert %{{.*}}, "{} elements", %{{.*}} {of_sizes = true} : tensor<i1>, tensor<i64>
  weft.assert %no, "{} elements", %size {of_sizes = true} : tensor<i1>, tensor<i64>
  // CHECK: weft.assert %{{.*}}, "{} is outside", %{{.*}} {error = "index", of_sizes = true} : tensor<i1>, tensor<i64>
  weft.assert %no, "{} is outside", %size {of_sizes = true, error = "index"} : tensor<i1>, tensor<i64>
  // CHECK: weft.assert %{{.*}}, "never" : tensor<i1>
  weft.assert %no, "never" : tensor<i1>
  return
}

// -----

// A number is no condition.
func.func @number(%n: tensor<2xi32>) {
  // expected-error @below {{'weft.assert' op condition must be bool (bool), but it is i32(2,)}}
  weft.assert %n, "n" : tensor<2xi32>
  return
}

// -----

// Sizes are i64 scalars.
func.func @sizes(%p: tensor<i1>, %n: tensor<2xi64>) {
  // expected-error @below {{'weft.assert' op a check of sizes takes scalars of i64, but not i64(2,)}}
  weft.assert %p, "{}", %n {of_sizes = true} : tensor<i1>, tensor<2xi64>
  return
}

// -----

// Only a check of sizes says which error it is, of two.
func.func @error(%p: tensor<i1>) {
  // expected-error @below {{'weft.assert' op the error is "index": that of a check of sizes is "value" or "index", or not given}}
  weft.assert %p, "m" {error = "index"} : tensor<i1>
  return
}

// -----

func.func @other_error(%p: tensor<i1>) {
  // expected-error @below {{'weft.assert' op the error is "dtype": that of a check of sizes is "value" or "index", or not given}}
  weft.assert %p, "m" {of_sizes = true, error = "dtype"} : tensor<i1>
  return
}

// -----

// Each has its {} in the message.
func.func @fields(%p: tensor<i1>, %n: tensor<i64>) {
  // expected-error @below {{'weft.assert' op a check of sizes has 2 {} for 1 sizes}}
  weft.assert %p, "{} of {}", %n {of_sizes = true} : tensor<i1>, tensor<i64>
  return
}

// -----

// There is no tensor of the library with these elements.
func.func @no_dtype(%p: tensor<i1>, %x: tensor<f80>) {
  // expected-error @below {{'weft.assert' op operand #1 must be variadic of ranked tensor of a dtype, but got 'tensor<f80>'}}
  weft.assert %p, "x", %x : tensor<i1>, tensor<f80>
  return
}
