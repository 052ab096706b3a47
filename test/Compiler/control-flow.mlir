// Control flow on tensors runs: branches, counted and other loops, state that trades places or grows.
// RUN: weft-run %s --entry=branch --arg='dense<true> : tensor<i1>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=TRUE
// RUN: weft-run %s --entry=branch --arg='dense<false> : tensor<i1>' --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --print | FileCheck %s --check-prefix=FALSE
// RUN: weft-run %s --entry=swap --arg='dense<3> : tensor<i64>' --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<[3, 4]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=SWAP
// RUN: weft-run %s --entry=double --arg='dense<[1, 2]> : tensor<2xi32>' --arg='dense<20> : tensor<i32>' --print | FileCheck %s --check-prefix=DOUBLE
// RUN: weft-run %s --entry=grow --arg='dense<2> : tensor<i64>' --arg='dense<[1, 2]> : tensor<2xi32>' --print | FileCheck %s --check-prefix=GROW
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

// Prints come in program order, once per turn.
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

// SAME: error: {{.*}}add: the shapes do not broadcast: axis 0 of the result has two sizes
func.func @same(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = weft.add %x, %y : tensor<?xi32>
  return %0 : tensor<?xi32>
}

// PICK: error: {{.*}}gather: index 2 is out of range for an axis of size 2
func.func @pick(%x: tensor<2xi32>, %i: tensor<2xi32>) -> tensor<2xi32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
