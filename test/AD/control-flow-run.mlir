// Gradients of loops with effects in them: these happen once, in the order of the program, and what the reverse needs of
// them was kept. With n iterations from v = 2 on, y = (.. ((x v)^2 (v + 1))^2 ..)^2.
// RUN: weft-run %s --entry=main --arg='dense<1.5> : tensor<f64>' --arg='dense<2> : tensor<i64>' --print | FileCheck %s
// RUN: weft-run %s --entry=main --arg='dense<1.5> : tensor<f64>' --arg='dense<0> : tensor<i64>' --print | FileCheck %s --check-prefix=NONE
// RUN: not weft-run %s --entry=main --arg='dense<1.5> : tensor<f64>' --arg='dense<9> : tensor<i64>' --print 2>&1 | FileCheck %s --check-prefix=STOP

// CHECK: iteration 2: 3
// CHECK-NEXT: squared
// CHECK-NEXT: iteration 3: 27
// CHECK-NEXT: squared
// CHECK-NOT: {{iteration|squared}}
// CHECK: tensor(729,
// CHECK-NEXT: tensor(1944,
// CHECK-NEXT: tensor(4,

// NONE-NOT: {{iteration|squared}}
// NONE: tensor(1.5,
// NONE-NEXT: tensor(1,
// NONE-NEXT: tensor(2,

// STOP: iteration 4: 2916
// STOP-NEXT: squared
// STOP-NEXT: iteration 5: 42515280
// STOP: assertion failed in main: v is 5
weft.variable @v = dense<2.0> : tensor<f64>
func.func private @f(%x: tensor<f64>, %n: tensor<i64>) -> tensor<f64> {
  %v = weft.handle @v : !weft.var<tensor<f64>>
  %one = weft.constant dense<1.0> : tensor<f64>
  %five = weft.constant dense<5.0> : tensor<f64>
  %n0 = weft.item %n : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%a = %x) -> (tensor<f64>) : i64 {
    %w = weft.read %v : tensor<f64>
    weft.assign_add %v, %one : tensor<f64>
    %0 = weft.multiply %a, %w : tensor<f64>
    weft.print "iteration {}: {}", %w, %0 : tensor<f64>, tensor<f64>
    %l = weft.less %w, %five : tensor<f64>
    weft.assert %l, "v is {}", %w : tensor<i1>, tensor<f64>
    %g = weft.greater %w, %one : tensor<f64>
    %c = weft.item %g : tensor<i1>
    %1 = scf.if %c -> tensor<f64> {
      weft.print "squared"
      %2 = weft.multiply %0, %0 : tensor<f64>
      scf.yield %2 : tensor<f64>
    } else {
      scf.yield %0 : tensor<f64>
    }
    scf.yield %1 : tensor<f64>
  }
  return %r : tensor<f64>
}
func.func @main(%x: tensor<f64>, %n: tensor<i64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %0:2 = weft.gradient @f(%x, %n) wrt [0] : (tensor<f64>, tensor<i64>) -> (tensor<f64>, tensor<f64>)
  %v = weft.handle @v : !weft.var<tensor<f64>>
  %1 = weft.read %v : tensor<f64>
  return %0#0, %0#1, %1 : tensor<f64>, tensor<f64>, tensor<f64>
}
