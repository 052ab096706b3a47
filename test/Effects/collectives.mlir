// Collectives are effects, in one order with prints, asserts and host calls, of whatever group: ranks that run one program do the
// same ones in the same order. One may stop the call, and so comes between the writes around it. None is dropped, merged with an
// equal one, or moved out of a loop.
// RUN: weft-opt %s --weft-insert-control-deps | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-print-effect-order | FileCheck %s --check-prefix=ORDER --implicit-check-not=UNORDERED --implicit-check-not="NO CONFLICT"
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=AFTER
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=7 --weft-erase-tokens | FileCheck %s --check-prefix=AFTER

weft.variable @v : tensor<f32>

// CHECK-LABEL: func @one_order
// CHECK: %[[T0:.*]] = weft.begin
// CHECK: %[[T1:.*]] = weft.print "a" after %[[T0]]
// CHECK: %[[A:.*]], %[[T2:.*]] = weft.all_reduce_sum %arg0 after %[[T1]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK: %[[B:.*]], %[[T3:.*]] = weft.broadcast_rank %arg0 after %[[T2]] {group = 1 : i64, root = 0 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK: %[[T4:.*]] = weft.rank_barrier after %[[T3]] {group = 0 : i64}
// CHECK: %[[T5:.*]] = weft.assert %arg1, "c" after %[[T4]]
// CHECK: weft.finish %[[T5]]
// CHECK: return %[[A]], %[[B]]
// AFTER-LABEL: func @one_order
// AFTER: weft.print "a"
// AFTER: weft.all_reduce_sum
// AFTER: weft.broadcast_rank
// AFTER: weft.rank_barrier
// AFTER: weft.assert
func.func @one_order(%x: tensor<f32>, %c: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  weft.print "a"
  %0 = weft.all_reduce_sum %x {axes = array<i64>, replicas = 0 : i64, group = 0 : i64} : (tensor<f32>) -> tensor<f32>
  %1 = weft.broadcast_rank %x {root = 0 : i64, group = 1 : i64} : (tensor<f32>) -> tensor<f32>
  weft.rank_barrier {group = 0 : i64}
  weft.assert %c, "c" : tensor<i1>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// ORDER-LABEL: @between_writes
// ORDER: assign1 -> sum: conflict
// ORDER: sum -> assign2: conflict
func.func @between_writes(%x: tensor<f32>) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  weft.assign %v, %x {name = "assign1"} : tensor<f32>
  %0 = weft.all_reduce_sum %x {name = "sum", axes = array<i64>, replicas = 0 : i64, group = 0 : i64} : (tensor<f32>) -> tensor<f32>
  weft.assign %v, %0 {name = "assign2"} : tensor<f32>
  return %0 : tensor<f32>
}

// Nobody wants the first; the others are equal, and none of them is another.
// AFTER-LABEL: func @each_is_done
// AFTER-COUNT-3: weft.all_gather
func.func @each_is_done(%x: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = weft.all_gather %x {axis = 0 : i64, ranks = 4 : i64, group = 0 : i64} : (tensor<2xf32>) -> tensor<8xf32>
  %1 = weft.all_gather %x {axis = 0 : i64, ranks = 4 : i64, group = 0 : i64} : (tensor<2xf32>) -> tensor<8xf32>
  %2 = weft.all_gather %x {axis = 0 : i64, ranks = 4 : i64, group = 0 : i64} : (tensor<2xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// AFTER-LABEL: func @in_a_loop
// AFTER: scf.for
// AFTER: weft.all_reduce_max
func.func @in_a_loop(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<f32> {
    %1 = weft.all_reduce_max %x {axes = array<i64>, replicas = 0 : i64, group = 0 : i64} : (tensor<f32>) -> tensor<f32>
    %2 = weft.add %y, %1 : tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
