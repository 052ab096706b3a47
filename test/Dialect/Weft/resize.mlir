// The op resize: its text, and what it says of a count that is no number.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// The first size follows from a value; a written type may know it.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x?xf32>, %n: tensor<i64>, %s: tensor<?xi1>, %m: tensor<i32>) {
  // CHECK: weft.resize %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<i64>) -> tensor<?x?xf32>
  %0 = weft.resize %x, %n : (tensor<4x?xf32>, tensor<i64>) -> tensor<?x?xf32>
  // CHECK: weft.resize %{{.*}}, %{{.*}} : (tensor<?xi1>, tensor<i32>) -> tensor<3xi1>
  %1 = weft.resize %s, %m : (tensor<?xi1>, tensor<i32>) -> tensor<3xi1>
  return
}

// A count that is known makes a slice, or zeros behind x; a negative one is left to fail when it runs.
// FOLD-LABEL: func.func @known
// FOLD-DAG: %[[ZERO:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// FOLD-DAG: %[[LESS:.*]] = weft.slice %{{.*}} {limits = array<i64: 2>, starts = array<i64: 0>, strides = array<i64: 1>} : (tensor<3xf32>) -> tensor<2xf32>
// FOLD-DAG: %[[WIDE:.*]] = weft.widen %[[LESS]] : tensor<2xf32> to tensor<?xf32>
// FOLD-DAG: %[[MORE:.*]] = weft.pad %{{.*}}, %[[ZERO]] {high = array<i64: 2>, interior = array<i64: 0>, low = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// FOLD-DAG: %[[BAD:.*]] = weft.resize
// FOLD: return %[[WIDE]], %[[MORE]], %[[BAD]]
func.func @known(%x: tensor<3xf32>) -> (tensor<?xf32>, tensor<5xf32>, tensor<?xf32>) {
  %two = weft.constant dense<2> : tensor<i32>
  %0 = weft.resize %x, %two : (tensor<3xf32>, tensor<i32>) -> tensor<?xf32>
  %five = weft.constant dense<5> : tensor<i64>
  %1 = weft.resize %x, %five : (tensor<3xf32>, tensor<i64>) -> tensor<5xf32>
  %negative = weft.constant dense<-1> : tensor<i64>
  %2 = weft.resize %x, %negative : (tensor<3xf32>, tensor<i64>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<5xf32>, tensor<?xf32>
}

// -----

// A scalar has no slices.
func.func @scalar(%x: tensor<f32>, %n: tensor<i64>) {
  // expected-error @below {{'weft.resize' op x is a scalar, so it has no first axis}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.resize %x, %n : (tensor<f32>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

// There is one count.
func.func @counts(%x: tensor<4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{'weft.resize' op count must be a scalar, but has shape (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.resize %x, %n : (tensor<4xf32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

// Slices are counted in whole numbers.
func.func @dtype(%x: tensor<4xf32>, %n: tensor<f32>) {
  // expected-error @below {{'weft.resize' op count must be an integer (i32, i64), but it is f32()}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.resize %x, %n : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return
}
