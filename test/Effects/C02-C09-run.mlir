// Cases C2, C3 and C6 to C9 as programs that run: what reads before and after a write see, and that loops, branches and calls see
// the writes before them and are seen by what comes after. Each case of C8 and C9 is read; F; read; assign, with 3 in the variable
// and 7 to assign. The other files have their tokens.
// RUN: weft-run %s --entry=main --arg='dense<7.0> : tensor<f32>' --arg='dense<true> : tensor<i1>' --arg='dense<0> : tensor<i64>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=1 | weft-run - --from=control-deps --entry=main --arg='dense<7.0> : tensor<f32>' --arg='dense<true> : tensor<i1>' --arg='dense<0> : tensor<i64>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion --symbol-dce --weft-shuffle-schedule=seed=2 | weft-run - --from=control-deps --entry=main --arg='dense<7.0> : tensor<f32>' --arg='dense<true> : tensor<i1>' --arg='dense<0> : tensor<i64>' | FileCheck %s

weft.variable @v = dense<3.0> : tensor<f32>

func.func private @reads(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %r_now = weft.read %v : tensor<f32>
  %r = weft.multiply %r_now, %x : tensor<f32>
  return %r : tensor<f32>
}
func.func private @calls_reads(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %r = func.call @reads(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @while_reads(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %zero = weft.constant dense<0> : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %two = weft.constant dense<2> : tensor<i64>
  %nothing = weft.constant dense<0.0> : tensor<f32>
  %r:2 = scf.while (%k = %zero, %s = %nothing) : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) {
    %less = weft.less %k, %two : tensor<i64>
    %more = weft.item %less : tensor<i1>
    scf.condition(%more) %k, %s : tensor<i64>, tensor<f32>
  } do {
  ^bb0(%k: tensor<i64>, %s: tensor<f32>):
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    %next = weft.add %k, %one : tensor<i64>
    %sum = weft.add %s, %in : tensor<f32>
    scf.yield %next, %sum : tensor<i64>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func private @if_reads(%v: !weft.var<tensor<f32>>, %x: tensor<f32>, %yes: i1) -> tensor<f32> {
  %r = scf.if %yes -> tensor<f32> {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    scf.yield %in : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func private @writes(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %r_now = weft.read %v : tensor<f32>
  %r = weft.multiply %r_now, %x : tensor<f32>
  weft.assign %v, %r : tensor<f32>
  return %r : tensor<f32>
}
func.func private @calls_writes(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %r = func.call @writes(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @while_writes(%v: !weft.var<tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %zero = weft.constant dense<0> : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %two = weft.constant dense<2> : tensor<i64>
  %nothing = weft.constant dense<0.0> : tensor<f32>
  %r:2 = scf.while (%k = %zero, %s = %nothing) : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) {
    %less = weft.less %k, %two : tensor<i64>
    %more = weft.item %less : tensor<i1>
    scf.condition(%more) %k, %s : tensor<i64>, tensor<f32>
  } do {
  ^bb0(%k: tensor<i64>, %s: tensor<f32>):
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    %next = weft.add %k, %one : tensor<i64>
    %sum = weft.add %s, %in : tensor<f32>
    scf.yield %next, %sum : tensor<i64>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func private @if_writes(%v: !weft.var<tensor<f32>>, %x: tensor<f32>, %yes: i1) -> tensor<f32> {
  %r = scf.if %yes -> tensor<f32> {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    scf.yield %in : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @main(%x: tensor<f32>, %p: tensor<i1>, %n: tensor<i64>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %zero = weft.constant dense<0> : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %two = weft.constant dense<2> : tensor<i64>
  %nothing = weft.constant dense<0.0> : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  %yes = weft.item %p : tensor<i1>
  %not = weft.logical_not %p : tensor<i1>
  %no = weft.item %not : tensor<i1>
  %n0 = weft.item %n : tensor<i64>
  %i = arith.index_cast %n0 : i64 to index
  %n1 = weft.add %n, %one : tensor<i64>
  %n1i = weft.item %n1 : tensor<i64>
  %i1 = arith.index_cast %n1i : i64 to index
  // C2: reads before a write.
  // CHECK: C2 3 3 7{{$}}
  %c2a = weft.read %v : tensor<f32>
  %c2b = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c2c = weft.read %v : tensor<f32>
  weft.print "C2 {} {} {}", %c2a, %c2b, %c2c : tensor<f32>, tensor<f32>, tensor<f32>
  // C3: reads after a write.
  // CHECK-NEXT: C3 3 3{{$}}
  weft.assign %v, %three : tensor<f32>
  %c3a = weft.read %v : tensor<f32>
  %c3b = weft.read %v : tensor<f32>
  weft.print "C3 {} {}", %c3a, %c3b : tensor<f32>, tensor<f32>
  // C6: a read that nobody wants.
  // CHECK-NEXT: C6 7{{$}}
  %c6a = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c6b = weft.read %v : tensor<f32>
  weft.print "C6 {}", %c6b : tensor<f32>
  // C7: what a person sees, though nothing uses it.
  // CHECK-NEXT: C7 sent{{$}}
  weft.print "C7 sent"
  // CHECK-NEXT: C8 while 3 42 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a1 = weft.read %v : tensor<f32>
  %f1:2 = scf.while (%k = %zero, %s = %nothing) : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) {
    %less = weft.less %k, %two : tensor<i64>
    %more = weft.item %less : tensor<i1>
    scf.condition(%more) %k, %s : tensor<i64>, tensor<f32>
  } do {
  ^bb0(%k: tensor<i64>, %s: tensor<f32>):
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    %next = weft.add %k, %one : tensor<i64>
    %sum = weft.add %s, %in : tensor<f32>
    scf.yield %next, %sum : tensor<i64>, tensor<f32>
  }
  %b1 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c1 = weft.read %v : tensor<f32>
  weft.print "C8 while {} {} {} {}", %a1, %f1#1, %b1, %c1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 if true 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a2 = weft.read %v : tensor<f32>
  %f2 = scf.if %yes -> tensor<f32> {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    scf.yield %in : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  %b2 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c2 = weft.read %v : tensor<f32>
  weft.print "C8 if true {} {} {} {}", %a2, %f2, %b2, %c2 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 if false 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a3 = weft.read %v : tensor<f32>
  %f3 = scf.if %no -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  %b3 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c3 = weft.read %v : tensor<f32>
  weft.print "C8 if false {} {} {} {}", %a3, %f3, %b3, %c3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 case 0 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a4 = weft.read %v : tensor<f32>
  %f4 = scf.index_switch %i -> tensor<f32>
  case 0 {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  default {
    scf.yield %x : tensor<f32>
  }
  %b4 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c4 = weft.read %v : tensor<f32>
  weft.print "C8 case 0 {} {} {} {}", %a4, %f4, %b4, %c4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 default 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a5 = weft.read %v : tensor<f32>
  %f5 = scf.index_switch %i1 -> tensor<f32>
  case 0 {
    scf.yield %x : tensor<f32>
  }
  default {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  %b5 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c5 = weft.read %v : tensor<f32>
  weft.print "C8 default {} {} {} {}", %a5, %f5, %b5, %c5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 call 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a6 = weft.read %v : tensor<f32>
  %f6 = func.call @reads(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b6 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c6 = weft.read %v : tensor<f32>
  weft.print "C8 call {} {} {} {}", %a6, %f6, %b6, %c6 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 call in call 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a7 = weft.read %v : tensor<f32>
  %f7 = func.call @calls_reads(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b7 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c7 = weft.read %v : tensor<f32>
  weft.print "C8 call in call {} {} {} {}", %a7, %f7, %b7, %c7 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 while in call 3 42 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a8 = weft.read %v : tensor<f32>
  %f8 = func.call @while_reads(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b8 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c8 = weft.read %v : tensor<f32>
  weft.print "C8 while in call {} {} {} {}", %a8, %f8, %b8, %c8 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C8 if in call 3 21 3 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a9 = weft.read %v : tensor<f32>
  %f9 = func.call @if_reads(%v, %x, %yes) : (!weft.var<tensor<f32>>, tensor<f32>, i1) -> tensor<f32>
  %b9 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c9 = weft.read %v : tensor<f32>
  weft.print "C8 if in call {} {} {} {}", %a9, %f9, %b9, %c9 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 while 3 168 147 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a10 = weft.read %v : tensor<f32>
  %f10:2 = scf.while (%k = %zero, %s = %nothing) : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) {
    %less = weft.less %k, %two : tensor<i64>
    %more = weft.item %less : tensor<i1>
    scf.condition(%more) %k, %s : tensor<i64>, tensor<f32>
  } do {
  ^bb0(%k: tensor<i64>, %s: tensor<f32>):
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    %next = weft.add %k, %one : tensor<i64>
    %sum = weft.add %s, %in : tensor<f32>
    scf.yield %next, %sum : tensor<i64>, tensor<f32>
  }
  %b10 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c10 = weft.read %v : tensor<f32>
  weft.print "C9 while {} {} {} {}", %a10, %f10#1, %b10, %c10 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 if true 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a11 = weft.read %v : tensor<f32>
  %f11 = scf.if %yes -> tensor<f32> {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    scf.yield %in : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  %b11 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c11 = weft.read %v : tensor<f32>
  weft.print "C9 if true {} {} {} {}", %a11, %f11, %b11, %c11 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 if false 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a12 = weft.read %v : tensor<f32>
  %f12 = scf.if %no -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  %b12 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c12 = weft.read %v : tensor<f32>
  weft.print "C9 if false {} {} {} {}", %a12, %f12, %b12, %c12 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 case 0 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a13 = weft.read %v : tensor<f32>
  %f13 = scf.index_switch %i -> tensor<f32>
  case 0 {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  default {
    scf.yield %x : tensor<f32>
  }
  %b13 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c13 = weft.read %v : tensor<f32>
  weft.print "C9 case 0 {} {} {} {}", %a13, %f13, %b13, %c13 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 default 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a14 = weft.read %v : tensor<f32>
  %f14 = scf.index_switch %i1 -> tensor<f32>
  case 0 {
    scf.yield %x : tensor<f32>
  }
  default {
    %in_now = weft.read %v : tensor<f32>
    %in = weft.multiply %in_now, %x : tensor<f32>
    weft.assign %v, %in : tensor<f32>
    scf.yield %in : tensor<f32>
  }
  %b14 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c14 = weft.read %v : tensor<f32>
  weft.print "C9 default {} {} {} {}", %a14, %f14, %b14, %c14 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 call 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a15 = weft.read %v : tensor<f32>
  %f15 = func.call @writes(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b15 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c15 = weft.read %v : tensor<f32>
  weft.print "C9 call {} {} {} {}", %a15, %f15, %b15, %c15 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 call in call 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a16 = weft.read %v : tensor<f32>
  %f16 = func.call @calls_writes(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b16 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c16 = weft.read %v : tensor<f32>
  weft.print "C9 call in call {} {} {} {}", %a16, %f16, %b16, %c16 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 while in call 3 168 147 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a17 = weft.read %v : tensor<f32>
  %f17 = func.call @while_writes(%v, %x) : (!weft.var<tensor<f32>>, tensor<f32>) -> tensor<f32>
  %b17 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c17 = weft.read %v : tensor<f32>
  weft.print "C9 while in call {} {} {} {}", %a17, %f17, %b17, %c17 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // CHECK-NEXT: C9 if in call 3 21 21 7{{$}}
  weft.assign %v, %three : tensor<f32>
  %a18 = weft.read %v : tensor<f32>
  %f18 = func.call @if_writes(%v, %x, %yes) : (!weft.var<tensor<f32>>, tensor<f32>, i1) -> tensor<f32>
  %b18 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  %c18 = weft.read %v : tensor<f32>
  weft.print "C9 if in call {} {} {} {}", %a18, %f18, %b18, %c18 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}
