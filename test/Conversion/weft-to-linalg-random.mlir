// Random numbers: a call of the library later on, or where that is not there, one loop whose body computes Philox of the element's number, and a loop of exchanges.
// RUN: weft-opt %s --weft-to-linalg=without-library --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg --split-input-file | FileCheck %s --check-prefix=CALL

// The seed and the stream are read from the state. The element's number is 5 i + j.
// CHECK-DAG: #[[SEED:.*]] = affine_map<(d0, d1) -> (0)>
// CHECK-DAG: #[[STREAM:.*]] = affine_map<(d0, d1) -> (1)>
// CHECK-LABEL: func @uniform
// CHECK-SAME: %[[S:.*]]: tensor<2xi64>)
// CHECK: linalg.generic {indexing_maps = [#[[SEED]], #[[STREAM]], #{{.*}}]
// CHECK-SAME: ins(%[[S]], %[[S]] : tensor<2xi64>, tensor<2xi64>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c5
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: arith.addi %[[ROW]], %[[J]]
// CHECK-COUNT-20: arith.muli
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT: arith.constant 5.96046448E-8 : f32
// The library takes the seed and the stream as numbers.
// CALL-LABEL: func @uniform
// CALL-DAG: %[[SEED:.*]] = tensor.extract %{{.*}}[%c0{{.*}}] : tensor<2xi64>
// CALL-DAG: %[[STREAM:.*]] = tensor.extract %{{.*}}[%c1{{.*}}] : tensor<2xi64>
// CALL: %[[INTO:.*]] = tensor.empty() : tensor<30x5xf32>
// CALL: weft.draw_into %[[INTO]], %[[SEED]], %[[STREAM]] : tensor<30x5xf32>
// CALL-NOT: arith.muli
func.func @uniform(%s: tensor<2xi64>) -> tensor<30x5xf32> {
  %0 = weft.draw_uniform %s to [30, 5] {dtype = f32} : (tensor<2xi64>) -> tensor<30x5xf32>
  return %0 : tensor<30x5xf32>
}

// -----

// Two elements of 64 bits are one block.
// CHECK-LABEL: func @integers
// CHECK: weft.check_sizes %{{.*}}, "draw_uniform: a size is {}, which is negative"
// CHECK: arith.shrui %{{.*}}, %c1_i64
// CHECK: arith.shli
// CHECK-NOT: arith.sitofp
// CALL-LABEL: func @integers
// CALL: weft.draw_into %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi64>
func.func @integers(%s: tensor<2xi64>, %n: tensor<i64>) -> tensor<?xi64> {
  %0 = weft.draw_uniform %s to [%n] {dtype = i64} : (tensor<2xi64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// A state of unknown size is checked when the program runs.
// CHECK-LABEL: func @unknown_state
// CHECK: weft.check_sizes %{{.*}}, "draw_uniform: state must be of shape (2,)
// Few numbers are computed where they are read: a call would take longer.
// CALL-LABEL: func @unknown_state
// CALL-NOT: draw_into
// CALL: linalg.generic
func.func @unknown_state(%s: tensor<?xi64>) -> tensor<4xi1> {
  %0 = weft.draw_uniform %s to [4] {dtype = i1} : (tensor<?xi64>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// From the last index on, each number is swapped with one not behind it.
// CHECK-LABEL: func @permutation
// CHECK: %[[ORDERED:.*]] = linalg.generic
// CHECK: scf.for %[[TURN:.*]] = %c0{{.*}} iter_args(%[[T:.*]] = %[[ORDERED]]) -> (tensor<9xi32>)
// CHECK: %{{.*}}, %[[PICKED:.*]] = arith.mului_extended
// CHECK: %[[FROM:.*]] = arith.index_cast %[[PICKED]] : i64 to index
// CHECK: %[[TO:.*]] = arith.subi %{{.*}}, %[[TURN]]
// CHECK: %[[MOVED:.*]] = tensor.extract %[[T]][%[[FROM]]]
// CHECK: %[[REPLACED:.*]] = tensor.extract %[[T]][%[[TO]]]
// CHECK: %[[HALF:.*]] = tensor.insert %[[REPLACED]] into %[[T]][%[[FROM]]]
// CHECK: %[[BOTH:.*]] = tensor.insert %[[MOVED]] into %[[HALF]][%[[TO]]]
// CHECK: scf.yield %[[BOTH]]
// CALL-LABEL: func @permutation
// CALL-NOT: scf.for
// CALL: weft.draw_into %{{.*}}, %{{.*}}, %{{.*}} {permutation} : tensor<9xi32>
func.func @permutation(%s: tensor<2xi64>) -> tensor<9xi32> {
  %0 = weft.draw_permutation %s to [9] {dtype = i32} : (tensor<2xi64>) -> tensor<9xi32>
  return %0 : tensor<9xi32>
}

// -----

// How many there are is known when the program runs, and checked then.
// CHECK-LABEL: func @open_permutation
// CHECK: weft.check_sizes %{{.*}}, "draw_permutation: a size is {}, which is negative"
// CHECK: weft.check_sizes %{{.*}}, "draw_permutation: {} numbers do not fit the dtype i32"
// CALL-LABEL: func @open_permutation
// CALL: weft.draw_into %{{.*}}, %{{.*}}, %{{.*}} {permutation} : tensor<?xi32>
func.func @open_permutation(%s: tensor<2xi64>, %n: tensor<i64>) -> tensor<?xi32> {
  %0 = weft.draw_permutation %s to [%n] {dtype = i32} : (tensor<2xi64>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
