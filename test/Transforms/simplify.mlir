// What goes changes no bit of a result.
// RUN: weft-opt %s --weft-simplify --split-input-file | FileCheck %s

// x * 1, x / 1 and x - 0 are x.
// CHECK-LABEL: func @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: return %[[X]]
func.func @neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %0 = weft.multiply %one, %x : tensor<f32>, tensor<4xf32>
  %1 = weft.divide %0, %one : tensor<4xf32>, tensor<f32>
  %2 = weft.subtract %1, %zero : tensor<4xf32>, tensor<f32>
  return %2 : tensor<4xf32>
}

// -----

// x + 0 is not x for x = -0; x + -0 is.
// CHECK-LABEL: func @zeros
// CHECK: %[[A:.*]] = weft.add
// CHECK-NOT: weft.add
// CHECK: return %[[A]], %{{.*}}
func.func @zeros(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %minus = weft.constant dense<-0.0> : tensor<f32>
  %0 = weft.add %x, %zero : tensor<4xf32>, tensor<f32>
  %1 = weft.add %x, %minus : tensor<4xf32>, tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A neutral operand that widens the result stays.
// CHECK-LABEL: func @widens
// CHECK: weft.multiply
func.func @widens(%x: tensor<1xf32>) -> tensor<4xf32> {
  %ones = weft.constant dense<1.0> : tensor<4xf32>
  %0 = weft.multiply %x, %ones : tensor<1xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @transposed
// CHECK: weft.matmul %{{.*}}, %{{.*}} {transpose_lhs = true}
func.func @transposed(%a: tensor<5x3x2xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %t = weft.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<5x3x2xf32>) -> tensor<5x2x3xf32>
  %0 = weft.matmul %t, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

// -----

// A transpose of the batch is none of the matrix.
// CHECK-LABEL: func @batch_transposed
// CHECK: weft.transpose
func.func @batch_transposed(%a: tensor<5x6x3x2xf32>, %b: tensor<2x4xf32>) -> tensor<6x5x3x4xf32> {
  %t = weft.transpose %a {permutation = array<i64: 1, 0, 2, 3>} : (tensor<5x6x3x2xf32>) -> tensor<6x5x3x2xf32>
  %0 = weft.matmul %t, %b : (tensor<6x5x3x2xf32>, tensor<2x4xf32>) -> tensor<6x5x3x4xf32>
  return %0 : tensor<6x5x3x4xf32>
}

// -----

// The op broadcasts by itself, as long as something else gives the size.
// CHECK-LABEL: func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<f32>)
// CHECK: %[[SUM:.*]] = weft.add %[[X]], %[[S]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[B:.*]] = weft.broadcast
// CHECK: weft.add %[[S]], %[[B]]
func.func @broadcast(%x: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b = weft.broadcast %s to [4] : (tensor<f32>) -> tensor<4xf32>
  %0 = weft.add %x, %b : tensor<4xf32>
  %c = weft.broadcast %s to [4] : (tensor<f32>) -> tensor<4xf32>
  %d = weft.broadcast %s to [4] : (tensor<f32>) -> tensor<4xf32>
  %1 = weft.add %c, %d : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Constants are folded by the eager kernels.
// CHECK-LABEL: func @fold
// CHECK: %[[R:.*]] = weft.constant dense<[1.10517097, 1.22140276]>
// CHECK: return %[[R]]
func.func @fold() -> tensor<2xf32> {
  %a = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = weft.constant dense<0.1> : tensor<f32>
  %c = weft.multiply %a, %b : tensor<2xf32>, tensor<f32>
  %e = weft.exp %c : tensor<2xf32>
  return %e : tensor<2xf32>
}

// -----

// A large tensor is not made of a small one, and a call that fails, fails when it runs.
// CHECK-LABEL: func @keep
// CHECK: weft.broadcast
// CHECK: weft.gather
func.func @keep() -> (tensor<1000xf32>, tensor<1xf32>) {
  %s = weft.constant dense<0.5> : tensor<f32>
  %0 = weft.broadcast %s to [1000] : (tensor<f32>) -> tensor<1000xf32>
  %x = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = weft.constant dense<[7]> : tensor<1xi32>
  %1 = weft.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %0, %1 : tensor<1000xf32>, tensor<1xf32>
}

// -----

// CHECK-LABEL: func @twice
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<4xi1>)
// CHECK: return %[[X]], %[[P]], %[[X]], %[[X]], %[[X]]
func.func @twice(%x: tensor<4xf32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.negate %x : tensor<4xf32>
  %1 = weft.negate %0 : tensor<4xf32>
  %2 = weft.logical_not %p : tensor<4xi1>
  %3 = weft.logical_not %2 : tensor<4xi1>
  %4 = weft.reverse %x {axes = array<i64: 0>} : tensor<4xf32>
  %5 = weft.reverse %4 {axes = array<i64: 0>} : tensor<4xf32>
  %6 = weft.cast %x to f32 : tensor<4xf32>
  %7 = weft.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  return %1, %3, %5, %6, %7 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Integers have neutral operands too, of either side where the op commutes.
// CHECK-LABEL: func @integers
// CHECK-SAME: (%[[N:.*]]: tensor<4xi64>)
// CHECK: %[[ZERO:.*]] = weft.constant dense<0>
// CHECK-NEXT: %[[LESS:.*]] = weft.subtract %[[ZERO]], %[[N]]
// CHECK-NEXT: return %[[N]], %[[LESS]]
func.func @integers(%n: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %one = weft.constant dense<1> : tensor<i64>
  %zero = weft.constant dense<0> : tensor<i64>
  %0 = weft.multiply %one, %n : tensor<i64>, tensor<4xi64>
  %1 = weft.add %zero, %0 : tensor<i64>, tensor<4xi64>
  %2 = weft.subtract %1, %zero : tensor<4xi64>, tensor<i64>
  %3 = weft.subtract %zero, %n : tensor<i64>, tensor<4xi64>
  return %2, %3 : tensor<4xi64>, tensor<4xi64>
}

// -----

// A concatenation of one tensor is that tensor; a reverse along no axis is x, one along another axis is none.
// CHECK-LABEL: func @one_part
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[R:.*]] = weft.reverse %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[S:.*]] = weft.reverse %[[R]] {axes = array<i64: 1>}
// CHECK-NEXT: return %[[X]], %[[X]], %[[S]]
func.func @one_part(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = weft.concatenate %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = weft.reverse %x {axes = array<i64>} : tensor<2x3xf32>
  %2 = weft.reverse %x {axes = array<i64: 0>} : tensor<2x3xf32>
  %3 = weft.reverse %2 {axes = array<i64: 1>} : tensor<2x3xf32>
  return %0, %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A transposed right side, and a transpose of a side that is transposed already.
// CHECK-LABEL: func @transposed_rhs
// CHECK: weft.matmul %{{.*}}, %{{.*}} {transpose_rhs = true} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
// CHECK: weft.matmul %{{.*}}, %{{.*}} : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
func.func @transposed_rhs(%a: tensor<3x2xf32>, %b: tensor<4x2xf32>, %c: tensor<2x3xf32>) -> (tensor<3x4xf32>, tensor<3x3xf32>) {
  %0 = weft.transpose %b {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = weft.matmul %a, %0 : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %2 = weft.transpose %c {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = weft.matmul %a, %2 {transpose_rhs = true} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  return %1, %3 : tensor<3x4xf32>, tensor<3x3xf32>
}

// -----

// Constants that a recipe folds to are those of the eager library, effects and values of the call are left alone.
// CHECK-LABEL: func @recipes
// CHECK: %[[C:.*]] = weft.constant dense<[0, 2, 4]> : tensor<3xi32>
// CHECK: weft.print "{}", %[[C]]
// CHECK: weft.add %{{.*}}, %[[C]]
func.func @recipes(%n: tensor<3xi32>) -> tensor<3xi32> {
  %i = weft.iota [3] {axis = 0 : i64, dtype = i32} : tensor<3xi32>
  %two = weft.constant dense<2> : tensor<i32>
  %0 = weft.multiply %i, %two : tensor<3xi32>, tensor<i32>
  weft.print "{}", %0 : tensor<3xi32>
  %1 = weft.add %n, %0 : tensor<3xi32>
  return %1 : tensor<3xi32>
}

// -----

// Powers that are products or quotients by definition.
// CHECK-LABEL: func @powers
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[S:.*]] = weft.multiply %[[X]], %[[X]]
// CHECK: %[[R:.*]] = weft.divide %[[ONE]], %[[X]]
// CHECK: %[[C:.*]] = weft.power
// CHECK: return %[[X]], %[[S]], %[[R]], %[[C]]
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = weft.constant dense<1.0> : tensor<f32>
  %two = weft.constant dense<2.0> : tensor<4xf32>
  %minus = weft.constant dense<-1.0> : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  %0 = weft.power %x, %one : tensor<4xf32>, tensor<f32>
  %1 = weft.power %x, %two : tensor<4xf32>
  %2 = weft.power %x, %minus : tensor<4xf32>, tensor<f32>
  %3 = weft.power %x, %three : tensor<4xf32>, tensor<f32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Integers: x^5 is x (x^2)^2. By a negative number there is no product.
// CHECK-LABEL: func @integer_powers
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>)
// CHECK: %[[S:.*]] = weft.multiply %[[X]], %[[X]]
// CHECK: %[[F:.*]] = weft.multiply %[[S]], %[[S]]
// CHECK: %[[Y:.*]] = weft.multiply %[[X]], %[[F]]
// CHECK: %[[N:.*]] = weft.power
// CHECK: return %[[Y]], %[[N]]
func.func @integer_powers(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %five = weft.constant dense<5> : tensor<i32>
  %minus = weft.constant dense<-1> : tensor<i32>
  %0 = weft.power %x, %five : tensor<4xi32>, tensor<i32>
  %1 = weft.power %x, %minus : tensor<4xi32>, tensor<i32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// A power that is wider than its base stays.
// CHECK-LABEL: func @wider_power
// CHECK: weft.power
func.func @wider_power(%x: tensor<1xf32>) -> tensor<4xf32> {
  %two = weft.constant dense<2.0> : tensor<4xf32>
  %0 = weft.power %x, %two : tensor<1xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Known sizes go through ops that were to forget them, and choose the branch of an array that grows:
// neither the assert nor the growth is left.
// CHECK-LABEL: func @known_array
// CHECK-NOT:     scf.if
// CHECK-NOT:     weft.assert
// CHECK-NOT:     weft.guard
// CHECK:         %[[U:.*]] = weft.update_slice %{{.*}} : (tensor<3x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK:         %[[W:.*]] = weft.widen %[[U]] : tensor<3x4xf32> to tensor<?x4xf32>
// CHECK:         return %[[W]]
func.func @known_array(%x: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<?x4xf32> {
  %begin = weft.begin : !weft.token
  %three = weft.constant dense<3> : tensor<i64>
  %two = weft.constant dense<2> : tensor<i64>
  %true = weft.constant dense<true> : tensor<i1>
  %0 = weft.broadcast %x to [%three, 4] : (tensor<4xf32>) -> tensor<?x4xf32>
  %after = weft.assert %true, "in range" after %begin : tensor<i1>
  %1 = weft.guard %0 after %after : tensor<?x4xf32>
  %size = weft.size %1 {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<i64>
  %fits = weft.less %two, %size : tensor<i64>
  %c = weft.item %fits : tensor<i1>
  %2 = scf.if %c -> (tensor<?x4xf32>) {
    scf.yield %0 : tensor<?x4xf32>
  } else {
    %more = weft.multiply %size, %two : tensor<i64>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %new = weft.pad %1, %zero low [0, 0] high [%more, 0] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    scf.yield %new : tensor<?x4xf32>
  }
  %at = weft.guard %two after %after : tensor<i64>
  %3 = weft.update_slice %2, %at, %v {axis = 0 : i64} : (tensor<?x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<?x4xf32>
  %4 = weft.guard %3 after %after : tensor<?x4xf32>
  %5 = weft.slice %4 from [0, 0] to [%three, 4] : (tensor<?x4xf32>) -> tensor<?x4xf32>
  weft.finish %after
  return %5 : tensor<?x4xf32>
}

// A size of 1 that was forgotten does not stretch.
// CHECK-LABEL: func @forgotten_one
// CHECK:         weft.subtract %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x?xf32>
func.func @forgotten_one(%x: tensor<2x3xf32>, %s: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %0 = weft.widen %s : tensor<2x1xf32> to tensor<2x?xf32>
  %1 = weft.subtract %x, %0 : tensor<2x3xf32>, tensor<2x?xf32>
  return %1 : tensor<2x3xf32>
}

// Triangles that serve one solve are not kept, also of a matrix without its derivative.
// CHECK-LABEL: func @solve_at_once
// CHECK-NOT:     weft.lu
// CHECK:         weft.gesv %{{.*}}, %{{.*}} : (tensor<9x3x3xf32>, tensor<9x3x1xf32>) -> tensor<9x3x1xf32>
// CHECK-NOT:     weft.lu
// CHECK:         return
func.func @solve_at_once(%x: tensor<9x3x3xf32>, %b: tensor<9x3x1xf32>) -> tensor<9x3x1xf32> {
  %same = weft.stop_gradient %x : tensor<9x3x3xf32>
  %0:3 = weft.lu %same : (tensor<9x3x3xf32>) -> (tensor<9x3x3xf32>, tensor<9x3xi64>, tensor<9x3xi64>)
  %1 = weft.lu_solve %x, %0#0, %0#2, %b : (tensor<9x3x3xf32>, tensor<9x3x3xf32>, tensor<9x3xi64>, tensor<9x3x1xf32>) -> tensor<9x3x1xf32>
  return %1 : tensor<9x3x1xf32>
}

// Those that serve two solves, or one of another matrix, are kept.
// CHECK-LABEL: func @solve_again
// CHECK:         weft.lu
// CHECK:         weft.lu_solve
// CHECK:         weft.lu_solve
func.func @solve_again(%x: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %0:3 = weft.lu %x : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi64>, tensor<3xi64>)
  %1 = weft.lu_solve %x, %0#0, %0#2, %b : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %2 = weft.lu_solve %x, %0#0, %0#2, %1 : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return %2 : tensor<3x1xf32>
}
