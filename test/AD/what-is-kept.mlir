// What a loop keeps for its reverse: the fewest bytes from which everything else can be computed again by elementwise ops
// and movements of elements. What is the same in all iterations is not kept at all.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

// Of a chain from 2 to 64 elements and back the two elements, though all 64 are used.
// CHECK-LABEL: func.func @narrow(
// CHECK: weft.stack_empty() : tensor<3x2xf32>
// CHECK-NOT: weft.stack_empty
// CHECK: scf.for
// CHECK: weft.stack_store %{{.*}} : tensor<2xf32> in tensor<3x2xf32>
// CHECK-NOT: weft.stack_store
// CHECK: scf.for
// CHECK: %[[KEPT:.*]] = weft.stack_load %{{.*}} : tensor<3x2xf32> to tensor<2xf32>
// CHECK: weft.broadcast %[[KEPT]] to [32, 2]
func.func private @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %0 = weft.broadcast %a to [32, 2] : (tensor<2xf32>) -> tensor<32x2xf32>
    %1 = weft.sin %0 : tensor<32x2xf32>
    %2 = weft.exp %1 : tensor<32x2xf32>
    %3 = weft.sum %2 {axes = array<i64: 0>} : (tensor<32x2xf32>) -> tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @narrow(%x: tensor<2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @chain(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// One number behind a reduction, and not the 64 before it, which nothing else asks for.
// CHECK-LABEL: func.func @behind_a_reduction(
// CHECK: weft.stack_empty() : tensor<3xf32>
// CHECK-NOT: weft.stack_empty
// CHECK: return
func.func private @reduced(%x: tensor<64xf32>, %w: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %w) -> (tensor<64xf32>, tensor<f32>) {
    %0 = weft.sin %a : tensor<64xf32>
    %1 = weft.max %0 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
    %2 = weft.multiply %1, %w : tensor<f32>
    scf.yield %0, %2 : tensor<64xf32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
func.func @behind_a_reduction(%x: tensor<64xf32>, %w: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @reduced(%x, %w) wrt [1] : (tensor<64xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// A product of what does not change is found once, in front of the loop; a constant is found anywhere.
// CHECK-LABEL: func.func @invariant(
// CHECK: weft.matmul
// CHECK: weft.stack_empty() : tensor<3x2xf32>
// CHECK-NOT: weft.stack_empty
// CHECK: scf.for
// CHECK-NOT: weft.matmul
// CHECK: return
func.func private @same(%x: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %half = weft.constant dense<0.5> : tensor<2xf32>
    %0 = weft.matmul %w, %half : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = weft.multiply %a, %0 : tensor<2xf32>
    %2 = weft.multiply %1, %half : tensor<2xf32>
    %3 = weft.sin %2 : tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @invariant(%x: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @same(%x, %w) cotangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// What was read, printed or drawn is of the forward part alone: kept, never read, printed or drawn again.
// CHECK-LABEL: func.func @once(
// CHECK-DAG: weft.stack_empty() : tensor<3xf32>
// CHECK-DAG: weft.stack_empty() : tensor<3x2xf32>
// CHECK: scf.for
// CHECK: weft.read
// CHECK: weft.assign
// CHECK: weft.draw_uniform
// CHECK: weft.print
// CHECK: scf.for
// CHECK-NOT: weft.read
// CHECK-NOT: weft.assign
// CHECK-NOT: weft.draw_uniform
// CHECK-NOT: weft.print
// CHECK: return
weft.variable @v = dense<2.0> : tensor<f32>
func.func private @effects(%x: tensor<2xf32>, %state: tensor<2xi64>) -> tensor<2xf32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %s = %state) -> (tensor<2xf32>, tensor<2xi64>) {
    %0 = weft.read %v : tensor<f32>
    %1 = weft.add %0, %0 : tensor<f32>
    weft.assign %v, %1 : tensor<f32>
    %2 = weft.draw_uniform %s to [2] {dtype = f32} : (tensor<2xi64>) -> tensor<2xf32>
    %3 = weft.multiply %a, %2 : tensor<2xf32>
    %4 = weft.multiply %3, %0 : tensor<2xf32>, tensor<f32>
    weft.print "{}", %4 : tensor<2xf32>
    %5 = weft.add %s, %s : tensor<2xi64>
    scf.yield %4, %5 : tensor<2xf32>, tensor<2xi64>
  }
  return %r#0 : tensor<2xf32>
}
func.func @once(%x: tensor<2xf32>, %s: tensor<2xi64>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @effects(%x, %s) cotangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<2xi64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// An inner loop's stack is a value of the outer loop's iteration, kept in a stack of stacks.
// CHECK-LABEL: func.func @stack_of_stacks(
// CHECK: weft.stack_empty() : tensor<5x3x2xf32>
// CHECK: scf.for
// CHECK: weft.stack_empty() : tensor<3x2xf32>
// CHECK: %[[INNER:.*]]:2 = scf.for
// CHECK: weft.stack_store %[[INNER]]#1 in %{{.*}} : tensor<3x2xf32> in tensor<5x3x2xf32>
// CHECK: scf.for
// CHECK: %[[STACK:.*]] = weft.stack_load %{{.*}} : tensor<5x3x2xf32> to tensor<3x2xf32>
// CHECK: scf.for
// CHECK: weft.stack_load %[[STACK]][%{{.*}}] : tensor<3x2xf32> to tensor<2xf32>
func.func private @nested(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<2xf32>) {
      %0 = weft.sin %b : tensor<2xf32>
      scf.yield %0 : tensor<2xf32>
    }
    scf.yield %q : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @stack_of_stacks(%x: tensor<2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @nested(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// What does not change is moved once, also where the reverse asks first for what is computed from it.
// CHECK-LABEL: func.func @invariant_of_invariant(
// CHECK: %[[P:.*]] = weft.cumprod
// CHECK: weft.cumprod %[[P]]
// CHECK: scf.for
func.func private @scaled(%x: tensor<2xf64>, %w: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> tensor<2xf64> {
    %p = weft.cumprod %w {axis = 0 : i64} : tensor<2xf64>
    %q = weft.cumprod %p {axis = 0 : i64} : tensor<2xf64>
    %n = weft.multiply %y, %q : tensor<2xf64>
    scf.yield %n : tensor<2xf64>
  }
  return %r : tensor<2xf64>
}
func.func @invariant_of_invariant(%x: tensor<2xf64>, %w: tensor<2xf64>, %d: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %0:3 = weft.vjp @scaled(%x, %w) cotangents(%d) wrt [0, 1] : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %0#1, %0#2 : tensor<2xf64>, tensor<2xf64>
}
