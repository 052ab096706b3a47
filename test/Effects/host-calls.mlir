// Host calls are effects, in one order with prints and asserts. One that fails leaves variables as they were before it, so it
// comes between the writes around it. Pure ones have no order, but none fails before an assert that stands before it.
// RUN: weft-opt %s --weft-insert-control-deps | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-print-effect-order | FileCheck %s --check-prefix=ORDER --implicit-check-not=UNORDERED --implicit-check-not="NO CONFLICT"
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=AFTER

weft.variable @v : tensor<f32>
weft.variable @w : tensor<f32>

// CHECK-LABEL: func @one_order
// CHECK: %[[T0:.*]] = weft.begin
// CHECK: %[[T1:.*]] = weft.print "a" after %[[T0]]
// CHECK: %[[R:.*]]:2 = weft.host_call @f(%arg0) after %[[T1]]
// CHECK: %[[T3:.*]] = weft.assert %arg1, "c" after %[[R]]#1
// CHECK: %[[T4:.*]] = weft.host_call @f() after %[[T3]]
// CHECK: weft.finish %[[T4]]
// CHECK: return %[[R]]#0
// ORDER-LABEL: @one_order
// ORDER: print -> call: conflict
// AFTER-LABEL: func @one_order
// AFTER: weft.print "a"
// AFTER: weft.host_call @f(%arg0)
// AFTER: weft.assert
// AFTER: weft.host_call @f()
func.func @one_order(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  weft.print "a" {name = "print"}
  %0 = weft.host_call @f(%x) {name = "call"} : (tensor<f32>) -> tensor<f32>
  weft.assert %c, "c" : tensor<i1>
  weft.host_call @f() : () -> ()
  return %0 : tensor<f32>
}

// A call comes after the writes before it and before those after it. Reads have nothing to do with it.
// ORDER-LABEL: @between_writes
// ORDER: assign1 -> call: conflict
// ORDER: read | call
// ORDER: call -> assign2: conflict
// ORDER: read2 -> assign2: conflict
func.func @between_writes(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %w = weft.handle @w : !weft.var<tensor<f32>>
  weft.assign %v, %x {name = "assign1"} : tensor<f32>
  %0 = weft.read %w {name = "read"} : tensor<f32>
  weft.host_call @f(%0) {name = "call"} : (tensor<f32>) -> ()
  %1 = weft.read %w {name = "read2"} : tensor<f32>
  weft.assign %w, %x {name = "assign2"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// Loops and branches carry the order, and functions hand it on.
// CHECK-LABEL: func @structured
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (!weft.token)
// CHECK: %[[IF:.*]] = scf.if
// CHECK: %[[C:.*]] = weft.host_call @f() after %[[T]]
// CHECK: scf.yield %[[C]] : !weft.token
// CHECK: } else {
// CHECK: scf.yield %[[T]] : !weft.token
// CHECK: %[[D:.*]]:2 = func.call @helper(%[[IF]], %{{.*}}) : (!weft.token, !weft.token) -> (!weft.token, !weft.token)
// CHECK: scf.yield %[[D]]#0
// AFTER-LABEL: func @structured
// AFTER: scf.for
// AFTER: scf.if
// AFTER: weft.host_call @f()
// AFTER: weft.host_call @g()
func.func @structured(%n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      weft.host_call @f() : () -> ()
    }
    func.call @helper() : () -> ()
  }
  return
}
func.func private @helper() {
  weft.host_call @g() : () -> ()
  return
}

// Pure calls take no token. The one that may throw waits for the assert, and is not taken out of the loop.
// CHECK-LABEL: func @pure
// CHECK: weft.host_call pure @free(%arg0) : (tensor<f32>) -> tensor<f32>
// CHECK: %[[T:.*]] = weft.assert
// CHECK: scf.for
// CHECK: %[[G:.*]] = weft.guard %arg0 after %[[T]]
// CHECK: weft.host_call pure @f(%[[G]]) : (tensor<f32>) -> tensor<f32>
// AFTER-LABEL: func @pure
// AFTER: weft.host_call pure @free
// AFTER: weft.assert
// AFTER: scf.for
// AFTER: weft.host_call pure @f
// AFTER-NOT: @unwanted
func.func @pure(%x: tensor<f32>, %c: tensor<i1>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %free = weft.host_call pure @free(%x) : (tensor<f32>) -> tensor<f32>
  weft.assert %c, "c" : tensor<i1>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %free) -> tensor<f32> {
    %0 = weft.host_call pure @f(%x) : (tensor<f32>) -> tensor<f32>
    %unwanted = weft.host_call pure @unwanted(%x) : (tensor<f32>) -> tensor<f32>
    %1 = weft.add %s, %0 : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}
