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
