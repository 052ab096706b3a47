// Control flow on tensors runs: branches, counted and other loops, state that is swapped or grows.
// RUN: weft-run %s --entry=branch --arg='dense<true> : tensor<i1>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=TRUE
// RUN: weft-run %s --entry=branch --arg='dense<false> : tensor<i1>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=FALSE
// RUN: weft-run %s --entry=swap --arg='dense<3> : tensor<i64>' --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<[3, 4]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=SWAP
// RUN: weft-run %s --entry=double --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<20> : tensor<i32>' --print | FileCheck %s --check-prefix=DOUBLE
// RUN: weft-run %s --entry=grow --arg='dense<2> : tensor<i64>' --arg='dense<[1, 2]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=GROW
// RUN: weft-run %s --entry=chosen --arg='dense<0> : tensor<i64>' --arg='dense<2> : tensor<i64>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=FIRST
// RUN: weft-run %s --entry=chosen --arg='dense<1> : tensor<i64>' --arg='dense<2> : tensor<i64>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=OTHER
// RUN: weft-compile %s --compile-to=bufferize -o - | FileCheck %s --check-prefix=FREED
// RUN: weft-run %s --entry=either --arg='dense<true> : tensor<i1>' --arg='dense<[1, 2, 3]> : tensor<3xi32>' --arg='dense<[4, 5]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=LONGER
// RUN: weft-run %s --entry=either --arg='dense<false> : tensor<i1>' --arg='dense<[1, 2, 3]> : tensor<3xi32>' --arg='dense<[4, 5]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=SHORTER
// RUN: weft-run %s --entry=added_in_place --arg='dense<[1.0, 2.0, 3.0]> : tensor<3xf32>' --print | FileCheck %s --check-prefix=ADDED
// RUN: not weft-run %s --entry=same --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<[1, 2, 3]> : tensor<3xi32>' --print 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not weft-run %s --entry=pick --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<[0, 2]> : tensor<2xi32>' --print 2>&1 | FileCheck %s --check-prefix=PICK

// TRUE: tensor([2, 4]
// FALSE: tensor([1, 4]
func.func @branch(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %c = weft.item %p : tensor<i1>
  %r = scf.if %c -> tensor<2xf32> {
    %0 = weft.add %x, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  } else {
    %0 = weft.multiply %x, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// SWAP: tensor([3, 4]
// SWAP: tensor([1, 2]
func.func @swap(%n: tensor<i64>, %x: tensor<2xi32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %n0 = weft.item %n : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r:2 = scf.for %i = %c0 to %n0 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<2xi32>, tensor<2xi32>) : i64 {
    scf.yield %b, %a : tensor<2xi32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}

// Prints come in program order, once per iteration.
// DOUBLE: now tensor([2, 4]
// DOUBLE-NEXT: now tensor([4, 8]
// DOUBLE-NEXT: now tensor([8, 16]
// DOUBLE: tensor([8, 16]
func.func @double(%x: tensor<2xi32>, %limit: tensor<i32>) -> tensor<2xi32> {
  %r = scf.while (%a = %x) : (tensor<2xi32>) -> tensor<2xi32> {
    %s = weft.sum %a {axes = array<i64: 0>} : (tensor<2xi32>) -> tensor<i32>
    %l = weft.less %s, %limit : tensor<i32>
    %c = weft.item %l : tensor<i1>
    scf.condition(%c) %a : tensor<2xi32>
  } do {
  ^bb0(%a: tensor<2xi32>):
    %b = weft.add %a, %a : tensor<2xi32>
    weft.print "now {}", %b : tensor<2xi32>
    scf.yield %b : tensor<2xi32>
  }
  return %r : tensor<2xi32>
}

// GROW: tensor([1, 2, 1, 2, 1, 2, 1, 2]
func.func @grow(%n: tensor<i64>, %x: tensor<?xi32>) -> tensor<?xi32> {
  %n0 = weft.item %n : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%a = %x) -> tensor<?xi32> : i64 {
    %0 = weft.concatenate %a, %a {axis = 0 : i64} : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    scf.yield %0 : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}

// Either buffer lives as long as the one that is chosen among them: no later temporary takes its memory.
// FIRST: tensor([2, 4]
// FIRST: tensor([-4, -8]
// OTHER: tensor([0, 6]
// OTHER: tensor([-4, -8]
func.func @chosen(%p: tensor<i64>, %n: tensor<i64>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p0 = weft.item %p : tensor<i64>
  %i = arith.index_cast %p0 : i64 to index
  %n0 = weft.item %n : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<2xf32>) : i64 {
    %0 = weft.add %s, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  %b = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<2xf32>) : i64 {
    %0 = weft.multiply %s, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  %chosen = scf.index_switch %i -> tensor<2xf32>
  case 0 {
    scf.yield %a : tensor<2xf32>
  }
  default {
    scf.yield %b : tensor<2xf32>
  }
  %d = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<2xf32>) : i64 {
    %0 = weft.subtract %s, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  %e = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %d) -> (tensor<2xf32>) : i64 {
    %0 = weft.subtract %s, %x : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  %y = weft.add %chosen, %d : tensor<2xf32>
  %z = weft.add %e, %d : tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// Buffers of unknown size are not freed before that either.
// FREED-LABEL: func.func @chosen_of_unknown_size
// FREED: %[[CHOSEN:.*]] = arith.select %{{.*}} : memref<?xf32>
// FREED-NOT: memref.dealloc
// FREED: linalg.generic {{.*}} ins(%[[CHOSEN]],
// FREED: memref.dealloc
func.func @chosen_of_unknown_size(%p: tensor<i64>, %n: tensor<i64>, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %p0 = weft.item %p : tensor<i64>
  %i = arith.index_cast %p0 : i64 to index
  %n0 = weft.item %n : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<?xf32>) : i64 {
    %0 = weft.add %s, %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %b = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<?xf32>) : i64 {
    %0 = weft.multiply %s, %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %chosen = scf.index_switch %i -> tensor<?xf32>
  case 0 {
    scf.yield %a : tensor<?xf32>
  }
  default {
    scf.yield %b : tensor<?xf32>
  }
  %d = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %x) -> (tensor<?xf32>) : i64 {
    %0 = weft.subtract %s, %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %e = scf.for %k = %c0 to %n0 step %c1 iter_args(%s = %d) -> (tensor<?xf32>) : i64 {
    %0 = weft.subtract %s, %x : tensor<?xf32>
    scf.yield %0 : tensor<?xf32>
  }
  %y = weft.add %chosen, %d : tensor<?xf32>
  %z = weft.add %e, %d : tensor<?xf32>
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// Branches may give tensors of different sizes, which is no choice between their elements.
// LONGER: tensor([1, 2, 3], shape=(3,)
// LONGER: tensor([2, 4, 6], shape=(3,)
// SHORTER: tensor([4, 5], shape=(2,)
// SHORTER: tensor([8, 10], shape=(2,)
func.func @either(%p: tensor<i1>, %x: tensor<?xi32>, %y: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %c = weft.item %p : tensor<i1>
  %r = scf.if %c -> tensor<?xi32> {
    scf.yield %x : tensor<?xi32>
  } else {
    scf.yield %y : tensor<?xi32>
  }
  %s = weft.add %r, %r : tensor<?xi32>
  return %r, %s : tensor<?xi32>, tensor<?xi32>
}

// What is added to a stack is summed once: (1 + 1) * 1 + (1 + 2) * 2 + (1 + 3) * 3.
// ADDED: tensor(20,
func.func @added_in_place(%x: tensor<3xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %stack = weft.constant dense<1.0> : tensor<1x3xf32>
  %0 = weft.stack_add %x to %stack[%c0] : tensor<3xf32> to tensor<1x3xf32>
  %1 = weft.stack_load %0[%c0] : tensor<1x3xf32> to tensor<3xf32>
  %2 = weft.multiply %1, %x : tensor<3xf32>
  %3 = weft.sum %2 {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// SAME: error: {{.*}}add: the shapes do not broadcast: 2 meets 3 in axis 0 of the result; an unknown size never stretches
func.func @same(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = weft.add %x, %y : tensor<?xi32>
  return %0 : tensor<?xi32>
}

// PICK: error: {{.*}}gather: index 2 is out of range for an axis of size 2
func.func @pick(%x: tensor<2xi32>, %i: tensor<2xi32>) -> tensor<2xi32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
