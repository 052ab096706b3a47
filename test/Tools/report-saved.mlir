// What derivatives store for their reverse parts, in which form, how often, and why it is not computed again.
// RUN: split-file %s %t
// RUN: weft-compile %t/forms.mlir --report=saved | FileCheck %t/forms.mlir
// RUN: weft-compile %t/none.mlir --report=saved | FileCheck %t/none.mlir
// RUN: weft-compile %t/kept.mlir --report=saved | FileCheck %t/kept.mlir

// With -o the program is written as well, and carries no notes.
// RUN: weft-compile %t/forms.mlir --report=saved -o %t/out.mlir --compile-to=differentiate | FileCheck %t/forms.mlir
// RUN: FileCheck %s --check-prefix=OUT --input-file %t/out.mlir
// OUT-NOT: weft.saved
// OUT: func.func @main

// RUN: not weft-compile %t/forms.mlir --report=saved --compile-from=differentiate 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: --report=saved needs the phase differentiate between --compile-from and --compile-to

//--- forms.mlir
// CHECK: 6 values stored for derivatives
// CHECK-NEXT: stack 16 B x unknown state 0 of scf.while tensor<4xf32> @f an iteration begins with it forms.mlir:[[#@LINE+26]]
// CHECK-NEXT: stack 4 B x unknown weft.max tensor<f32> @f max is not computed again forms.mlir:[[#@LINE+32]]
// CHECK-NEXT: branch result 4 B weft.max tensor<1xf32> @f max is not computed again forms.mlir:[[#@LINE+18]]
// CHECK-NEXT: stack 16 B x 5 weft.tanh tensor<4xf32> @f computing it again would need weft.matmul, which is as large forms.mlir:[[#@LINE+12]]
// CHECK-NEXT: value 16 B scf.for tensor<4xf32> @f nothing outside of loops and branches is computed again forms.mlir:[[#@LINE+9]]
// CHECK-NEXT: value 16 B weft.exp tensor<4xf32> @f nothing outside of loops and branches is computed again forms.mlir:[[#@LINE+7]]
// CHECK-NEXT: total 116 B, and 2 of a size that is known only when it runs
func.func private @f(%x: tensor<4xf32>, %w: tensor<4x4xf32>, %p: tensor<i1>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %limit = weft.constant dense<40.0> : tensor<f32>
  %e = weft.exp %x : tensor<4xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %e) -> (tensor<4xf32>) {
    %0 = weft.matmul %w, %h : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = weft.tanh %0 : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %c = weft.item %p : tensor<i1>
  %b = scf.if %c -> (tensor<4xf32>) {
    %0 = weft.max %r {axes = array<i64: 0>, keepdims = true} : (tensor<4xf32>) -> tensor<1xf32>
    %1 = weft.multiply %r, %0 : tensor<4xf32>, tensor<1xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %r : tensor<4xf32>
  }
  %u = scf.while (%a = %b) : (tensor<4xf32>) -> tensor<4xf32> {
    %s = weft.sum %a {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %l = weft.less %s, %limit : tensor<f32>
    %go = weft.item %l : tensor<i1>
    scf.condition(%go) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %m = weft.max %a {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %1 = weft.multiply %a, %m : tensor<4xf32>, tensor<f32>
    scf.yield %1 : tensor<4xf32>
  }
  %s = weft.sum %u {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%x: tensor<4xf32>, %w: tensor<4x4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0:2 = weft.gradient @f(%x, %w, %p) wrt [0] : (tensor<4xf32>, tensor<4x4xf32>, tensor<i1>) -> (tensor<f32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// Arguments are there anyway, and constants.
//--- none.mlir
// CHECK: 0 values stored for derivatives
// CHECK-NEXT: total 0 B
func.func private @f(%x: tensor<4xf32>) -> tensor<f32> {
  %two = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.multiply %x, %x : tensor<4xf32>
  %1 = weft.multiply %0, %two : tensor<4xf32>, tensor<f32>
  %s = weft.sum %1 {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// Of an inner loop in an outer one as many as both iteration; with a budget fewer, and the reason where there is none to follow.
//--- kept.mlir
// CHECK: stack 8 B x 4 state 0 of scf.for tensor<2xf32> @nested an iteration begins with it
// CHECK: snapshots 8 B x 3 state 0 of scf.for tensor<2xf32> @nested the iterations behind it are run again from it
// CHECK: stack 8 B x 12 state 0 of scf.for tensor<2xf32> @draws an iteration begins with it; no iteration is run again: weft.host_call may not happen again
// CHECK: stack 8 B x 72 state 0 of scf.for tensor<2xf32> @inside an iteration begins with it
func.func private @nested(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %r = scf.for %i = %c0 to %c12 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %0 = weft.sin %a : tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func private @draws(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %r = scf.for %i = %c0 to %c12 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %s = weft.stop_gradient %a : tensor<2xf32>
    %0 = weft.host_call @noise(%s) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = weft.multiply %a, %a : tensor<2xf32>
    %2 = weft.add %1, %0 : tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func private @inside(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c12 = arith.constant 12 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %q = scf.for %j = %c0 to %c12 step %c1 iter_args(%b = %a) -> (tensor<2xf32>) {
      %0 = weft.sin %b : tensor<2xf32>
      scf.yield %0 : tensor<2xf32>
    }
    scf.yield %q : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>, %d: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0:2 = weft.vjp @nested(%x) cotangents(%d) wrt [0] {checkpoint = "sqrt"} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1:2 = weft.vjp @draws(%x) cotangents(%d) wrt [0] {checkpoint = "sqrt"} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2:2 = weft.vjp @inside(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1, %1#1, %2#1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
