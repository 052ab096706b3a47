// Asserts and checks become branches that leave, and take along what only they need.
// RUN: weft-opt %s --weft-branch-on-checks --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @each_kind
// CHECK-SAME: (%[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<5xi64>, %[[N:.*]]: index, %[[FITS:.*]]: i1)
// CHECK: %[[HOLDS:.*]] = tensor.extract %[[C]][]
// CHECK: %[[BROKEN:.*]] = arith.xori %[[HOLDS]]
// CHECK: scf.if %[[BROKEN]] {
// CHECK-NEXT: weft.leave assertion "c holds", %[[X]] : tensor<4xf32>
// CHECK-NEXT: }
// CHECK: %[[FOUND:.*]] = weft.outside %[[I]] below %[[N]] : tensor<5xi64>
// CHECK: scf.if %[[FOUND]] {
// CHECK-NEXT: weft.leave index "gather", %[[I]], %[[N]] : tensor<5xi64>, index
// CHECK-NEXT: }
// CHECK: arith.xori %[[FITS]]
// CHECK: scf.if
// CHECK-NEXT: weft.leave shape "the size is {}", %[[N]] : index
// CHECK-NEXT: }
// CHECK-NEXT: weft.leave print "x is {}", %[[X]] : tensor<4xf32>
// CHECK-NEXT: return
func.func @each_kind(%c: tensor<i1>, %x: tensor<4xf32>, %i: tensor<5xi64>, %n: index, %fits: i1) {
  weft.assert %c, "c holds", %x : tensor<i1>, tensor<4xf32>
  weft.check_indices %i below %n for "gather" : tensor<5xi64>
  weft.check_sizes %fits, "the size is {}", %n
  weft.print "x is {}", %x : tensor<4xf32>
  return
}

// -----

// Each leaves the state that was told last: in its block, or around it.
// CHECK-LABEL: func @state
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK-NOT: weft.on_stop
// CHECK: scf.if
// CHECK: weft.leave shape "first" leaving [@w] = %[[W]] : tensor<4xf32>
// CHECK: %[[NEXT:.*]] = math.exp %[[W]]
// CHECK: scf.for
// CHECK: weft.leave print "second" leaving [@w] = %[[NEXT]] : tensor<4xf32>
// CHECK: weft.leave print "third" leaving [@w] = %[[W]] : tensor<4xf32>
// CHECK: weft.leave print "fourth" leaving [@w] = %[[NEXT]] : tensor<4xf32>
func.func @state(%fits: i1, %n: index, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32> {weft.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  weft.on_stop [@w] = %w : tensor<4xf32>
  cf.assert %fits, "first"
  %next = math.exp %w : tensor<4xf32>
  weft.on_stop [@w] = %next : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    weft.print "second"
    weft.on_stop [@w] = %w : tensor<4xf32>
    weft.print "third"
  }
  weft.print "fourth"
  return %next : tensor<4xf32>
}

// -----

// What only the failure needs is computed there, with all that only this needs: its input is not
// written to.
// CHECK-LABEL: func @sinks
// CHECK-SAME: (%[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>,
// CHECK-NOT: math.
// CHECK: scf.if
// CHECK-NEXT: %[[A:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[B:.*]] = math.absf %[[A]]
// CHECK-NEXT: weft.leave assertion "c" leaving [@w] = %[[B]]
// CHECK: math.sqrt %[[X]]
func.func @sinks(%c: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32> {weft.variable = @w}) {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.absf %0 : tensor<4xf32>
  weft.on_stop [@w] = %1 : tensor<4xf32>
  weft.assert %c, "c" : tensor<i1>
  %2 = math.sqrt %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Not where this would keep the old value of a variable alive, which could have been overwritten by
// then. A value that is read later anyway is no such case.
// CHECK-LABEL: func @kept_alive
// CHECK: math.exp
// CHECK: scf.if
// CHECK-NEXT: weft.leave
// CHECK-LABEL: func @read_later
// CHECK: scf.if
// CHECK-NEXT: math.exp
// CHECK-NEXT: weft.leave
func.func @kept_alive(%c: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32> {weft.variable = @w}) {
  %0 = math.exp %w : tensor<4xf32>
  weft.on_stop [@w] = %0 : tensor<4xf32>
  weft.assert %c, "c" : tensor<i1>
  return %x : tensor<4xf32>
}
func.func @read_later(%c: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<4xf32> {weft.variable = @w}) {
  %0 = math.exp %w : tensor<4xf32>
  weft.on_stop [@w] = %0 : tensor<4xf32>
  weft.assert %c, "c" : tensor<i1>
  %1 = math.sqrt %w : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A scalar becomes a tensor in each branch that wants one.
// CHECK-LABEL: func @scalar
// CHECK-SAME: %[[N:[^ ]*]]: i32
// CHECK-NOT: tensor.from_elements
// CHECK: scf.if
// CHECK-NEXT: %[[A:.*]] = tensor.from_elements %[[N]]
// CHECK-NEXT: weft.leave shape "first" leaving [@n] = %[[A]]
// CHECK: scf.if
// CHECK-NEXT: %[[B:.*]] = tensor.from_elements %[[N]]
// CHECK-NEXT: weft.leave shape "second" leaving [@n] = %[[B]]
func.func @scalar(%fits: i1, %n: i32) {
  %0 = tensor.from_elements %n : tensor<i32>
  weft.on_stop [@n] = %0 : tensor<i32>
  cf.assert %fits, "first"
  cf.assert %fits, "second"
  return
}

// -----

// A check of sizes leaves as those of the conversion to linalg do.
// CHECK-LABEL: func @of_sizes
// CHECK-SAME: (%[[C:.*]]: tensor<i1>, %[[N:.*]]: tensor<i64>)
// CHECK: scf.if
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[N]][]
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[NUMBER]] : i64 to index
// CHECK: weft.leave shape "there are {}", %[[SIZE]] : index
func.func @of_sizes(%c: tensor<i1>, %n: tensor<i64>) {
  weft.assert %c, "there are {}", %n {of_sizes = true} : tensor<i1>, tensor<i64>
  // CHECK: weft.leave value "{} are asked for", %{{.*}} : index
  weft.assert %c, "{} are asked for", %n {of_sizes = true, error = "value"} : tensor<i1>, tensor<i64>
  // CHECK: weft.leave bounds "no"
  weft.assert %c, "no" {of_sizes = true, error = "index"} : tensor<i1>
  return
}

// -----

func.func @vector(%c: tensor<2xi1>) {
  // expected-error@below {{'weft.assert' op wants a scalar condition by now; weft-to-linalg makes it one}}
  weft.assert %c, "c" : tensor<2xi1>
  return
}

// -----

// An interrupt is taken where it was requested, and leaves what the iteration began with.
// CHECK-LABEL: func @poll
// CHECK: scf.for {{.*}} iter_args(%[[W:.*]] = %{{.*}})
// CHECK-NEXT: %[[REQUESTED:.*]] = weft.interrupted
// CHECK-NEXT: scf.if %[[REQUESTED]] {
// CHECK-NEXT: weft.leave interrupt "" leaving [@w] = %[[W]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @poll(%n: index, %w: tensor<4xf32> {weft.variable = @w}) -> (tensor<4xf32> {weft.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %w) -> (tensor<4xf32>) {
    weft.on_stop [@w] = %s : tensor<4xf32>
    weft.poll
    %t = math.exp %s : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A routine whose op may stop the call says what was told last, as one on sizes that only the call knows does, which it compares;
// one that cannot throw keeps no value alive.
// CHECK-LABEL: func @routines
// CHECK-SAME: %[[W:[^ ]*]]: tensor<4xf32> {weft.variable = @w}
// CHECK: weft.call_into "cholesky"{{.*}} leaving [@w] = %[[W]] : tensor<4xf32>{{$}}
// CHECK: %[[NEXT:.*]] = math.exp %[[W]]
// CHECK: weft.call_into "qr"{{.*}} into tensor<3x3xf32>, tensor<3x3xf32>{{$}}
// CHECK: scf.if
// CHECK: weft.call_into "sort"{{.*}} leaving [@w] = %[[NEXT]] : tensor<4xf32>{{$}}
// CHECK-NOT: weft.on_stop
func.func @routines(%x: tensor<3x3xf32>, %s: tensor<?xf32>, %c: i1, %w: tensor<4xf32> {weft.variable = @w})
    -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<?xf32>, tensor<4xf32> {weft.variable = @w}) {
  weft.on_stop [@w] = %w : tensor<4xf32>
  %0 = tensor.empty() : tensor<3x3xf32>
  %l = weft.call_into "cholesky"(%x) numbers() into %0 {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32>
  %next = math.exp %w : tensor<4xf32>
  weft.on_stop [@w] = %next : tensor<4xf32>
  %q, %r = weft.call_into "qr"(%l) numbers() into %0, %0 {attrs = array<i64: 0>} : (tensor<3x3xf32>) into tensor<3x3xf32>, tensor<3x3xf32>
  %y = scf.if %c -> tensor<?xf32> {
    %1 = weft.call_into "sort"(%s) numbers() into %s {attrs = array<i64: 0, 0>} : (tensor<?xf32>) into tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    scf.yield %s : tensor<?xf32>
  }
  return %q, %r, %y, %next : tensor<3x3xf32>, tensor<3x3xf32>, tensor<?xf32>, tensor<4xf32>
}

// -----

// Where nobody told anything there is nothing to say.
// CHECK-LABEL: func @no_variables
// CHECK: weft.call_into "cholesky"{{.*}} into tensor<3x3xf32>{{$}}
func.func @no_variables(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = tensor.empty() : tensor<3x3xf32>
  %l = weft.call_into "cholesky"(%x) numbers() into %0 {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32>
  return %l : tensor<3x3xf32>
}
