// Stacks that begin as one empty stack are as many: what is stored to one is not in another.
// RUN: weft-run %s --entry=states --arg='dense<1.0> : tensor<f64>' --arg='dense<100.0> : tensor<f64>' --print | FileCheck %s
// RUN: weft-run %s --entry=growing --arg='dense<1.0> : tensor<f64>' --arg='dense<100.0> : tensor<f64>' --print | FileCheck %s
// RUN: weft-run %s --entry=captured --arg='dense<1.0> : tensor<f64>' --arg='dense<100.0> : tensor<f64>' --print | FileCheck %s
// RUN: weft-run %s --entry=branches --arg='dense<1.0> : tensor<f64>' --arg='dense<100.0> : tensor<f64>' --print | FileCheck %s
// RUN: weft-run %s --entry=twice --arg='dense<1.0> : tensor<f64>' --arg='dense<100.0> : tensor<f64>' --print | FileCheck %s
// CHECK: tensor(6,

// Two states of a loop; an iteration reads what the one before stored.
func.func @states(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %empty = weft.stack_empty(%c1) : tensor<?xf64>
  %r:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %empty, %q = %empty, %sum = %x) -> (tensor<?xf64>, tensor<?xf64>, tensor<f64>) {
    %some = arith.cmpi ugt, %i, %c0 : index
    %v = scf.if %some -> tensor<f64> {
      %0 = weft.stack_load %p[%c0] : tensor<?xf64> to tensor<f64>
      scf.yield %0 : tensor<f64>
    } else {
      scf.yield %x : tensor<f64>
    }
    %p1 = weft.stack_store %x in %p[%c0] {again} : tensor<f64> in tensor<?xf64>
    %q1 = weft.stack_store %y in %q[%c0] {again} : tensor<f64> in tensor<?xf64>
    %s = weft.add %sum, %v : tensor<f64>
    scf.yield %p1, %q1, %s : tensor<?xf64>, tensor<?xf64>, tensor<f64>
  }
  return %r#2 : tensor<f64>
}

// The same where the stacks grow, in a loop that ends by its state.
func.func @growing(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %empty = weft.stack_empty(%c5) : tensor<?xf64>
  %r:4 = scf.while (%i = %c0, %p = %empty, %q = %empty, %sum = %x)
      : (index, tensor<?xf64>, tensor<?xf64>, tensor<f64>) -> (index, tensor<?xf64>, tensor<?xf64>, tensor<f64>) {
    %more = arith.cmpi ult, %i, %c5 : index
    scf.condition(%more) %i, %p, %q, %sum : index, tensor<?xf64>, tensor<?xf64>, tensor<f64>
  } do {
  ^bb0(%i: index, %p: tensor<?xf64>, %q: tensor<?xf64>, %sum: tensor<f64>):
    %some = arith.cmpi ugt, %i, %c0 : index
    %v = scf.if %some -> tensor<f64> {
      %last = arith.subi %i, %c1 : index
      %0 = weft.stack_load %p[%last] : tensor<?xf64> to tensor<f64>
      scf.yield %0 : tensor<f64>
    } else {
      scf.yield %x : tensor<f64>
    }
    %next = arith.addi %i, %c1 : index
    %p0 = weft.stack_reserve %p for %next : tensor<?xf64>
    %p1 = weft.stack_store %x in %p0[%i] : tensor<f64> in tensor<?xf64>
    %q0 = weft.stack_reserve %q for %next : tensor<?xf64>
    %q1 = weft.stack_store %y in %q0[%i] : tensor<f64> in tensor<?xf64>
    %s = weft.add %sum, %v : tensor<f64>
    scf.yield %next, %p1, %q1, %s : index, tensor<?xf64>, tensor<?xf64>, tensor<f64>
  }
  return %r#3 : tensor<f64>
}

// A loop's state, and a stack that each iteration begins anew.
func.func @captured(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = weft.constant dense<0.0> : tensor<f64>
  %empty = weft.stack_empty(%c5) : tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %empty, %sum = %x) -> (tensor<?xf64>, tensor<f64>) {
    %some = arith.cmpi ugt, %i, %c0 : index
    %v = scf.if %some -> tensor<f64> {
      %0 = weft.stack_load %p[%c0] : tensor<?xf64> to tensor<f64>
      scf.yield %0 : tensor<f64>
    } else {
      scf.yield %x : tensor<f64>
    }
    %p1 = weft.stack_store %x in %p[%i] : tensor<f64> in tensor<?xf64>
    %q = scf.for %j = %c0 to %c5 step %c1 iter_args(%s = %empty) -> tensor<?xf64> {
      %q1 = weft.stack_store %y in %s[%j] : tensor<f64> in tensor<?xf64>
      scf.yield %q1 : tensor<?xf64>
    }
    %u = weft.stack_load %q[%i] : tensor<?xf64> to tensor<f64>
    %none = weft.multiply %u, %zero : tensor<f64>
    %s0 = weft.add %sum, %v : tensor<f64>
    %s1 = weft.add %s0, %none : tensor<f64>
    scf.yield %p1, %s1 : tensor<?xf64>, tensor<f64>
  }
  return %r#1 : tensor<f64>
}

// Both results of a branch, as the snapshots of two pieces of state before the first is taken.
func.func @branches(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %empty = weft.stack_empty(%c1) : tensor<?xf64>
  %r:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %empty, %q = %empty, %sum = %x) -> (tensor<?xf64>, tensor<?xf64>, tensor<f64>) {
    %some = arith.cmpi ugt, %i, %c0 : index
    %v:3 = scf.if %some -> (tensor<f64>, tensor<?xf64>, tensor<?xf64>) {
      %0 = weft.stack_load %p[%c0] : tensor<?xf64> to tensor<f64>
      scf.yield %0, %p, %q : tensor<f64>, tensor<?xf64>, tensor<?xf64>
    } else {
      scf.yield %x, %empty, %empty : tensor<f64>, tensor<?xf64>, tensor<?xf64>
    }
    %p1 = weft.stack_store %x in %v#1[%c0] {again} : tensor<f64> in tensor<?xf64>
    %q1 = weft.stack_store %y in %v#2[%c0] {again} : tensor<f64> in tensor<?xf64>
    %s = weft.add %sum, %v#0 : tensor<f64>
    scf.yield %p1, %q1, %s : tensor<?xf64>, tensor<?xf64>, tensor<f64>
  }
  return %r#2 : tensor<f64>
}

// One stack to which two values are stored.
func.func @twice(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %five = weft.constant dense<5.0> : tensor<f64>
  %empty = weft.stack_empty(%c2) : tensor<?xf64>
  %both = weft.stack_store %five in %empty[%c0] : tensor<f64> in tensor<?xf64>
  %p = weft.stack_store %x in %both[%c1] : tensor<f64> in tensor<?xf64>
  %q = weft.stack_store %y in %both[%c1] : tensor<f64> in tensor<?xf64>
  %0 = weft.stack_load %q[%c0] : tensor<?xf64> to tensor<f64>
  %1 = weft.stack_load %p[%c1] : tensor<?xf64> to tensor<f64>
  %2 = weft.add %0, %1 : tensor<f64>
  return %2 : tensor<f64>
}
