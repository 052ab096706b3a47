// The op replicate: its text, and what it says of a count that is no number.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// The first size follows from a value; a written type may know it.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %n: tensor<i64>, %s: tensor<i1>) {
  // CHECK: weft.replicate %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<i64>) -> tensor<?x4x?xf32>
  %0 = weft.replicate %x, %n : (tensor<4x?xf32>, tensor<i64>) -> tensor<?x4x?xf32>
  // CHECK: weft.replicate %{{.*}}, %{{.*}} : (tensor<i1>, tensor<i64>) -> tensor<3xi1>
  %1 = weft.replicate %s, %n : (tensor<i1>, tensor<i64>) -> tensor<3xi1>
  return
}

// A count that is known makes a broadcast; the written type may know less. A negative one is left
// to fail when it runs.
// FOLD-LABEL: func.func @known
// FOLD-DAG: %[[Y:.*]] = weft.broadcast %{{.*}} {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
// FOLD-DAG: %[[W:.*]] = weft.widen %[[Y]] : tensor<2x3xf32> to tensor<?x3xf32>
// FOLD-DAG: %[[BAD:.*]] = weft.replicate
// FOLD: return %[[W]], %[[BAD]]
func.func @known(%x: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %two = weft.constant dense<2> : tensor<i32>
  %0 = weft.replicate %x, %two : (tensor<3xf32>, tensor<i32>) -> tensor<?x3xf32>
  %less = weft.constant dense<-1> : tensor<i64>
  %1 = weft.replicate %x, %less : (tensor<3xf32>, tensor<i64>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

// There is one count.
func.func @counts(%x: tensor<4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{'weft.replicate' op count must be a scalar, but has shape (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.replicate %x, %n : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Iterations are counted in whole numbers.
func.func @dtype(%x: tensor<4xf32>, %n: tensor<f32>) {
  // expected-error @below {{'weft.replicate' op count must be an integer (i32, i64), but it is f32()}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.replicate %x, %n : (tensor<4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return
}
