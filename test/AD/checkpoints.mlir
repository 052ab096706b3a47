// Checkpoint budgets: loops keep the state of some iterations and run the iterations between again in reverse, a segment at a time.
// RUN: split-file %s %t
// RUN: weft-opt %t/known.mlir -weft-differentiate=checkpoint=sqrt -symbol-dce -verify-each | FileCheck %t/known.mlir
// RUN: weft-opt %t/known.mlir -weft-differentiate -symbol-dce -verify-each | FileCheck %t/known.mlir --check-prefix=NONE
// RUN: weft-opt %t/until.mlir -weft-differentiate -symbol-dce -verify-each | FileCheck %t/until.mlir
// RUN: weft-opt %t/effects.mlir -weft-differentiate=checkpoint=sqrt -symbol-dce -verify-each | FileCheck %t/effects.mlir
// RUN: weft-opt %t/unneeded.mlir -weft-differentiate=checkpoint=sqrt -symbol-dce -verify-each | FileCheck %t/unneeded.mlir
// RUN: weft-run %t/run.mlir --entry=kept --arg='dense<0.7> : tensor<f64>' --print | FileCheck %t/run.mlir
// RUN: weft-run %t/run.mlir --entry=all --arg='dense<0.7> : tensor<f64>' --print | FileCheck %t/run.mlir
// RUN: weft-opt %t/revolve.mlir -weft-differentiate -symbol-dce -verify-each | FileCheck %t/revolve.mlir
// RUN: weft-opt %t/idle.mlir -weft-differentiate -symbol-dce -verify-each | FileCheck %t/idle.mlir
// RUN: weft-opt %t/second.mlir -weft-differentiate -symbol-dce -verify-each | FileCheck %t/second.mlir
// RUN: weft-run %t/second.mlir --entry=all --arg='dense<0.7> : tensor<f64>' --print | FileCheck %t/second.mlir --check-prefix=NUMBER
// RUN: weft-run %t/second.mlir --entry=three --arg='dense<0.7> : tensor<f64>' --print | FileCheck %t/second.mlir --check-prefix=NUMBER
// RUN: weft-run %t/second.mlir --entry=bytes --arg='dense<0.7> : tensor<f64>' --print | FileCheck %t/second.mlir --check-prefix=NUMBER
// RUN: not weft-opt %t/known.mlir -weft-differentiate=checkpoint=bytes\<inf\> 2>&1 | FileCheck %s --check-prefix=INFINITE
// INFINITE: error: weft-differentiate: the checkpoint budget "bytes<inf>" is no finite number; to keep everything, say none
// RUN: not weft-opt %t/known.mlir -weft-differentiate=checkpoint=cbrt 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: weft-differentiate: the checkpoint budget "cbrt" is unknown: there are none, sqrt, binomial<k> and bytes<n>

// Of ten iterations the states of iterations 0, 4 and 8, in segments of at most four; the gradient that says none keeps all ten, the
// other one what the option says.
//--- known.mlir
// CHECK-LABEL: func.func @ten(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2x2xf32>,
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: %[[EMPTY:.*]] = weft.stack_empty() : tensor<3x2xf32>
// CHECK: %[[FORWARD:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[A:.*]] = %[[X]], %[[S:.*]] = %[[EMPTY]])
// CHECK-NEXT: %[[PLACE:.*]] = arith.divui %[[I]], %[[FOUR]]
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PLACE]], %[[FOUR]]
// CHECK-NEXT: %[[DUE:.*]] = arith.cmpi eq, %[[BEGIN]], %[[I]]
// CHECK-NEXT: %[[KEPT:.*]] = scf.if %[[DUE]]
// CHECK-NEXT:   %[[STORED:.*]] = weft.stack_store %[[A]] in %[[S]][%[[PLACE]]]
// CHECK-NEXT:   scf.yield %[[STORED]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[S]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[P:.*]] = weft.matmul %[[W]], %[[A]]
// CHECK-NEXT: %[[T:.*]] = weft.tanh %[[P]]
// CHECK-NEXT: scf.yield %[[T]], %[[KEPT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[THREE]] step
// CHECK: %[[STATE:.*]] = weft.stack_load %[[FORWARD]]#1[%[[SEGMENT:.*]]] : tensor<3x2xf32> to tensor<2xf32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[SEGMENT]], %[[FOUR]]
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[TURNS:.*]] = arith.minui %[[LEFT]], %[[FOUR]]
// CHECK: weft.stack_empty() : tensor<4x2xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TURNS]] step %{{.*}} iter_args(%{{.*}} = %[[STATE]]
// CHECK: weft.matmul %[[W]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TURNS]] step
// CHECK: return
// CHECK-LABEL: func.func @all_of_ten(
// CHECK: weft.stack_empty() : tensor<10x2xf32>
// NONE-LABEL: func.func @ten(
// NONE: weft.stack_empty() : tensor<10x2xf32>
// NONE-LABEL: func.func @all_of_ten(
func.func private @f(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %0 = weft.matmul %w, %a : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = weft.tanh %0 : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @ten(%x: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @f(%x, %w) cotangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
func.func @all_of_ten(%x: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @f(%x, %w) cotangents(%d) wrt [0] {checkpoint = "none"}
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// How often it iterations is not known before: segment j begins with iteration j (j + 1) and has 2 (j + 1) iterations.
//--- until.mlir
// CHECK-LABEL: func.func @square_until(
// CHECK: %[[WHILE:.*]]:5 = scf.while (%[[A:.*]] = %{{.*}}, %[[PLACE:.*]] = %{{.*}}, %[[NEXT:.*]] = %{{.*}}, %[[TURN:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK-NEXT: %[[DUE:.*]] = arith.cmpi eq, %[[TURN]], %[[NEXT]]
// CHECK: weft.stack_reserve %[[S]] for
// CHECK: scf.if %[[DUE]]
// CHECK-NEXT: weft.stack_store %[[A]] in %{{.*}}[%[[PLACE]]]
// CHECK: %[[MORE:.*]] = arith.addi %[[PLACE]]
// CHECK: %[[LENGTH:.*]] = arith.addi %[[MORE]], %[[MORE]]
// CHECK: %[[FAR:.*]] = arith.addi %[[NEXT]], %[[LENGTH]]
// CHECK: arith.select %[[DUE]], %[[MORE]], %[[PLACE]]
// CHECK: arith.select %[[DUE]], %[[FAR]], %[[NEXT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[WHILE]]#1 step
// CHECK: weft.stack_load %[[WHILE]]#4
// CHECK: arith.subi %[[WHILE]]#3
// CHECK: return
func.func private @until(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %0 = weft.less %a, %limit : tensor<f32>
    %c = weft.item %0 : tensor<i1>
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %0 = weft.multiply %a, %a : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func @square_until(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @until(%x, %limit) wrt [0] {checkpoint = "sqrt"} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

//--- effects.mlir
// A second run prints and asserts nothing, and takes the variable as it was before the loop.
// CHECK-LABEL: func.func @printing(
// CHECK: weft.read
// CHECK: scf.for
// CHECK: weft.read
// CHECK: weft.print
// CHECK: weft.assert
// CHECK: weft.assign
// CHECK-NOT: weft.print
// CHECK-NOT: weft.assert
// CHECK-NOT: weft.read
// CHECK: return
weft.variable @v = dense<2.0> : tensor<f32>
func.func private @reads(%x: tensor<f32>) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> (tensor<f32>) {
    %0 = weft.read %v : tensor<f32>
    %1 = weft.multiply %a, %0 : tensor<f32>
    weft.print "{}", %1 : tensor<f32>
    %2 = weft.less %a, %1 : tensor<f32>
    weft.assert %2, "it grows" : tensor<i1>
    %3 = weft.sin %1 : tensor<f32>
    scf.yield %3 : tensor<f32>
  }
  weft.assign %v, %r : tensor<f32>
  return %r : tensor<f32>
}
func.func @printing(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @reads(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// What an iteration assigns, the next one reads: all iterations are kept.
// CHECK-LABEL: func.func @assigning(
// CHECK: weft.stack_empty() : tensor<9x
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: weft.assign
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @assigns(%x: tensor<f32>) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> (tensor<f32>) {
    %0 = weft.read %v : tensor<f32>
    %1 = weft.multiply %a, %0 : tensor<f32>
    weft.assign %v, %1 : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func @assigning(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @assigns(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// State that only collects what iterations give is not kept, and not collected again.
//--- unneeded.mlir
// CHECK-LABEL: func.func @collecting(
// CHECK: weft.stack_empty() : tensor<3x2xf32>
// CHECK-NOT: weft.stack_empty() : tensor<3x9x2xf32>
// CHECK: weft.update_slice
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: weft.update_slice
// CHECK: scf.for
// CHECK: return
func.func private @collects(%x: tensor<2xf32>) -> tensor<9x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %none = weft.constant dense<0.0> : tensor<9x2xf32>
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %all = %none) -> (tensor<2xf32>, tensor<9x2xf32>) {
    %j = arith.index_cast %i : index to i64
    %k = tensor.from_elements %j : tensor<i64>
    %0 = weft.sin %a : tensor<2xf32>
    %1 = weft.update_slice %all, %k, %0 {axis = 0 : i64} : (tensor<9x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<9x2xf32>
    scf.yield %0, %1 : tensor<2xf32>, tensor<9x2xf32>
  }
  return %r#1 : tensor<9x2xf32>
}
func.func @collecting(%x: tensor<2xf32>, %d: tensor<9x2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @collects(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<9x2xf32>) -> (tensor<9x2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// At most three states at a time: the forward loop keeps none. Each iteration in reverse drops a snapshot of a later iteration, goes on
// from the last one (or from where the loop began) with new snapshots on the way, and is run again and reversed. The bytes
// of a state say how many there may be, at run time where the number of iterations is not known.
//--- revolve.mlir
// CHECK-LABEL: func.func @three(
// CHECK: scf.for %{{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}) -> (tensor<2xf32>)
// CHECK-NOT: weft.stack_store
// CHECK: weft.stack_empty() : tensor<3xi64>
// CHECK: weft.stack_empty() : tensor<3x2xf32>
// CHECK: scf.for
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.while
// CHECK: scf.for
// CHECK: weft.matmul
// CHECK: weft.stack_store %{{.*}} {again} : tensor<i64> in tensor<3xi64>
// CHECK: weft.stack_store %{{.*}} {again} : tensor<2xf32> in tensor<3x2xf32>
// CHECK: scf.for
// CHECK: return
// CHECK-LABEL: func.func @of_bytes(
// CHECK: weft.stack_empty() : tensor<5x2xf32>
// CHECK-LABEL: func.func @turning(
// CHECK: %[[BYTES:.*]] = arith.constant 100 : index
// CHECK: %[[STATES:.*]] = arith.divui %[[BYTES]]
// CHECK: arith.minui %[[STATES]], %{{.*}}
// CHECK: weft.stack_empty(%{{.*}}) : tensor<?xi64>
// CHECK: weft.stack_empty(%{{.*}}) : tensor<?x2xf32>
func.func private @f(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %0 = weft.matmul %w, %a : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = weft.tanh %0 : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @three(%x: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:2 = weft.vjp @f(%x, %w) cotangents(%d) wrt [0] {checkpoint = "binomial<3>"}
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
func.func @of_bytes(%x: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @f(%x, %w) cotangents(%d) wrt [0] {checkpoint = "bytes<40>"}
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
func.func private @times(%x: tensor<2xf32>, %m: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %0 = weft.sin %a : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @turning(%x: tensor<2xf32>, %d: tensor<2xf32>, %m: index) -> tensor<2xf32> {
  %0:2 = weft.vjp @times(%x, %m) cotangents(%d) wrt [0] {checkpoint = "bytes<100>"}
      : (tensor<2xf32>, index, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// State that only an unused op in an inner loop uses is not kept, and iterations that run again do without it.
//--- idle.mlir
// CHECK-LABEL: func.func @idle(
// CHECK: weft.stack_empty() : tensor<2xi64>
// CHECK-NEXT: weft.stack_empty() : tensor<2xf64>
// CHECK-NEXT: scf.for %{{.*}} -> (tensor<f64>, index, tensor<2xi64>, tensor<2xf64>)
// CHECK-NOT: weft.add
// CHECK: return
func.func private @f(%x: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %step = weft.constant dense<0.1> : tensor<f64>
  %r:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x, %k = %step) -> (tensor<f64>, tensor<f64>) {
    %0 = scf.for %j = %c0 to %c7 step %c1 iter_args(%b = %a) -> tensor<f64> {
      %1 = weft.add %b, %k : tensor<f64>
      %2 = weft.sin %b : tensor<f64>
      scf.yield %2 : tensor<f64>
    }
    %3 = weft.add %k, %step : tensor<f64>
    scf.yield %0, %3 : tensor<f64>, tensor<f64>
  }
  return %r#0 : tensor<f64>
}
func.func @idle(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @f(%x) wrt [0] {checkpoint = "binomial<2>"} : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}

// The second derivative keeps few states of the loop in reverse too, whose snapshots begin as empty stacks that are begun again.
//--- second.mlir
// CHECK-LABEL: func.func @three(
// CHECK-NOT: tensor<10xf64>
// CHECK: weft.stack_store %{{.*}} {again} : tensor<3xf64> in tensor<3x3xf64>
// CHECK-NOT: tensor<10xf64>
// CHECK: return
// CHECK-LABEL: func.func @bytes(
// NUMBER: tensor(-0.64751764,
func.func private @f(%x: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> (tensor<f64>) {
    %0 = weft.sin %a : tensor<f64>
    scf.yield %0 : tensor<f64>
  }
  return %r : tensor<f64>
}
func.func private @slope(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func @all(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @slope(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func private @slope_of_three(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @f(%x) wrt [0] {checkpoint = "binomial<3>"} : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func @three(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @slope_of_three(%x) wrt [0] {checkpoint = "binomial<3>"} : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func private @slope_of_bytes(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @f(%x) wrt [0] {checkpoint = "bytes<16>"} : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}
func.func @bytes(%x: tensor<f64>) -> tensor<f64> {
  %0:2 = weft.gradient @slope_of_bytes(%x) wrt [0] {checkpoint = "bytes<128>"} : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}

// The same lines and numbers with and without: six iterations, two prints each, from a variable that is assigned behind the loop.
//--- run.mlir
// CHECK-COUNT-12: at
// CHECK-NOT: at
// CHECK: tensor(0.168785
// CHECK-NEXT: tensor(0.17263199
// CHECK-NEXT: tensor(2.0569166
weft.variable @v = dense<0.9> : tensor<f64>
func.func private @f(%x: tensor<f64>, %v: !weft.var<tensor<f64>>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = weft.constant dense<0.0> : tensor<f64>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %x) -> (tensor<f64>) {
    %0 = weft.read %v : tensor<f64>
    %1 = weft.multiply %a, %0 : tensor<f64>
    weft.print "at {}", %1 : tensor<f64>
    %2 = weft.sin %1 : tensor<f64>
    %3 = weft.multiply %2, %0 : tensor<f64>
    weft.print "at {}", %3 : tensor<f64>
    scf.yield %3 : tensor<f64>
  }
  weft.assign %v, %zero : tensor<f64>
  return %r : tensor<f64>
}
func.func @kept(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %v = weft.handle @v : !weft.var<tensor<f64>>
  %0:3 = weft.gradient @f(%x, %v) wrt [0, 1] {checkpoint = "sqrt"} : (tensor<f64>, !weft.var<tensor<f64>>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
  return %0#0, %0#1, %0#2 : tensor<f64>, tensor<f64>, tensor<f64>
}
func.func @all(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %v = weft.handle @v : !weft.var<tensor<f64>>
  %0:3 = weft.gradient @f(%x, %v) wrt [0, 1] : (tensor<f64>, !weft.var<tensor<f64>>) -> (tensor<f64>, tensor<f64>, tensor<f64>)
  return %0#0, %0#1, %0#2 : tensor<f64>, tensor<f64>, tensor<f64>
}
