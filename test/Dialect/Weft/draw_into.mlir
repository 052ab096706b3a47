// The op draw_into: its text, and what cannot be a permutation.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @draws
func.func @draws(%x: tensor<2x?xf32>, %p: tensor<?xi32>, %s: i64, %n: i64) -> (tensor<2x?xf32>, tensor<?xi32>) {
  // CHECK: weft.draw_into %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x?xf32>
  %0 = weft.draw_into %x, %s, %n : tensor<2x?xf32>
  // CHECK: weft.draw_into %{{.*}}, %{{.*}}, %{{.*}} {permutation} : tensor<?xi32>
  %1 = weft.draw_into %p, %s, %n {permutation} : tensor<?xi32>
  return %0, %1 : tensor<2x?xf32>, tensor<?xi32>
}

// -----

// An order is of one line.
func.func @matrix(%x: tensor<2x3xi64>, %s: i64) -> tensor<2x3xi64> {
  // expected-error @below {{'weft.draw_into' op a permutation is of rank 1 and of i32 or i64, but it is 'tensor<2x3xi64>'}}
  %0 = weft.draw_into %x, %s, %s {permutation} : tensor<2x3xi64>
  return %0 : tensor<2x3xi64>
}

// -----

// Its numbers are integers.
func.func @floats(%x: tensor<3xf32>, %s: i64) -> tensor<3xf32> {
  // expected-error @below {{'weft.draw_into' op a permutation is of rank 1 and of i32 or i64, but it is 'tensor<3xf32>'}}
  %0 = weft.draw_into %x, %s, %s {permutation} : tensor<3xf32>
  return %0 : tensor<3xf32>
}
