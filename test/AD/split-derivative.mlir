// A function with its derivative in it becomes two: what depends on no cotangent goes forward, with all effects, and saves what
// the other part needs, by a minimum cut.
// RUN: weft-opt %s -weft-differentiate -weft-split-derivative -symbol-dce -verify-each | FileCheck %s

// An argument and a result are saved: the product is neither, and is not needed.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x2xf32>) -> tensor<4x2xf32>
// CHECK-SAME: weft.saved = array<i64: 0, 0, 1, 0>
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[X]], %[[W]]
// CHECK-NEXT: weft.print "once"
// CHECK-NEXT: %[[Y:.*]] = weft.exp %[[P]]
// CHECK-NEXT: return %[[Y]] : tensor<4x2xf32>
// CHECK-LABEL: func.func @product_backward(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[Y:.*]]: tensor<4x2xf32>, %[[D:.*]]: tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[DP:.*]] = weft.multiply %[[D]], %[[Y]]
// CHECK-NEXT: %[[DW:.*]] = weft.matmul %[[X]], %[[DP]] {transpose_lhs = true}
// CHECK-NEXT: return %[[DW]]
func.func private @f(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %0 = weft.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  weft.print "once"
  %1 = weft.exp %0 : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
func.func @product(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %d: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>)
    attributes {weft.split = {inputs = 2 : i64, results = 1 : i64}} {
  %0:2 = weft.record @f(%x, %w) wrt [1] : (tensor<4x3xf32>, tensor<3x2xf32>) -> (tensor<4x2xf32>, !weft.record)
  %1 = weft.pull %0#1(%d) : (tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0#0, %1 : tensor<4x2xf32>, tensor<3x2xf32>
}

// Of a loop of unknown trip count the stack and the count, an index, are saved. One part is asked for, and what the other one
// used goes with that.
// CHECK-NOT: func.func private
// CHECK-NOT: weft.variable @u
// CHECK: weft.variable @v
// CHECK-NOT: @iterations_backward
// CHECK-LABEL: func.func @iterations(
// CHECK-SAME: %[[COUNT:.*]]: tensor<i64>, %[[STACK:.*]]: tensor<?x2xf32>, %[[D:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK-SAME: weft.saved = array<i64: 1, 1, 1, 2>
// CHECK-NEXT: %[[ITEM:.*]] = weft.item %[[COUNT]]
// CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[ITEM]] : i64 to index
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[DH:.*]] = %[[D]])
// CHECK: weft.stack_load %[[STACK]]
// CHECK-LABEL: func.func @reads
weft.variable @u = dense<1.0> : tensor<2xf32>
weft.variable @v = dense<1.0> : tensor<2xf32>
func.func private @loop(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %u = weft.handle @u : !weft.var<tensor<2xf32>>
  weft.assign %u, %x : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = weft.item %n : tensor<i64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = scf.for %i = %c0 to %1 step %c1 iter_args(%h = %x) -> tensor<2xf32> {
    %3 = weft.sin %h : tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %2 : tensor<2xf32>
}
func.func @iterations(%x: tensor<2xf32>, %n: tensor<i64>, %d: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    attributes {weft.split = {inputs = 2 : i64, results = 1 : i64, part = "backward"}} {
  %0:2 = weft.record @loop(%x, %n) wrt [0] : (tensor<2xf32>, tensor<i64>) -> (tensor<2xf32>, !weft.record)
  %1 = weft.pull %0#1(%d) : (tensor<2xf32>) -> tensor<2xf32>
  return %0#0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func @reads() -> tensor<2xf32> {
  %v = weft.handle @v : !weft.var<tensor<2xf32>>
  %0 = weft.read %v : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A variable that is read twice is saved once, whatever is written to another one between; what is read behind a write to it is
// another value.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME: weft.saved = array<i64: 1, 1, 1, 2, 1, 3>
// CHECK: %[[W:.*]] = weft.read
// CHECK-NEXT: %[[A:.*]] = weft.multiply %{{.*}}, %[[W]]
// CHECK-NEXT: weft.assign
// CHECK-NEXT: weft.print
// CHECK-NEXT: %[[B:.*]] = weft.multiply %[[A]], %[[W]]
// CHECK-NEXT: weft.handle
// CHECK-NEXT: weft.assign
// CHECK-NEXT: %[[LATER:.*]] = weft.read
// CHECK-NEXT: weft.multiply %[[LATER]], %[[B]]
// CHECK-NEXT: %[[Y:.*]] = weft.sin
// CHECK: return %[[Y]], %[[W]], %[[LATER]], %{{.*}} :
weft.variable @w = dense<1.0> : tensor<2xf32>
weft.variable @seen = dense<1.0> : tensor<2xf32>
func.func private @reading(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = weft.handle @w : !weft.var<tensor<2xf32>>
  %seen = weft.handle @seen : !weft.var<tensor<2xf32>>
  %0 = weft.read %w : tensor<2xf32>
  %1 = weft.multiply %x, %0 : tensor<2xf32>
  weft.assign %seen, %1 : tensor<2xf32>
  weft.print "{}", %1 : tensor<2xf32>
  %2 = weft.read %w : tensor<2xf32>
  %3 = weft.multiply %1, %2 : tensor<2xf32>
  %again = weft.handle @w : !weft.var<tensor<2xf32>>
  weft.assign %again, %3 : tensor<2xf32>
  %4 = weft.read %w : tensor<2xf32>
  %5 = weft.multiply %4, %3 : tensor<2xf32>
  %6 = weft.sin %5 : tensor<2xf32>
  return %6 : tensor<2xf32>
}
func.func @tied(%x: tensor<2xf32>, %d: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    attributes {weft.split = {inputs = 1 : i64, results = 1 : i64}} {
  %0:2 = weft.record @reading(%x) wrt [0] : (tensor<2xf32>) -> (tensor<2xf32>, !weft.record)
  %1 = weft.pull %0#1(%d) : (tensor<2xf32>) -> tensor<2xf32>
  return %0#0, %1 : tensor<2xf32>, tensor<2xf32>
}

// What a branch of the pullback wants of a sum is its size: that is saved, and not the sum.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: -> (tensor<?xf32>, tensor<i1>, tensor<i64>)
// CHECK: %[[SUM:.*]] = weft.sum
// CHECK: %[[SIZE:.*]] = weft.size %[[SUM]] {axis = 0 : i64}
// CHECK: return %{{.*}}, %{{.*}}, %[[SIZE]] : tensor<?xf32>, tensor<i1>, tensor<i64>
// CHECK-LABEL: func.func @sizes_backward(
// CHECK-NOT: weft.sum
// CHECK: weft.subtract %arg3
func.func private @grows(%y: tensor<?xf32>, %n: tensor<i64>, %p: tensor<i1>) -> tensor<?xf32> {
  %m = weft.size %y {axis = 0 : i64} : (tensor<?xf32>) -> tensor<i64>
  %x = weft.broadcast %y to [%n, %m] : (tensor<?xf32>) -> tensor<?x?xf32>
  %s = weft.sum %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = weft.item %p : tensor<i1>
  %2 = scf.if %1 -> tensor<?xf32> {
    scf.yield %s : tensor<?xf32>
  } else {
    %3 = weft.slice %s from [0] to [%n] by [1] : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %3 : tensor<?xf32>
  }
  return %2 : tensor<?xf32>
}
func.func @sizes(%x: tensor<?xf32>, %n: tensor<i64>, %p: tensor<i1>, %d: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {weft.split = {inputs = 3 : i64, results = 1 : i64}} {
  %0:2 = weft.record @grows(%x, %n, %p) wrt [0] : (tensor<?xf32>, tensor<i64>, tensor<i1>) -> (tensor<?xf32>, !weft.record)
  %1 = weft.pull %0#1(%d) : (tensor<?xf32>) -> tensor<?xf32>
  return %0#0, %1 : tensor<?xf32>, tensor<?xf32>
}
