// Tokens in text: ops with effects take and give them, or neither; folds keep their order.
// RUN: weft-opt %s | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: weft-opt %s --weft-erase-tokens | FileCheck %s --check-prefix=ERASED --implicit-check-not=token

weft.variable @v : tensor<f32>

// CHECK-LABEL: func @every_op
// CHECK: %[[B:.*]] = weft.begin : !weft.token
// CHECK: %[[X:.*]], %[[T1:.*]] = weft.read %{{.*}} after %[[B]] : tensor<f32>
// CHECK: %[[T2:.*]] = weft.assign %{{.*}}, %[[X]] after %[[T1]] : tensor<f32>
// CHECK: %[[T3:.*]] = weft.assign_add %{{.*}}, %[[X]] after %[[T2]] : tensor<f32>
// CHECK: %[[T4:.*]] = weft.print "x" after %[[B]]
// CHECK: %[[T5:.*]] = weft.print "x {} {}", %[[X]], %[[X]] after %[[T4]] : tensor<f32>, tensor<f32> {a}
// CHECK: %[[T6:.*]] = weft.join %[[T5]], %[[T3]]
// CHECK: %[[T7:.*]] = weft.assert %{{.*}}, "c" after %[[T6]] : tensor<i1>
// CHECK: %[[T8:.*]] = weft.assert %{{.*}}, "c", %[[X]], %[[X]] after %[[T7]] {a} : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: weft.guard %[[X]] after %[[T8]] : tensor<f32>
// CHECK: weft.finish %[[T8]]
// ERASED-LABEL: func @every_op
// ERASED-NOT: weft.begin
// ERASED: %[[X:.*]] = weft.read %{{.*}} : tensor<f32>
// ERASED: weft.assign %{{.*}}, %[[X]] : tensor<f32>
// ERASED: weft.assign_add %{{.*}}, %[[X]] : tensor<f32>
// ERASED: weft.print "x"
// ERASED: weft.print "x {} {}", %[[X]], %[[X]] : tensor<f32>, tensor<f32> {a}
// ERASED: weft.assert %{{.*}}, "c" : tensor<i1>
// ERASED: weft.assert %{{.*}}, "c", %[[X]], %[[X]] {a} : tensor<i1>, tensor<f32>, tensor<f32>
// ERASED-NEXT: return %[[X]]
func.func @every_op(%c: tensor<i1>) -> tensor<f32> {
  %b = weft.begin : !weft.token
  %h = weft.handle @v : !weft.var<tensor<f32>>
  %x, %t1 = weft.read %h after %b : tensor<f32>
  %t2 = weft.assign %h, %x after %t1 : tensor<f32>
  %t3 = weft.assign_add %h, %x after %t2 : tensor<f32>
  %t4 = weft.print "x" after %b
  %t5 = weft.print "x {} {}", %x, %x after %t4 : tensor<f32>, tensor<f32> {a}
  %t6 = weft.join %t5, %t3
  %t7 = weft.assert %c, "c" after %t6 : tensor<i1>
  %t8 = weft.assert %c, "c", %x, %x after %t7 {a} : tensor<i1>, tensor<f32>, tensor<f32>
  %y = weft.guard %x after %t8 : tensor<f32>
  weft.finish %t8
  return %y : tensor<f32>
}

// Structured ops lose their tokens, and keep what else they carry.
// ERASED-LABEL: func @structured
// ERASED-SAME: (%[[X:.*]]: tensor<f32>, %{{.*}}: i1, %{{.*}}: index) -> tensor<f32>
// ERASED: scf.for {{.*}} iter_args(%[[S:.*]] = %[[X]]) -> (tensor<f32>)
// ERASED: %[[R:.*]] = scf.if {{.*}} -> (tensor<f32>)
// ERASED: weft.print "in"
// ERASED-NEXT: scf.yield %[[S]] : tensor<f32>
// ERASED: scf.yield %[[R]] : tensor<f32>
func.func @structured(%t: !weft.token, %x: tensor<f32>, %c: i1, %n: index) -> (!weft.token, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t, %s = %x) -> (!weft.token, tensor<f32>) {
    %y:2 = scf.if %c -> (tensor<f32>, !weft.token) {
      %p = weft.print "in" after %a
      scf.yield %s, %p : tensor<f32>, !weft.token
    } else {
      scf.yield %x, %a : tensor<f32>, !weft.token
    }
    %z = arith.select %c, %y#1, %a : !weft.token
    scf.yield %z, %y#0 : !weft.token, tensor<f32>
  }
  return %r#0, %r#1 : !weft.token, tensor<f32>
}

// Joins of one token, twice the same one, or one that says nothing are not needed.
// FOLD-LABEL: func @joins
// FOLD-SAME: (%[[A:.*]]: !weft.token, %[[B:.*]]: !weft.token)
// FOLD: %[[J:.*]] = weft.join %[[A]], %[[B]]
// FOLD: return %[[A]], %[[A]], %[[J]], %[[A]]
func.func @joins(%a: !weft.token, %b: !weft.token) -> (!weft.token, !weft.token, !weft.token, !weft.token) {
  %0 = weft.begin : !weft.token
  %1 = weft.join %a
  %2 = weft.join %a, %a
  %3 = weft.join %a, %b, %a
  %4 = weft.join %0, %a
  return %1, %2, %3, %4 : !weft.token, !weft.token, !weft.token, !weft.token
}

// Nothing must have happened.
// FOLD-LABEL: func @nothing
// FOLD-NEXT: return
func.func @nothing() {
  %0 = weft.begin : !weft.token
  weft.finish %0, %0
  return
}

// A read that nobody looks at hands its token on.
// FOLD-LABEL: func @unused_read
// FOLD-SAME: (%[[T:.*]]: !weft.token)
// FOLD-NEXT: return %[[T]]
func.func @unused_read(%t: !weft.token) -> !weft.token {
  %h = weft.handle @v : !weft.var<tensor<f32>>
  %x, %t1 = weft.read %h after %t : tensor<f32>
  return %t1 : !weft.token
}

// Moving elements cannot fail, so it need not wait, and the op that waits may absorb it.
// FOLD-LABEL: func @guarded_transpose
// FOLD: %[[G:.*]] = weft.guard %arg0 after %arg2
// FOLD: %[[T:.*]] = weft.transpose %[[G]]
// FOLD: weft.matmul %[[T]], %arg1
func.func @guarded_transpose(%x: tensor<?x?xf32>, %y: tensor<?x4xf32>, %t: !weft.token) -> tensor<?x4xf32> {
  %0 = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = weft.guard %0 after %t : tensor<?x?xf32>
  %2 = weft.matmul %1, %y : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
