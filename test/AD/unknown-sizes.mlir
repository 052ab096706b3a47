// Sizes that only run time knows: a select lends the shape of a value that has it, indices are counted out.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

func.func private @mean(%x: tensor<?x4xf32>) -> tensor<f32> {
  %0 = weft.mean %x {axes = array<i64: 0, 1>} : (tensor<?x4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @count_at_run_time(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<1> : tensor<i64>
// CHECK-NEXT:   %[[EQUAL:.*]] = weft.equal %[[A0]], %[[A0]] : tensor<?x4xf32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[CONSTANT2]], %[[CONSTANT2]] : tensor<?x4xi1>, tensor<i64>, tensor<i64>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[SELECT]] {axes = array<i64: 0, 1>} : (tensor<?x4xi64>) -> tensor<i64>
// CHECK-NEXT:   %[[CAST:.*]] = weft.cast %[[SUM]] to f32 : tensor<i64>
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[CONSTANT]], %[[CAST]] : tensor<f32>
// CHECK-NEXT:   %[[EQUAL2:.*]] = weft.equal %[[A0]], %[[A0]] : tensor<?x4xf32>
// CHECK-NEXT:   %[[SELECT2:.*]] = weft.select %[[EQUAL2]], %[[DIVIDE]], %[[DIVIDE]] : tensor<?x4xi1>, tensor<f32>, tensor<f32>
// CHECK-NEXT:   return %[[SELECT2]] : tensor<?x4xf32>
func.func @count_at_run_time(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0:2 = weft.gradient @mean(%x) wrt [0] : (tensor<?x4xf32>) -> (tensor<f32>, tensor<?x4xf32>)
  return %0#1 : tensor<?x4xf32>
}

func.func private @sum(%x: tensor<?x?x?xf32>) -> tensor<?x?xf32> {
  %0 = weft.sum %x {axes = array<i64: 1>} : (tensor<?x?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
// CHECK-LABEL: func.func @axis_between_unknown_sizes(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[TRANSPOSE:.*]] = weft.transpose %[[A0]] {permutation = array<i64: 1, 0, 2>} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
// CHECK-NEXT:   %[[EQUAL:.*]] = weft.equal %[[TRANSPOSE]], %[[TRANSPOSE]] : tensor<?x?x?xf32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[A1]], %[[A1]] : tensor<?x?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>
// CHECK-NEXT:   %[[TRANSPOSE2:.*]] = weft.transpose %[[SELECT]] {permutation = array<i64: 1, 0, 2>} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
// CHECK-NEXT:   return %[[TRANSPOSE2]] : tensor<?x?x?xf32>
func.func @axis_between_unknown_sizes(%x: tensor<?x?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %0:2 = weft.vjp @sum(%x) cotangents(%d) wrt [0]
      : (tensor<?x?x?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?x?xf32>)
  return %0#1 : tensor<?x?x?xf32>
}

func.func private @linear(%x: tensor<?x784xf32>, %w: tensor<784x10xf32>, %b: tensor<10xf32>) -> tensor<?x10xf32> {
  %0 = weft.matmul %x, %w : (tensor<?x784xf32>, tensor<784x10xf32>) -> tensor<?x10xf32>
  %1 = weft.add %0, %b : tensor<?x10xf32>, tensor<10xf32>
  return %1 : tensor<?x10xf32>
}
// CHECK-LABEL: func.func @batch_of_any_size(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[A3]] {axes = array<i64: 0>} : (tensor<?x10xf32>) -> tensor<10xf32>
// CHECK-NEXT:   %[[MATMUL:.*]] = weft.matmul %[[A0]], %[[A3]] {transpose_lhs = true} : (tensor<?x784xf32>, tensor<?x10xf32>) -> tensor<784x10xf32>
// CHECK-NEXT:   return %[[MATMUL]], %[[SUM]] : tensor<784x10xf32>, tensor<10xf32>
func.func @batch_of_any_size(%x: tensor<?x784xf32>, %w: tensor<784x10xf32>, %b: tensor<10xf32>, %d: tensor<?x10xf32>)
    -> (tensor<784x10xf32>, tensor<10xf32>) {
  %0:3 = weft.vjp @linear(%x, %w, %b) cotangents(%d) wrt [1, 2]
      : (tensor<?x784xf32>, tensor<784x10xf32>, tensor<10xf32>, tensor<?x10xf32>)
        -> (tensor<?x10xf32>, tensor<784x10xf32>, tensor<10xf32>)
  return %0#1, %0#2 : tensor<784x10xf32>, tensor<10xf32>
}

func.func private @known(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = weft.broadcast %x to [4] : (tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @sizes_learnt_on_the_way(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CAST:.*]] = weft.widen %[[A1]] : tensor<4xf32> to tensor<?xf32>
// CHECK-NEXT:   return %[[CAST]] : tensor<?xf32>
func.func @sizes_learnt_on_the_way(%x: tensor<?xf32>, %d: tensor<4xf32>) -> tensor<?xf32> {
  %0:2 = weft.vjp @known(%x) cotangents(%d) wrt [0]
      : (tensor<?xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}

func.func private @flatten(%x: tensor<?x?x3xf32>) -> tensor<?xf32> {
  %0 = weft.reshape %x to [-1] : (tensor<?x?x3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// A shape with several unknown sizes is given by those of x.
// CHECK-LABEL: func.func @sizes_of_x(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x?x3xf32>, %[[D:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NEXT: %[[SIZE:.*]] = weft.size %[[X]] {axis = 0 : i64} : (tensor<?x?x3xf32>) -> tensor<i64>
// CHECK-NEXT: %[[SIZE2:.*]] = weft.size %[[X]] {axis = 1 : i64} : (tensor<?x?x3xf32>) -> tensor<i64>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[D]] to [%[[SIZE]], %[[SIZE2]], 3] : (tensor<?xf32>) -> tensor<?x?x3xf32>
// CHECK-NEXT: return %[[RESHAPE]] : tensor<?x?x3xf32>
func.func @sizes_of_x(%x: tensor<?x?x3xf32>, %d: tensor<?xf32>) -> tensor<?x?x3xf32> {
  %0:2 = weft.vjp @flatten(%x) cotangents(%d) wrt [0]
      : (tensor<?x?x3xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?x3xf32>)
  return %0#1 : tensor<?x?x3xf32>
}

func.func private @join(%x: tensor<?x4xf32>, %y: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// A part begins where the sizes before it end.
// CHECK-LABEL: func.func @parts_by_size(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<2x4xf32>, %[[D:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-NEXT: %[[SLICE:.*]] = weft.slice %[[D]] from [0, 0] to [-1, 4] : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %[[SIZE:.*]] = weft.size %[[X]] {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<i64>
// CHECK-NEXT: %[[PART:.*]] = weft.slice %[[SLICE]] from [0, 0] to [%[[SIZE]], -1] : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %[[SIZE2:.*]] = weft.size %[[X]] {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<i64>
// CHECK-NEXT: %[[TWO:.*]] = weft.constant dense<2> : tensor<i64>
// CHECK-NEXT: %[[END:.*]] = weft.add %[[SIZE2]], %[[TWO]] : tensor<i64>
// CHECK-NEXT: %[[PART2:.*]] = weft.slice %[[D]] from [%[[SIZE2]], 0] to [%[[END]], -1] : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: %[[KNOWN:.*]] = weft.broadcast %[[PART2]] to [2, 4] : (tensor<?x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[PART]], %[[KNOWN]] : tensor<?x4xf32>, tensor<2x4xf32>
func.func @parts_by_size(%x: tensor<?x4xf32>, %y: tensor<2x4xf32>, %d: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<2x4xf32>) {
  %0:3 = weft.vjp @join(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<?x4xf32>, tensor<2x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>)
  return %0#1, %0#2 : tensor<?x4xf32>, tensor<2x4xf32>
}
