// The pass weft-gather-variables: where the parts of variables are gathered, and which travel together.
// RUN: weft-opt %s --split-input-file --verify-each -weft-gather-variables | FileCheck %s

// Parts are equally long: what the last ones have behind the whole is cut off.
// CHECK:       weft.variable @w : tensor<2x2x2xf32>{{$}}
// CHECK:       weft.variable @odd : tensor<3xf64>{{$}}
// CHECK-LABEL: func @alone
// CHECK:         %[[H:.*]] = weft.handle @odd : !weft.var<tensor<3xf64>>
// CHECK-NEXT:    %[[P:.*]] = weft.read %[[H]] : tensor<3xf64>
// CHECK-NEXT:    %[[A:.*]] = weft.all_gather %[[P]] {axis = 0 : i64, group = 4 : i64, ranks = 3 : i64, same = true} : (tensor<3xf64>) -> tensor<9xf64>
// CHECK-NEXT:    %[[S:.*]] = weft.slice %[[A]] from [0] to [8] : (tensor<9xf64>) -> tensor<8xf64>
// CHECK-NEXT:    %[[R:.*]] = weft.reshape %[[S]] to [4, 2] : (tensor<8xf64>) -> tensor<4x2xf64>
// CHECK-NEXT:    %[[E:.*]] = weft.exp %[[R]]
// CHECK-NEXT:    return %[[E]]
weft.variable @w : tensor<2x2x2xf32>
weft.variable @odd : tensor<4x2xf64> {weft.cut_over_ranks = {group = 4 : i64, ranks = 3 : i64}}
func.func @alone() -> tensor<4x2xf64> {
  %0 = weft.handle @odd : !weft.var<tensor<4x2xf64>>
  %1 = weft.read %0 : tensor<4x2xf64>
  %2 = weft.exp %1 : tensor<4x2xf64>
  return %2 : tensor<4x2xf64>
}

// -----

// A value is gathered again where as many bytes of others are used in between: @v, the last of the forward pass, is kept
// for the backward pass, and @w is not.
// CHECK-LABEL: func @backward
// CHECK:         weft.handle @w
// CHECK:         weft.all_gather
// CHECK:         %[[Y:.*]] = weft.matmul
// CHECK:         weft.handle @v
// CHECK:         weft.all_gather
// CHECK:         %[[V:.*]] = weft.reshape
// CHECK-NEXT:    %[[Z:.*]] = weft.matmul %[[Y]], %[[V]]
// CHECK-NEXT:    %[[DY:.*]] = weft.matmul %[[Z]], %[[V]]
// CHECK:         weft.handle @w
// CHECK:         weft.all_gather
// CHECK:         weft.matmul %[[DY]]
weft.variable @w : tensor<256x256xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
weft.variable @v : tensor<256x256xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
func.func @backward(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = weft.handle @w : !weft.var<tensor<256x256xf32>>
  %w = weft.read %0 : tensor<256x256xf32>
  %1 = weft.handle @v : !weft.var<tensor<256x256xf32>>
  %v = weft.read %1 : tensor<256x256xf32>
  %y = weft.matmul %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %z = weft.matmul %y, %v : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %dy = weft.matmul %z, %v {transpose_b = true} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %dx = weft.matmul %dy, %w {transpose_b = true} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %dx : tensor<256x256xf32>
}

// -----

// Small ones of a group and a dtype that are next to each other travel together, and are kept: rows of the ranks are
// taken apart. One of another dtype travels alone.
// CHECK-LABEL: func @together
// CHECK:         %[[A:.*]] = weft.read %{{.*}} : tensor<2xf32>
// CHECK:         %[[B:.*]] = weft.read %{{.*}} : tensor<1xf32>
// CHECK-NEXT:    %[[OWN:.*]] = weft.concatenate %[[A]], %[[B]] {axis = 0 : i64} : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %[[ALL:.*]] = weft.all_gather %[[OWN]] {axis = 0 : i64, group = 0 : i64, ranks = 2 : i64, same = true}
// CHECK-NEXT:    %[[ROWS:.*]] = weft.reshape %[[ALL]] to [2, 3]
// CHECK-NEXT:    %[[SA:.*]] = weft.slice %[[ROWS]] from [0, 0] to [2, 2]
// CHECK-NEXT:    %[[RA:.*]] = weft.reshape %[[SA]] to [4]
// CHECK-NEXT:    %[[SB:.*]] = weft.slice %[[ROWS]] from [0, 2] to [2, 3]
// CHECK-NEXT:    %[[RB:.*]] = weft.reshape %[[SB]] to [2]
// CHECK-NEXT:    %[[SCALAR:.*]] = weft.slice %[[RB]] from [0] to [1]
// CHECK-NEXT:    weft.reshape %[[SCALAR]] to [] : (tensor<1xf32>) -> tensor<f32>
// CHECK:         weft.all_gather %{{.*}} : (tensor<1xf64>) -> tensor<2xf64>
// CHECK-NOT:     weft.all_gather
weft.variable @a : tensor<4xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
weft.variable @b : tensor<f32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
weft.variable @c : tensor<2xf64> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
func.func @together() -> (tensor<4xf32>, tensor<f32>, tensor<2xf64>, tensor<4xf32>) {
  %0 = weft.handle @a : !weft.var<tensor<4xf32>>
  %1 = weft.handle @b : !weft.var<tensor<f32>>
  %2 = weft.handle @c : !weft.var<tensor<2xf64>>
  %3 = weft.read %0 : tensor<4xf32>
  %4 = weft.read %1 : tensor<f32>
  %5 = weft.read %2 : tensor<2xf64>
  %6 = weft.exp %3 : tensor<4xf32>
  %7 = weft.exp %4 : tensor<f32>
  %8 = weft.exp %5 : tensor<2xf64>
  %9 = weft.read %0 : tensor<4xf32>
  return %6, %7, %8, %9 : tensor<4xf32>, tensor<f32>, tensor<2xf64>, tensor<4xf32>
}

// -----

// What a loop, a branch or a function that is called uses is gathered before it, once: ranks come to it as often.
// CHECK-LABEL: func @loop
// CHECK:         weft.all_gather
// CHECK:         %[[W:.*]] = weft.slice
// CHECK-NOT:     weft.all_gather
// CHECK:         scf.for
// CHECK-NEXT:      weft.multiply %{{.*}}, %[[W]]
weft.variable @w : tensor<3xf32> {weft.cut_over_ranks = {group = 0 : i64, ranks = 2 : i64}}
func.func private @scaled(%x: tensor<3xf32>, %h: !weft.var<tensor<3xf32>>) -> tensor<3xf32> {
  %0 = weft.read %h : tensor<3xf32>
  %1 = weft.multiply %x, %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func @loop(%x: tensor<3xf32>) -> tensor<3xf32> {
  %lower = arith.constant 0 : i64
  %upper = arith.constant 5 : i64
  %step = arith.constant 1 : i64
  %0 = scf.for %i = %lower to %upper step %step iter_args(%y = %x) -> (tensor<3xf32>) : i64 {
    %1 = weft.handle @w : !weft.var<tensor<3xf32>>
    %2 = func.call @scaled(%y, %1) : (tensor<3xf32>, !weft.var<tensor<3xf32>>) -> tensor<3xf32>
    scf.yield %2 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
