// Loops are merged where no element is computed twice, or only a cheap one.
// RUN: weft-opt %s --weft-to-linalg --weft-fuse-elementwise --split-input-file --mlir-print-local-scope | FileCheck %s

// A chain is one loop, and constants stand in its body.
// CHECK-LABEL: func @chain
// CHECK: linalg.generic
// CHECK: math.tanh
// CHECK: math.exp
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: linalg.yield
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.tanh %x : tensor<4xf32>
  %1 = weft.exp %0 : tensor<4xf32>
  %2 = weft.multiply %1, %c : tensor<4xf32>, tensor<f32>
  return %2 : tensor<4xf32>
}

// -----

// A value that is read twice is computed once.
// CHECK-LABEL: func @square
// CHECK: linalg.generic
// CHECK: %[[E:.*]] = math.exp
// CHECK-NOT: math.exp
// CHECK: arith.mulf %[[E]], %[[E]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = weft.multiply %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// exp of a column would be computed again for every element of its row: it stays a loop of its own.
// CHECK-LABEL: func @expensive_broadcast
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-NOT: math.exp
func.func @expensive_broadcast(%x: tensor<4x1xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = weft.exp %x : tensor<4x1xf32>
  %1 = weft.add %0, %y : tensor<4x1xf32>, tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// A negation is cheaper than the memory it would take.
// CHECK-LABEL: func @cheap_broadcast
// CHECK: linalg.generic
// CHECK: arith.negf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @cheap_broadcast(%x: tensor<4x1xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = weft.negate %x : tensor<4x1xf32>
  %1 = weft.add %0, %y : tensor<4x1xf32>, tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// A reduction reads what its producers compute.
// CHECK-LABEL: func @into_reduction
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK: math.exp
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @into_reduction(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = weft.sum %0 {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A result with other users is stored by the merged loop.
// CHECK-LABEL: func @two_results
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: %[[T:.*]] = math.tanh
// CHECK: %[[E:.*]] = math.exp %[[T]]
// CHECK: linalg.yield %[[T]], %[[E]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.tanh %x : tensor<4xf32>
  %1 = weft.exp %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A transpose is a map of whoever reads it, even of several.
// CHECK-LABEL: func @transpose
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK: math.exp
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>]
// CHECK-NOT: linalg.generic
func.func @transpose(%x: tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>) {
  %t = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %0 = weft.exp %t : tensor<4x3xf32>
  %1 = weft.sum %t {axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4xf32>
}

// -----

// keepdims adds an axis of size 1, which the map of the reader leaves out.
// CHECK-LABEL: func @keepdims
// CHECK: %[[M:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME: ins(%{{.*}}, %[[M]] : tensor<4x3xf32>, tensor<4xf32>)
func.func @keepdims(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = weft.max %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %1 = weft.subtract %x, %0 : tensor<4x3xf32>, tensor<4x1xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// Two products keep a zeroed tensor each: one for both would be copied.
// CHECK-LABEL: func @fills
// CHECK-COUNT-2: linalg.fill
func.func @fills(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = weft.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = weft.matmul %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A loop that adds to what its output held stays: merged into the sum it would be taken for one, and
// in a loop with more axes it would add several times.
// CHECK-LABEL: func @added_in_place
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK-NOT: linalg.yield {{.*}},
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK-NOT: linalg.yield {{.*}},
func.func @added_in_place(%x: tensor<3xf32>, %before: tensor<3xf32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%before : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  %2 = weft.sum %0 {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A splat is no operand: it stands in the body before loops are merged, constant or not.
// CHECK-LABEL: func @splats
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>)
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK: arith.addf %{{.*}}, %cst
// CHECK-NOT: linalg.generic
func.func @splats(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = weft.constant dense<3.0> : tensor<4xf32>
  %0 = weft.multiply %x, %f : tensor<4xf32>
  %1 = weft.add %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A fill that alone knows how many elements there are stays an operand.
// CHECK-LABEL: func @only_size
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.generic {{.*}} ins(%[[F]] : tensor<4xf32>)
func.func @only_size(%s: f32) -> tensor<f32> {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = weft.sum %f {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A loop that reads two results of another is merged with it once: nothing is computed twice.
// CHECK-LABEL: func @both_results
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>)
// CHECK: %[[T:.*]] = math.tanh
// CHECK-NOT: math.tanh
// CHECK: %[[E:.*]] = math.exp %[[T]]
// CHECK: arith.mulf %[[T]], %[[E]]
// CHECK: linalg.yield %{{.*}} : f32
// CHECK-NOT: linalg.generic
func.func @both_results(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.tanh %x : tensor<4xf32>
  %1 = weft.exp %0 : tensor<4xf32>
  %2 = weft.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// So is one that asks for its position, which is that of the merged loop.
// CHECK-LABEL: func @indices
// CHECK: linalg.generic
// CHECK-COUNT-1: linalg.index 0
// CHECK-NOT: linalg.index
// CHECK: linalg.yield %{{.*}}, %{{.*}} : i64, i64
// CHECK-NOT: linalg.generic
func.func @indices(%x: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = weft.iota [4] {dtype = i64, axis = 0 : i64} : tensor<4xi64>
  %1 = weft.add %0, %x : tensor<4xi64>
  %2 = weft.multiply %1, %0 : tensor<4xi64>
  return %1, %2 : tensor<4xi64>, tensor<4xi64>
}

// -----

// A difference that a reduction and a loop read is computed in both: storing it is one pass over
// memory to write it and two to read it, where reading its operand again is one.
// CHECK-LABEL: func @repeated
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[M:[a-z0-9]+]]: tensor<4x1xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[M]] :
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[M]], %
// CHECK: arith.subf
// CHECK: linalg.yield %{{.*}} : f32
// CHECK-NOT: linalg.generic
func.func @repeated(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = weft.subtract %x, %m : tensor<4x8xf32>, tensor<4x1xf32>
  %1 = weft.multiply %0, %0 : tensor<4x8xf32>
  %2 = weft.sum %1 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %3 = weft.multiply %0, %2 : tensor<4x8xf32>, tensor<4x1xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// What costs more than a few operations is stored for both.
// CHECK-LABEL: func @stored
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic
// CHECK-NOT: math.exp
func.func @stored(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.exp %x : tensor<4x8xf32>
  %1 = weft.sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = weft.divide %0, %1 : tensor<4x8xf32>, tensor<4x1xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A sum of two tensors that are not read otherwise would cost two loads in each user for one.
// CHECK-LABEL: func @more_loads
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]{{.*}} ins(%[[S]]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]{{.*}} ins(%[[S]]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]{{.*}} ins(%[[S]]
// CHECK-NOT: linalg.generic
func.func @more_loads(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = weft.add %a, %b : tensor<8xf32>
  %1 = weft.add %0, %c : tensor<8xf32>
  %2 = weft.sum %1 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %3 = weft.max %1 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %4 = weft.min %1 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %2, %3, %4 : tensor<f32>, tensor<f32>, tensor<f32>
}
