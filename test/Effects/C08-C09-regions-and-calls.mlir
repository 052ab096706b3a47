// Cases C8 and C9: loops, branches and calls count as one op with the effects of their bodies. Each function does read r1; F;
// read r2; assign w. Where F only reads (C8) nothing orders it with the reads; where it writes (C9) it comes between them.
// RUN: weft-opt %s --weft-insert-control-deps --weft-print-effect-order -o /dev/null | FileCheck %s --implicit-check-not='UNORDERED CONFLICT' --implicit-check-not='NO CONFLICT'

weft.variable @v = dense<1.0> : tensor<f32>

// CHECK-LABEL: @c08_while
// CHECK-NEXT: r1 | F
// CHECK-NEXT: r1 | r2
// CHECK-NEXT: F | r2
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
// CHECK-NEXT: r2 -> w: conflict
func.func @c08_while(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = scf.while (%s = %x) : (tensor<f32>) -> tensor<f32> {
    %now = weft.read %v : tensor<f32>
    %less = weft.less %s, %now : tensor<f32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c) %s : tensor<f32>
  } do {
  ^bb0(%s: tensor<f32>):
    %now = weft.read %v : tensor<f32>
    %sum = weft.add %s, %now : tensor<f32>
    scf.yield %sum : tensor<f32>
  } attributes {name = "F"}
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c08_for
// CHECK-NEXT: r1 | F
// CHECK-NEXT: r1 | r2
// CHECK-NEXT: F | r2
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
func.func @c08_for(%x: tensor<f32>, %n: index) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<f32> {
    %now = weft.read %v : tensor<f32>
    %sum = weft.add %s, %now : tensor<f32>
    scf.yield %sum : tensor<f32>
  } {name = "F"}
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c08_if_true
// CHECK-NEXT: r1 | F
// CHECK-NEXT: r1 | r2
// CHECK-NEXT: F | r2
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
func.func @c08_if_true(%x: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = scf.if %c -> tensor<f32> {
    %now = weft.read %v : tensor<f32>
    scf.yield %now : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  } {name = "F"}
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c08_if_false
// CHECK-NEXT: r1 | F
// CHECK-NEXT: r1 | r2
// CHECK-NEXT: F | r2
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
func.func @c08_if_false(%x: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = scf.if %c -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    %now = weft.read %v : tensor<f32>
    scf.yield %now : tensor<f32>
  } {name = "F"}
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c08_case
// CHECK-NEXT: r1 | F
// CHECK-NEXT: r1 | G
// CHECK-NEXT: F | G
// CHECK-NEXT: r1 | r2
// CHECK-NEXT: F | r2
// CHECK-NEXT: G | r2
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
// CHECK-NEXT: G -> w: conflict
func.func @c08_case(%x: tensor<f32>, %i: index) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = scf.index_switch %i {name = "F"} -> tensor<f32>
  case 0 {
    %now = weft.read %v : tensor<f32>
    scf.yield %now : tensor<f32>
  }
  default {
    scf.yield %x : tensor<f32>
  }
  %g = scf.index_switch %i {name = "G"} -> tensor<f32>
  case 0 {
    scf.yield %x : tensor<f32>
  }
  default {
    %now = weft.read %v : tensor<f32>
    scf.yield %now : tensor<f32>
  }
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f, %g : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

func.func private @reads(%h: !weft.var<tensor<f32>>) -> tensor<f32> {
  %now = weft.read %h : tensor<f32>
  return %now : tensor<f32>
}
func.func private @calls_reads(%h: !weft.var<tensor<f32>>) -> tensor<f32> {
  %now = func.call @reads(%h) : (!weft.var<tensor<f32>>) -> tensor<f32>
  return %now : tensor<f32>
}
func.func private @while_reads(%h: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %f = scf.while (%s = %x) : (tensor<f32>) -> tensor<f32> {
    %now = weft.read %h : tensor<f32>
    %less = weft.less %s, %now : tensor<f32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c) %s : tensor<f32>
  } do {
  ^bb0(%s: tensor<f32>):
    %sum = weft.add %s, %s : tensor<f32>
    scf.yield %sum : tensor<f32>
  }
  return %f : tensor<f32>
}
func.func private @if_reads(%h: !weft.var<tensor<f32>>, %c: i1, %x: tensor<f32>) -> tensor<f32> {
  %f = scf.if %c -> tensor<f32> {
    %now = weft.read %h : tensor<f32>
    scf.yield %now : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %f : tensor<f32>
}

// CHECK-LABEL: @c08_calls
// CHECK-NOT: ->
// CHECK: r1 -> w: conflict
// CHECK-NEXT: call -> w: conflict
// CHECK-NEXT: call in call -> w: conflict
// CHECK-NEXT: while in call -> w: conflict
// CHECK-NEXT: if in call -> w: conflict
// CHECK-NEXT: r2 -> w: conflict
func.func @c08_calls(%x: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  %f = func.call @reads(%v) {name = "call"} : (!weft.var<tensor<f32>>) -> tensor<f32>
  %g = func.call @calls_reads(%v) {name = "call in call"} : (!weft.var<tensor<f32>>) -> tensor<f32>
  %h = func.call @while_reads(%v, %x) {name = "while in call"} : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %i = func.call @if_reads(%v, %c, %x) {name = "if in call"} : (!weft.var<tensor<f32>>, i1, tensor<f32>) -> tensor<f32>
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1, %f, %g, %h, %i : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c09_while
// CHECK-NEXT: r1 -> F: conflict
// CHECK-NEXT: r1 -> r2: conflict through others
// CHECK-NEXT: F -> r2: conflict
// CHECK-NEXT: r1 -> w: conflict
// CHECK-NEXT: F -> w: conflict
// CHECK-NEXT: r2 -> w: conflict
func.func @c09_while(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  scf.while : () -> () {
    %now = weft.read %v : tensor<f32>
    %less = weft.less %now, %x : tensor<f32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c)
  } do {
    weft.assign_add %v, %x : tensor<f32>
    scf.yield
  } attributes {name = "F"}
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @c09_branches
// CHECK-DAG: r1 -> true: conflict
// CHECK-DAG: true -> false: conflict
// CHECK-DAG: false -> case: conflict
// CHECK-DAG: case -> default: conflict
// CHECK-DAG: default -> r2: conflict
// CHECK-DAG: default -> w: conflict
func.func @c09_branches(%x: tensor<f32>, %c: i1, %i: index) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  scf.if %c {
    weft.assign_add %v, %x : tensor<f32>
  } {name = "true"}
  scf.if %c {
  } else {
    weft.assign_add %v, %x : tensor<f32>
  } {name = "false"}
  scf.index_switch %i {name = "case"}
  case 0 {
    weft.assign_add %v, %x : tensor<f32>
    scf.yield
  }
  default {
  }
  scf.index_switch %i {name = "default"}
  case 0 {
    scf.yield
  }
  default {
    weft.assign_add %v, %x : tensor<f32>
  }
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

func.func private @writes(%h: !weft.var<tensor<f32>>, %x: tensor<f32>) {
  weft.assign_add %h, %x : tensor<f32>
  return
}
func.func private @calls_writes(%h: !weft.var<tensor<f32>>, %x: tensor<f32>) {
  func.call @writes(%h, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> ()
  return
}

// A function that calls itself touches what its body touches.
func.func private @writes_and_again(%h: !weft.var<tensor<f32>>, %x: tensor<f32>, %c: i1) {
  scf.if %c {
    func.call @writes_and_again(%h, %x, %c) : (!weft.var<tensor<f32>>, tensor<f32>, i1) -> ()
  } else {
    weft.assign_add %h, %x : tensor<f32>
  }
  return
}

// CHECK-LABEL: @c09_calls
// CHECK-DAG: r1 -> call: conflict
// CHECK-DAG: call -> call in call: conflict
// CHECK-DAG: call in call -> recursive: conflict
// CHECK-DAG: recursive -> r2: conflict
// CHECK-DAG: recursive -> w: conflict
func.func @c09_calls(%x: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v {name = "r1"} : tensor<f32>
  func.call @writes(%v, %x) {name = "call"} : (!weft.var<tensor<f32>>, tensor<f32>) -> ()
  func.call @calls_writes(%v, %x) {name = "call in call"} : (!weft.var<tensor<f32>>, tensor<f32>) -> ()
  func.call @writes_and_again(%v, %x, %c) {name = "recursive"} : (!weft.var<tensor<f32>>, tensor<f32>, i1) -> ()
  %1 = weft.read %v {name = "r2"} : tensor<f32>
  weft.assign %v, %x {name = "w"} : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
