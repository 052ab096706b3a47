// The ops vary and slice_own: their text, their types, and what they say of axes and sizes that are none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<8x?xf32>, %p: tensor<3xi1>) {
  // CHECK: weft.vary %{{.*}} {group = 7 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  %0 = weft.vary %x {group = 7 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  // CHECK: weft.slice_own %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  %1 = weft.slice_own %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.slice_own %{{.*}} {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  %2 = weft.slice_own %x {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  // CHECK: weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true}
  %3 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true} : (tensor<8x?xf32>) -> tensor<8x?xf32>
  return
}

// -----

func.func @size(%x: tensor<30xf32>) {
  // expected-error @below {{'weft.slice_own' op axis 0 of x has size 30, which is no multiple of the 4 ranks: the next are 28 and 32}}
  %0 = weft.slice_own %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<30xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @mean(%x: tensor<30xf32>) {
  // expected-error @below {{'weft.all_reduce_sum' op same is of sums}}
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true, mean = true} : (tensor<30xf32>) -> tensor<30xf32>
  return
}
