// The op check_indices: its text, that it is never dropped, and what it says of indices that are no integers.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// Indices of any shape, against a size that may be known only when it runs.
// CHECK-LABEL: func.func @checks
func.func @checks(%i: tensor<2x?xi32>, %one: tensor<i64>, %size: index) {
  // CHECK: weft.check_indices %{{.*}} below %{{.*}} for "gather" : tensor<2x?xi32>
  weft.check_indices %i below %size for "gather" : tensor<2x?xi32>
  // CHECK: weft.check_indices %{{.*}} below %{{.*}} for "scatter_add" {note = "kept"} : tensor<i64>
  weft.check_indices %one below %size for "scatter_add" {note = "kept"} : tensor<i64>
  return
}

// -----

// An index is an integer.
func.func @floats(%x: tensor<2xf32>, %size: index) {
  // expected-error @below {{'weft.check_indices' op indices must be an integer (i32, i64), but it is f32(2,)}}
  weft.check_indices %x below %size for "gather" : tensor<2xf32>
  return
}

// -----

// The size is one of the compiler's own integers.
func.func @size(%i: tensor<2xi32>, %size: i64) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%size' expects different type than prior uses: 'index' vs 'i64'}}
  weft.check_indices %i below %size for "gather" : tensor<2xi32>
  return
}
