// What weft-insert-control-deps makes of loops, calls, asserts and handles that are chosen at run time.
// RUN: weft-opt %s --weft-insert-control-deps --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-insert-control-deps --split-input-file | FileCheck %s

weft.variable @v : tensor<f32>
weft.variable @w : tensor<f32>

// A loop that only reads v takes the last write's token for each iteration's read, and gathers what its reads give: iterations do not wait
// for each other, the write after the loop waits for all. What the loop writes it carries.
// CHECK-LABEL: func @loop
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[SEEN:.*]] = %[[B]], %[[W:.*]] = %[[B]])
// CHECK: %[[X:.*]], %[[T:.*]] = weft.read %{{.*}} after %[[B]]
// CHECK: %[[NEXT:.*]] = weft.assign_add %{{.*}}, %[[X]] after %[[W]]
// CHECK: %[[J:.*]] = weft.join %[[SEEN]], %[[T]]
// CHECK: scf.yield %[[J]], %[[NEXT]]
// CHECK: %[[LAST:.*]] = weft.assign %{{.*}} after %[[R]]#0
// CHECK: weft.finish %[[LAST]], %[[R]]#1
func.func @loop(%n: index, %x: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %w = weft.handle @w : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = weft.read %v : tensor<f32>
    weft.assign_add %w, %0 : tensor<f32>
  }
  weft.assign %v, %x : tensor<f32>
  return
}

// A variable that nobody writes needs no order: its reads may leave the loop.
// CHECK-LABEL: func @constant
// CHECK: %[[B:.*]] = weft.begin
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<f32>)
// CHECK: weft.read %{{.*}} after %[[B]]
// CHECK-NOT: weft.finish
func.func @constant(%n: index, %x: tensor<f32>) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<f32> {
    %0 = weft.read %v : tensor<f32>
    %1 = weft.add %s, %0 : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

// Effects in a condition give their tokens to the body and to what follows the loop.
// CHECK-LABEL: func @condition
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[R:.*]] = scf.while (%[[T0:.*]] = %[[B]]) : (!weft.token) -> !weft.token
// CHECK: %[[T1:.*]] = weft.assign_add %{{.*}} after %[[T0]]
// CHECK: %{{.*}}, %[[T2:.*]] = weft.read %{{.*}} after %[[T1]]
// CHECK: scf.condition(%{{.*}}) %[[T2]]
// CHECK: ^bb0(%[[T3:.*]]: !weft.token)
// CHECK: %[[T4:.*]] = weft.assign_add %{{.*}} after %[[T3]]
// CHECK: scf.yield %[[T4]]
// CHECK: weft.finish %[[R]]
func.func @condition(%one: tensor<f32>, %limit: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  scf.while : () -> () {
    weft.assign_add %v, %one : tensor<f32>
    %now = weft.read %v : tensor<f32>
    %less = weft.less %now, %limit : tensor<f32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c)
  } do {
    weft.assign_add %v, %one : tensor<f32>
    scf.yield
  }
  return
}

// An assert stands between the writes before it and after it, of all variables, but not among reads.
// CHECK-LABEL: func @assert
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[V:.*]] = weft.assign %{{.*}} after %[[B]]
// CHECK: %[[W:.*]] = weft.assign %{{.*}} after %[[B]]
// CHECK: %{{.*}}, %[[R1:.*]] = weft.read %{{.*}} after %[[V]]
// CHECK: %[[J:.*]] = weft.join %[[V]], %[[W]]
// CHECK: %[[A:.*]] = weft.assert %{{.*}} after %[[J]]
// CHECK: %{{.*}}, %[[R2:.*]] = weft.read %{{.*}} after %[[V]]
// CHECK: %[[J2:.*]] = weft.join %[[R1]], %[[A]], %[[R2]]
// CHECK: %[[V2:.*]] = weft.assign %{{.*}} after %[[J2]]
// CHECK: %[[W2:.*]] = weft.assign %{{.*}} after %[[A]]
// CHECK: weft.finish %[[V2]], %[[W2]]
func.func @assert(%x: tensor<f32>, %ok: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %w = weft.handle @w : !weft.var<tensor<f32>>
  weft.assign %v, %x : tensor<f32>
  weft.assign %w, %x : tensor<f32>
  %0 = weft.read %v : tensor<f32>
  weft.assert %ok, "ok" : tensor<i1>
  %1 = weft.read %v : tensor<f32>
  weft.assign %v, %x : tensor<f32>
  weft.assign %w, %x : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// A write through a handle that is chosen at run time is a write of each variable that it may be.
// CHECK-LABEL: func @chosen
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[V:.*]] = weft.assign %{{.*}} after %[[B]]
// CHECK: %[[W:.*]] = weft.assign %{{.*}} after %[[B]]
// CHECK: %[[J:.*]] = weft.join %[[V]], %[[W]]
// CHECK: %[[C:.*]] = weft.assign %{{.*}} after %[[J]]
// CHECK: weft.read %{{.*}} after %[[C]]
func.func @chosen(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %w = weft.handle @w : !weft.var<tensor<f32>>
  weft.assign %v, %x : tensor<f32>
  weft.assign %w, %x : tensor<f32>
  %h = scf.if %c -> !weft.var<tensor<f32>> {
    scf.yield %v : !weft.var<tensor<f32>>
  } else {
    scf.yield %w : !weft.var<tensor<f32>>
  }
  weft.assign %h, %x : tensor<f32>
  %0 = weft.read %v : tensor<f32>
  return %0 : tensor<f32>
}

// -----

weft.variable @v : tensor<f32>
weft.variable @w : tensor<f32>

// Others may call a public function, so it keeps its signature; calls from here take a private copy, which takes and gives tokens.
// CHECK-LABEL: func @public
// CHECK-SAME: (%{{.*}}: tensor<f32>) {
// CHECK: weft.begin
// CHECK: weft.finish
func.func @public(%x: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  weft.assign %v, %x : tensor<f32>
  return
}

// CHECK-LABEL: func @caller
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[T:.*]] = call @[[COPY:public_[0-9]+]](%{{.*}}, %[[B]]) : (tensor<f32>, !weft.token) -> !weft.token
// CHECK: weft.finish %[[T]]
func.func @caller(%x: tensor<f32>) {
  func.call @public(%x) : (tensor<f32>) -> ()
  return
}

// A function that asserts waits for all writes before its call, of variables that it does not know too.
// CHECK-LABEL: func private @asserts
// CHECK-SAME: (%{{.*}}: tensor<i1>, %[[IO:.*]]: !weft.token, %[[ALL:.*]]: !weft.token) -> (!weft.token, !weft.token)
// CHECK: %[[J:.*]] = weft.join %[[IO]], %[[ALL]]
// CHECK: %[[T:.*]] = weft.assert %{{.*}} after %[[J]]
// CHECK: return %[[T]], %[[T]]
func.func private @asserts(%c: tensor<i1>) {
  weft.assert %c, "c" : tensor<i1>
  return
}

// CHECK-LABEL: func @calls_assert
// CHECK: %[[B:.*]] = weft.begin
// CHECK: %[[V:.*]] = weft.assign %{{.*}} after %[[B]]
// CHECK: %[[R:.*]]:2 = call @asserts(%{{.*}}, %[[B]], %[[V]])
// CHECK: %[[V2:.*]] = weft.assign %{{.*}} after %[[R]]#1
// CHECK: weft.finish %[[R]]#0, %[[V2]]
func.func @calls_assert(%x: tensor<f32>, %c: tensor<i1>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  weft.assign %v, %x : tensor<f32>
  func.call @asserts(%c) : (tensor<i1>) -> ()
  weft.assign %v, %x : tensor<f32>
  return
}

// CHECK: func private @[[COPY]](%{{.*}}: tensor<f32>, %[[T0:.*]]: !weft.token) -> !weft.token
// CHECK: %[[T1:.*]] = weft.assign %{{.*}} after %[[T0]]
// CHECK: return %[[T1]]

// -----

// A function without effects stays as it is.
// CHECK-LABEL: func @pure
// CHECK-NOT: token
func.func @pure(%x: tensor<f32>) -> tensor<f32> {
  %0 = weft.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
