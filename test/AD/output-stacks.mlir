// State that only collects what the iterations give has one cotangent for all of them: the reverse of the loop reads it, and
// carries and clears nothing. What an iteration adds to it is not kept beside it.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -split-input-file -verify-each | FileCheck %s

// CHECK-LABEL: func.func @collected(
// CHECK-SAME: %{{.*}}: tensor<2x2xf32>, %{{.*}}: tensor<2x2xf32>, %[[D:.*]]: tensor<5x2x2xf32>)
// CHECK-NOT: weft.stack_empty
// CHECK: %[[RESULT:.*]]:2 = scf.for
// CHECK: weft.update_slice
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<2x2xf32>)
// CHECK-DAG: weft.stack_load %[[RESULT]]#1
// CHECK-DAG: weft.gather %[[D]]
// CHECK-NOT: weft.update_slice
// CHECK: return
func.func private @f(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<5x2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %four = weft.constant dense<4> : tensor<i32>
  %none = weft.constant dense<0.0> : tensor<5x2x2xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x, %all = %none) -> (tensor<2x2xf32>, tensor<5x2x2xf32>) {
    %0 = arith.index_cast %i : index to i64
    %1 = tensor.from_elements %0 : tensor<i64>
    %2 = weft.cast %1 to i32 : tensor<i64>
    %at = weft.subtract %four, %2 : tensor<i32>
    %3 = weft.matmul %h, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %4 = weft.exp %3 : tensor<2x2xf32>
    %next = weft.update_slice %all, %at, %4 {axis = 0 : i64} : (tensor<5x2x2xf32>, tensor<i32>, tensor<2x2xf32>) -> tensor<5x2x2xf32>
    scf.yield %4, %next : tensor<2x2xf32>, tensor<5x2x2xf32>
  }
  return %r#1 : tensor<5x2x2xf32>
}
func.func @collected(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %d: tensor<5x2x2xf32>) -> tensor<2x2xf32> {
  %0:2 = weft.vjp @f(%x, %w) cotangents(%d) wrt [0] : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<5x2x2xf32>) -> (tensor<5x2x2xf32>, tensor<2x2xf32>)
  return %0#1 : tensor<2x2xf32>
}

// -----

// An entry that an iteration before has filled too, and state that is also read: an iteration takes its slice out and clears it.
// CHECK-LABEL: func.func @filled_twice(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: weft.update_slice
func.func private @f(%x: tensor<2xf32>) -> tensor<5x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %two = weft.constant dense<2> : tensor<i64>
  %none = weft.constant dense<0.0> : tensor<5x2xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x, %all = %none) -> (tensor<2xf32>, tensor<5x2xf32>) {
    %0 = arith.index_cast %i : index to i64
    %1 = tensor.from_elements %0 : tensor<i64>
    %at = weft.remainder %1, %two : tensor<i64>
    %4 = weft.tanh %h : tensor<2xf32>
    %next = weft.update_slice %all, %at, %4 {axis = 0 : i64} : (tensor<5x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<5x2xf32>
    scf.yield %4, %next : tensor<2xf32>, tensor<5x2xf32>
  }
  return %r#1 : tensor<5x2xf32>
}
func.func @filled_twice(%x: tensor<2xf32>, %d: tensor<5x2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @f(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<5x2xf32>) -> (tensor<5x2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// -----

// State that begins with something differentiated: its cotangent before the loop is not that behind it.
// CHECK-LABEL: func.func @begins_with_x(
// CHECK: scf.for
// CHECK: weft.update_slice
func.func private @f(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %h = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%all = %x) -> (tensor<5x2xf32>) {
    %0 = arith.index_cast %i : index to i64
    %at = tensor.from_elements %0 : tensor<i64>
    %next = weft.update_slice %all, %at, %h {axis = 0 : i64} : (tensor<5x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<5x2xf32>
    scf.yield %next : tensor<5x2xf32>
  }
  return %r : tensor<5x2xf32>
}
func.func @begins_with_x(%x: tensor<5x2xf32>, %d: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %0:2 = weft.vjp @f(%x) cotangents(%d) wrt [0] : (tensor<5x2xf32>, tensor<5x2xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>)
  return %0#1 : tensor<5x2xf32>
}
