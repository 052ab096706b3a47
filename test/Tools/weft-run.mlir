// weft-run: arguments from literals and generators, results printed, saved and checked, control flow in scf.
// RUN: weft-run %s --entry=axpy --arg='dense<2.0> : tensor<f32>' --arg='iota : tensor<4xf32>' --arg='dense<1.0> : tensor<4xf32>' --print --save=%t.npy | FileCheck %s
// RUN: weft-run %s --entry=axpy --arg='dense<2.0> : tensor<f32>' --arg='iota : tensor<4xf32>' --arg='dense<1.0> : tensor<4xf32>' --check=%t.npy
// RUN: not weft-run %s --entry=axpy --arg='dense<3.0> : tensor<f32>' --arg='iota : tensor<4xf32>' --arg='dense<1.0> : tensor<4xf32>' --check=%t.npy 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: weft-run %s --entry=doubled_until --arg='dense<3.0> : tensor<f32>' --print | FileCheck %s --check-prefix=LOOP
// RUN: weft-run %s --entry=counted --arg='iota : tensor<3xf32>' --print | FileCheck %s --check-prefix=STATE
// RUN: not weft-run %s --entry=positive --arg='dense<-1.0> : tensor<f32>' 2>&1 | FileCheck %s --check-prefix=ASSERT

// CHECK: axpy: 1 result
// CHECK-NEXT: tensor([1, 3, 5, 7], shape=(4,), dtype=f32)
// DIFFERS: result 0 differs from {{.*}}.npy at element 1: 4 instead of 3
func.func @axpy(%a: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.multiply %a, %x : tensor<f32>, tensor<4xf32>
  %1 = weft.add %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The loop ends with the first value that is not below 100: 3, 6, 12, 24, 48, 96, 192.
// LOOP: tensor(192, shape=(), dtype=f32)
func.func @doubled_until(%x: tensor<f32>) -> tensor<f32> {
  %limit = weft.constant dense<100.0> : tensor<f32>
  %y = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
    %below = weft.less %v, %limit : tensor<f32>
    %go = weft.item %below : tensor<i1>
    scf.condition(%go) %v : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %w = weft.add %v, %v : tensor<f32>
    scf.yield %w : tensor<f32>
  }
  return %y : tensor<f32>
}

weft.variable @total = dense<[1.0, 1.0, 1.0]> : tensor<3xf32>

// The print comes before the result; the variable starts as it was declared.
// STATE: total was tensor([1, 1, 1], shape=(3,), dtype=f32)
// STATE: counted: 1 result
// STATE-NEXT: tensor([1, 2, 3], shape=(3,), dtype=f32)
func.func @counted(%x: tensor<3xf32>) -> tensor<3xf32> {
  %handle = weft.handle @total : !weft.var<tensor<3xf32>>
  %before = weft.read %handle : tensor<3xf32>
  weft.print "total was {}", %before : tensor<3xf32>
  weft.assign_add %handle, %x : tensor<3xf32>
  %after = weft.read %handle : tensor<3xf32>
  return %after : tensor<3xf32>
}

// ASSERT: {{^}}weft-run.mlir:[[# @LINE + 4]]: assertion failed in positive: x is positive; -1{{$}}
func.func @positive(%x: tensor<f32>) -> tensor<f32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %ok = weft.greater %x, %zero : tensor<f32>
  weft.assert %ok, "x is positive", %x : tensor<i1>, tensor<f32>
  return %x : tensor<f32>
}
