// Cases C16 to C19: loops that carry values beside state, two handles of one variable, an optimizer's step, and two writes.
// RUN: weft-run %s --entry=main --arg='dense<3> : tensor<i32>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=1 | weft-run - --from=control-deps --entry=main --arg='dense<3> : tensor<i32>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion --symbol-dce --weft-shuffle-schedule=seed=2 | weft-run - --from=control-deps --entry=main --arg='dense<3> : tensor<i32>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-print-effect-order -o /dev/null | FileCheck %s --check-prefix=ORDER

weft.variable @v = dense<1.0> : tensor<f32>
weft.variable @m : tensor<f32>

// ORDER-LABEL: @main
func.func @main(%limit: tensor<i32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1> : tensor<i32>
  %zero = weft.constant dense<0> : tensor<i32>
  // C16: a loop that adds to a value from outside.
  // CHECK: C16 3 {{.*}}[3, 4, 5]
  %x = weft.constant dense<[0, 1, 2]> : tensor<3xi32>
  %c16:2 = scf.while (%i = %zero, %sum = %x) : (tensor<i32>, tensor<3xi32>) -> (tensor<i32>, tensor<3xi32>) {
    %less = weft.less %i, %limit : tensor<i32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c) %i, %sum : tensor<i32>, tensor<3xi32>
  } do {
  ^bb0(%i: tensor<i32>, %sum: tensor<3xi32>):
    %next = weft.add %i, %one : tensor<i32>
    %more = weft.add %sum, %one : tensor<3xi32>, tensor<i32>
    scf.yield %next, %more : tensor<i32>, tensor<3xi32>
  }
  weft.print "C16 {} {}", %c16#0, %c16#1 : tensor<i32>, tensor<3xi32>
  // C17: one variable twice among the arguments.
  // CHECK-NEXT: C17 2{{$}}
  %c17 = func.call @reads_both(%v, %v) : (!weft.var<tensor<f32>>, !weft.var<tensor<f32>>) -> tensor<f32>
  weft.print "C17 {}", %c17 : tensor<f32>
  // C17, with a write through one of them: the other sees it.
  // CHECK-NEXT: C17 5{{$}}
  %five = weft.constant dense<5.0> : tensor<f32>
  %c17w = func.call @writes_first(%v, %v, %five) : (!weft.var<tensor<f32>>, !weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  weft.print "C17 {}", %c17w : tensor<f32>
  // C18: a step of stochastic gradient descent with momentum, rate 1, on v * v, from 1; nothing returns the state.
  // CHECK-NEXT: C18 -1{{$}}
  %start = weft.constant dense<1.0> : tensor<f32>
  weft.assign %v, %start : tensor<f32>
  func.call @momentum_step() : () -> ()
  %c18 = weft.read %v : tensor<f32>
  weft.print "C18 {}", %c18 : tensor<f32>
  // C19: TensorFlow may be told that two writes are independent. Here the later one always wins.
  // CHECK-NEXT: C19 2{{$}}
  %two = weft.constant dense<2.0> : tensor<f32>
  weft.assign %v, %start {name = "first"} : tensor<f32>
  weft.assign %v, %two {name = "second"} : tensor<f32>
  // ORDER-DAG: first -> second: conflict
  %c19 = weft.read %v : tensor<f32>
  weft.print "C19 {}", %c19 : tensor<f32>
  return
}

// ORDER-LABEL: @reads_both
// ORDER-NEXT: a | b
func.func private @reads_both(%a: !weft.var<tensor<f32>>, %b: !weft.var<tensor<f32>>) -> tensor<f32> {
  %0 = weft.read %a {name = "a"} : tensor<f32>
  %1 = weft.read %b {name = "b"} : tensor<f32>
  %2 = weft.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// The two arguments can be one variable, as a call shows.
// ORDER-LABEL: @writes_first
// ORDER-NEXT: a -> b: conflict
func.func private @writes_first(%a: !weft.var<tensor<f32>>, %b: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  weft.assign %a, %x {name = "a"} : tensor<f32>
  %0 = weft.read %b {name = "b"} : tensor<f32>
  return %0 : tensor<f32>
}

func.func private @momentum_step() {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %m = weft.handle @m : !weft.var<tensor<f32>>
  %0 = weft.read %v : tensor<f32>
  %gradient = weft.add %0, %0 : tensor<f32>
  weft.assign_add %m, %gradient : tensor<f32>
  %step = weft.read %m : tensor<f32>
  %next = weft.subtract %0, %step : tensor<f32>
  weft.assign %v, %next : tensor<f32>
  return
}
