// Loops look for interrupts before each iteration, where the module asks for it.
// RUN: weft-opt %s --weft-poll-loops --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file | weft-opt --split-input-file | FileCheck %s --check-prefix=SAME

// SAME: module attributes {weft.interruptible}
module attributes {weft.interruptible} {
  // CHECK-LABEL: func @loops
  func.func @loops(%x: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %many = arith.constant 1000000 : index
    // A number of iterations that is not known.
    // CHECK: scf.for
    // CHECK-NEXT: weft.poll
    %a = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<4xf32>) {
      %t = weft.tanh %s : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    // A few iterations on a few elements are over in no time.
    // CHECK: scf.for
    // CHECK-NOT: weft.poll
    // CHECK: weft.exp
    %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %a) -> (tensor<4xf32>) {
      %t = weft.exp %s : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    // Many are not, nor are a few of long loops.
    // CHECK: scf.for
    // CHECK-NEXT: weft.poll
    // CHECK: scf.for
    // CHECK-NEXT: weft.poll
    %d = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %b) -> (tensor<4xf32>) {
      %inner = scf.for %j = %c0 to %many step %c1 iter_args(%v = %s) -> (tensor<4xf32>) {
        %t = weft.sin %v : tensor<4xf32>
        scf.yield %t : tensor<4xf32>
      }
      scf.yield %inner : tensor<4xf32>
    }
    // Who knows when that ends.
    // CHECK: scf.while
    // CHECK-NEXT: weft.poll
    // CHECK-NEXT: scf.condition
    // CHECK: do
    // CHECK-NOT: weft.poll
    %e = scf.while (%s = %d) : (tensor<4xf32>) -> tensor<4xf32> {
      scf.condition(%c) %s : tensor<4xf32>
    } do {
    ^bb0(%s: tensor<4xf32>):
      %t = weft.cos %s : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    return %e : tensor<4xf32>
  }
}

// -----

// A module that asks for nothing stays as it is.
// CHECK-LABEL: func @as_it_is
// CHECK-NOT: weft.poll
func.func @as_it_is(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}
