// Cases C20 to C25: what a person sees comes in the order of the program, and an assert comes before what it guards.
// RUN: weft-run %s --entry=main | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=1 | weft-run - --from=control-deps --entry=main | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion --symbol-dce --weft-shuffle-schedule=seed=2 | weft-run - --from=control-deps --entry=main | FileCheck %s
// RUN: not weft-run %s --entry=c25 --arg='dense<-1.0> : tensor<f32>' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not weft-run %s --entry=c25_gather --arg='dense<-1> : tensor<i32>' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: weft-opt %s --weft-insert-control-deps --cse --canonicalize --loop-invariant-code-motion --weft-shuffle-schedule=seed=1 | not weft-run - --from=control-deps --entry=c25_gather --arg='dense<-1> : tensor<i32>' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: weft-opt %s --weft-insert-control-deps --cse --canonicalize --loop-invariant-code-motion --weft-shuffle-schedule=seed=2 | not weft-run - --from=control-deps --entry=c25_loop --arg='dense<-1> : tensor<i32>' --arg='dense<2> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: weft-opt %s --weft-insert-control-deps --loop-invariant-code-motion | weft-run - --from=control-deps --entry=c25_loop --arg='dense<-1> : tensor<i32>' --arg='dense<0> : tensor<i64>' --print | FileCheck %s --check-prefix=NO-TURN
// RUN: weft-opt %s --weft-insert-control-deps | FileCheck %s --check-prefix=TOKENS

weft.variable @v = dense<5> : tensor<i32>

func.func private @say_a() {
  weft.print "C20 a"
  return
}
func.func private @say_b() {
  weft.print "C20 b"
  return
}

func.func @main() {
  %v = weft.handle @v : !weft.var<tensor<i32>>
  // C20: two effects that TensorFlow may be told to run in any order; here there is one order.
  // CHECK: C20 a
  // CHECK-NEXT: C20 b
  func.call @say_a() : () -> ()
  func.call @say_b() : () -> ()
  // C23: the next odd number.
  // CHECK-NEXT: C23 7{{$}}
  %c23 = func.call @find_next_odd() : () -> tensor<i32>
  weft.print "C23 {}", %c23 : tensor<i32>
  // C24: prints in and around a branch that also writes.
  // CHECK-NEXT: 1: 5{{$}}
  // CHECK-NEXT: 2: 6{{$}}
  // CHECK-NEXT: 3: 7{{$}}
  %five = weft.constant dense<5> : tensor<i32>
  weft.assign %v, %five : tensor<i32>
  func.call @c24() : () -> ()
  return
}

func.func private @is_even(%x: tensor<i32>) -> i1 {
  %two = weft.constant dense<2> : tensor<i32>
  %zero = weft.constant dense<0> : tensor<i32>
  %rest = weft.remainder %x, %two : tensor<i32>
  %even = weft.equal %rest, %zero : tensor<i32>
  %c = weft.item %even : tensor<i1>
  return %c : i1
}

func.func private @find_next_odd() -> tensor<i32> {
  %v = weft.handle @v : !weft.var<tensor<i32>>
  %one = weft.constant dense<1> : tensor<i32>
  weft.assign_add %v, %one : tensor<i32>
  %0 = weft.read %v : tensor<i32>
  %c = func.call @is_even(%0) : (tensor<i32>) -> i1
  scf.if %c {
    weft.assign_add %v, %one : tensor<i32>
  }
  %1 = weft.read %v : tensor<i32>
  return %1 : tensor<i32>
}

// C24 in IR: the branch takes the token of the second print and gives one on.
// TOKENS-LABEL: func private @c24
// TOKENS-SAME: %[[T0:.*]]: !weft.token, %{{.*}}: !weft.token)
// TOKENS: %[[T1:.*]] = weft.print "1: {}", %{{.*}} after %[[T0]]
// TOKENS: %[[T2:.*]] = weft.print "2: {}", %{{.*}} after %[[T1]]
// TOKENS: scf.if
// TOKENS: %[[T3:.*]] = weft.print "3: {}", %{{.*}} after %[[T2]]
// TOKENS: scf.yield %[[T3]]
// TOKENS: else
// TOKENS: scf.yield %[[T2]]
func.func private @c24() {
  %v = weft.handle @v : !weft.var<tensor<i32>>
  %one = weft.constant dense<1> : tensor<i32>
  %0 = weft.read %v : tensor<i32>
  weft.print "1: {}", %0 : tensor<i32>
  weft.assign_add %v, %one : tensor<i32>
  %1 = weft.read %v : tensor<i32>
  weft.print "2: {}", %1 : tensor<i32>
  %c = func.call @is_even(%1) : (tensor<i32>) -> i1
  scf.if %c {
    weft.assign_add %v, %one : tensor<i32>
    %2 = weft.read %v : tensor<i32>
    weft.print "3: {}", %2 : tensor<i32>
  }
  return
}

// C25: it is the assert that fails, whatever the op after it does.
// FAILS: {{.*}}: assertion failed in {{.*}}: wants a number from 0
func.func @c25(%x: tensor<f32>) -> tensor<f32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %ok = weft.greater_equal %x, %zero : tensor<f32>
  weft.assert %ok, "wants a number from 0" : tensor<i1>
  %0 = weft.log %x : tensor<f32>
  return %0 : tensor<f32>
}

// C25 with an op that would fail by itself: it waits.
// TOKENS-LABEL: func @c25_gather
// TOKENS: %[[T:.*]] = weft.assert
// TOKENS: %[[I:.*]] = weft.guard %{{.*}} after %[[T]]
// TOKENS: weft.gather %{{.*}}, %[[I]]
func.func @c25_gather(%i: tensor<i32>) -> tensor<i32> {
  %zero = weft.constant dense<0> : tensor<i32>
  %ok = weft.greater_equal %i, %zero : tensor<i32>
  weft.assert %ok, "wants a number from 0" : tensor<i1>
  %x = weft.constant dense<[1, 2, 3]> : tensor<3xi32>
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// C25 in a loop: what may fail is not taken out of it, nor does it fail in a loop without iterations.
// NO-TURN: tensor(0
func.func @c25_loop(%i: tensor<i32>, %n: tensor<i64>) -> tensor<i32> {
  %zero = weft.constant dense<0> : tensor<i32>
  %x = weft.constant dense<[1, 2, 3]> : tensor<3xi32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %count = weft.item %n : tensor<i64>
  %sum = scf.for %k = %c0 to %count step %c1 iter_args(%s = %zero) -> tensor<i32> : i64 {
    %ok = weft.greater_equal %i, %zero : tensor<i32>
    weft.assert %ok, "wants a number from 0" : tensor<i1>
    %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    %1 = weft.add %s, %0 : tensor<i32>
    scf.yield %1 : tensor<i32>
  }
  return %sum : tensor<i32>
}
