// Variables become arguments, and results where they are assigned.
// RUN: weft-opt %s --weft-lift-state --split-input-file | FileCheck %s

weft.variable @n : tensor<i32>
weft.variable @w : tensor<4xf32>

// An update is the value of a later read. A variable that is only read, or not used, has an argument
// but no result.
// CHECK-LABEL: func @count
// CHECK-SAME: (%[[BY:.*]]: tensor<i32>, %[[N:.*]]: tensor<i32> {weft.variable = @n}, %[[W:.*]]: tensor<4xf32> {weft.variable = @w})
// CHECK-SAME: -> (tensor<i32>, tensor<i32> {weft.variable = @n})
// CHECK: %[[SUM:.*]] = weft.add %[[N]], %[[BY]]
// CHECK: %[[TWICE:.*]] = weft.multiply %[[SUM]], %[[SUM]]
// CHECK: return %[[TWICE]], %[[SUM]]
func.func @count(%by: tensor<i32>) -> tensor<i32> {
  %n = weft.handle @n : !weft.var<tensor<i32>>
  weft.assign_add %n, %by : tensor<i32>
  %0 = weft.read %n : tensor<i32>
  %1 = weft.multiply %0, %0 : tensor<i32>
  return %1 : tensor<i32>
}

// -----

weft.variable @w : tensor<4xf32>

// The branch that does not assign yields the value from before.
// CHECK-LABEL: func @branch
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: %[[R:.*]] = scf.if
// CHECK: scf.yield %[[X:.*]] : tensor<4xf32>
// CHECK: else
// CHECK: scf.yield %[[W]] : tensor<4xf32>
// CHECK: return %[[R]]
func.func @branch(%c: i1, %x: tensor<4xf32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  scf.if %c {
    weft.assign %w, %x : tensor<4xf32>
  }
  return
}

// -----

weft.variable @w : tensor<4xf32>

// A loop carries what it assigns; what it only reads stays as it is. Results it had stay in front.
// CHECK-LABEL: func @loop
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[NOW:.*]] = %[[W]])
// CHECK: %[[NEXT:.*]] = weft.multiply %[[NOW]], %[[A]]
// CHECK: scf.yield %[[NOW]], %[[NEXT]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @loop(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %now = weft.read %w : tensor<4xf32>
    %next = weft.multiply %now, %a : tensor<4xf32>
    weft.assign %w, %next : tensor<4xf32>
    scf.yield %now : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

weft.variable @n : tensor<i32>

// Assigns count in the condition of a loop as well, also on its last iteration.
// CHECK-LABEL: func @while
// CHECK-SAME: %[[N:[^ ]*]]: tensor<i32> {weft.variable = @n}
// CHECK: %[[R:.*]] = scf.while (%[[NOW:.*]] = %[[N]])
// CHECK: %[[NEXT:.*]] = weft.add %[[NOW]], %{{.*}}
// CHECK: scf.condition(%{{.*}}) %[[NEXT]]
// CHECK: ^bb0(%[[INNER:.*]]: tensor<i32>)
// CHECK: scf.yield %[[INNER]]
// CHECK: return %[[R]]
func.func @while(%one: tensor<i32>, %limit: tensor<i32>) {
  %n = weft.handle @n : !weft.var<tensor<i32>>
  scf.while : () -> () {
    weft.assign_add %n, %one : tensor<i32>
    %now = weft.read %n : tensor<i32>
    %less = weft.less %now, %limit : tensor<i32>
    %c = weft.item %less : tensor<i1>
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}

// -----

weft.variable @n : tensor<i32>
weft.variable @w : tensor<4xf32>
weft.variable @kept : tensor<4xf32>

// Before what may end the call stands what the variables hold then, of those that the function writes:
// once for as long as it is true.
// CHECK-LABEL: func @stops
// CHECK-SAME: %[[N:[^ ]*]]: tensor<i32> {weft.variable = @n}, %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK-NEXT: weft.on_stop [@n, @w] = %[[N]], %[[W]] : tensor<i32>, tensor<4xf32>
// CHECK-NEXT: weft.assert
// CHECK-NEXT: weft.print
// CHECK-NEXT: %[[N1:.*]] = weft.add %[[N]],
// CHECK-NEXT: weft.on_stop [@n, @w] = %[[N1]], %[[W]] : tensor<i32>, tensor<4xf32>
// CHECK-NEXT: %[[P:.*]] = weft.gather
// CHECK-NEXT: weft.assert
// CHECK-NEXT: return %[[P]], %[[N1]], %[[P]]
func.func @stops(%by: tensor<i32>, %c: tensor<i1>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %n = weft.handle @n : !weft.var<tensor<i32>>
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %k = weft.handle @kept : !weft.var<tensor<4xf32>>
  weft.assert %c, "first" : tensor<i1>
  weft.print "second"
  weft.assign_add %n, %by : tensor<i32>
  %0 = weft.read %k : tensor<4xf32>
  %1 = weft.gather %0, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  weft.assert %c, "third" : tensor<i1>
  weft.assign %w, %1 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

weft.variable @w : tensor<4xf32>

// A loop's own values count in its body, and afterwards what it leaves; sizes that are not known may
// not fit.
// CHECK-LABEL: func @stops_inside
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK-NOT: weft.on_stop
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[W]])
// CHECK: scf.if
// CHECK-NEXT: weft.on_stop [@w] = %[[NOW]] : tensor<4xf32>
// CHECK-NEXT: weft.assert
// CHECK: %[[NEXT:.*]] = weft.exp %[[NOW]]
// CHECK-NEXT: weft.on_stop [@w] = %[[NEXT]] : tensor<4xf32>
// CHECK-NEXT: weft.assert
// CHECK: weft.on_stop [@w] = %[[R]] : tensor<4xf32>
// CHECK-NEXT: weft.add
func.func @stops_inside(%p: i1, %n: index, %c: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      weft.assert %c, "inside" : tensor<i1>
    }
    %now = weft.read %w : tensor<4xf32>
    %next = weft.exp %now : tensor<4xf32>
    weft.assign %w, %next : tensor<4xf32>
    weft.assert %c, "in the loop" : tensor<i1>
  }
  %s = weft.add %x, %x : tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

weft.variable @w : tensor<4xf32>

// Nothing is said where nothing can fail, or nothing is written.
// CHECK-LABEL: func @cannot_fail
// CHECK-NOT: weft.on_stop
// CHECK-LABEL: func @writes_nothing
// CHECK-NOT: weft.on_stop
func.func @cannot_fail(%x: tensor<4xf32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  weft.assign %w, %x : tensor<4xf32>
  %0 = weft.exp %x : tensor<4xf32>
  weft.assign %w, %0 : tensor<4xf32>
  return
}
func.func @writes_nothing(%c: tensor<i1>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %0 = weft.read %w : tensor<4xf32>
  weft.assert %c, "c" , %0 : tensor<i1>, tensor<4xf32>
  return
}
