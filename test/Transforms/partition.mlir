// The pass weft-partition: which part of the work each rank does, and where they send.
// RUN: weft-opt %s --split-input-file --verify-each -weft-partition | FileCheck %s

// A perceptron whose first weight is cut by columns and the second by rows: one sum.
// CHECK-LABEL: func @perceptron
// CHECK-SAME:    (%[[X:.*]]: tensor<6x8xf32>, %[[W1:.*]]: tensor<8x16xf32>, %[[W2:.*]]: tensor<16x8xf32>)
// CHECK:         %[[P1:.*]] = weft.slice_own %[[W1]] {axis = 1 : i64, group = 5 : i64, ranks = 4 : i64} : (tensor<8x16xf32>) -> tensor<8x4xf32>
// CHECK:         %[[P2:.*]] = weft.slice_own %[[W2]] {axis = 0 : i64, group = 5 : i64, ranks = 4 : i64} : (tensor<16x8xf32>) -> tensor<4x8xf32>
// CHECK:         %[[H:.*]] = weft.matmul %[[X]], %[[P1]] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
// CHECK:         %[[T:.*]] = weft.tanh %[[H]] : tensor<6x4xf32>
// CHECK:         %[[Y:.*]] = weft.matmul %[[T]], %[[P2]] : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
// CHECK:         %[[S:.*]] = weft.all_reduce_sum %[[Y]] {axes = array<i64>, group = 5 : i64, replicas = 0 : i64, same = true}
// CHECK-NEXT:    return %[[S]]
func.func @perceptron(%x: tensor<6x8xf32>, %w1: tensor<8x16xf32>, %w2: tensor<16x8xf32>) -> tensor<6x8xf32> {
  %0 = weft.shard %w1 {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 4>, first = 5 : i64, group = 5 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = weft.shard %w2 {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 4>, first = 5 : i64, group = 5 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = weft.matmul %x, %0 : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %3 = weft.tanh %2 : tensor<6x16xf32>
  %4 = weft.matmul %3, %1 : (tensor<6x16xf32>, tensor<16x8xf32>) -> tensor<6x8xf32>
  return %4 : tensor<6x8xf32>
}

// -----

// Over two axes of a mesh: rows of x and columns of w, whose product nobody sends for; what is wanted whole is gathered
// axis by axis.
// CHECK-LABEL: func @two_axes
// CHECK:         %[[X:.*]] = weft.slice_own %{{.*}} {axis = 0 : i64, group = 3 : i64, ranks = 2 : i64} : (tensor<4x6xf32>) -> tensor<2x6xf32>
// CHECK:         %[[W:.*]] = weft.slice_own %{{.*}} {axis = 1 : i64, group = 4 : i64, ranks = 3 : i64} : (tensor<6x9xf32>) -> tensor<6x3xf32>
// CHECK:         %[[Y:.*]] = weft.matmul %[[X]], %[[W]] : (tensor<2x6xf32>, tensor<6x3xf32>) -> tensor<2x3xf32>
// CHECK:         %[[R:.*]] = weft.all_gather %[[Y]] {axis = 0 : i64, group = 3 : i64, ranks = 2 : i64, same = true} : (tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK:         %[[A:.*]] = weft.all_gather %[[R]] {axis = 1 : i64, group = 4 : i64, ranks = 3 : i64, same = true} : (tensor<4x3xf32>) -> tensor<4x9xf32>
// CHECK-NEXT:    return %[[A]]
func.func @two_axes(%x: tensor<4x6xf32>, %w: tensor<6x9xf32>) -> tensor<4x9xf32> {
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2, 3>, first = 3 : i64, group = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = weft.shard %w {cut = array<i64: 1>, over = array<i64: 2>, mesh = array<i64: 2, 3>, first = 3 : i64, group = 0 : i64} : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %2 = weft.matmul %0, %1 : (tensor<4x6xf32>, tensor<6x9xf32>) -> tensor<4x9xf32>
  return %2 : tensor<4x9xf32>
}

// -----

// A sum that is to be cut itself is scattered, over both axes of the mesh at once.
// CHECK-LABEL: func @scattered
// CHECK:         %[[P:.*]] = weft.sum %{{.*}} : (tensor<2x12xf32>) -> tensor<12xf32>
// CHECK:         %[[S:.*]] = weft.reduce_scatter_sum %[[P]] {axis = 0 : i64, group = 0 : i64, ranks = 6 : i64} : (tensor<12xf32>) -> tensor<2xf32>
// CHECK:         weft.exp %[[S]] : tensor<2xf32>
func.func @scattered(%x: tensor<12x12xf32>) -> tensor<12xf32> {
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 3>, mesh = array<i64: 2, 3>, first = 3 : i64, group = 0 : i64} : (tensor<12x12xf32>) -> tensor<12x12xf32>
  %1 = weft.sum %0 {axes = array<i64: 0>} : (tensor<12x12xf32>) -> tensor<12xf32>
  %2 = weft.shard %1 {cut = array<i64: 0>, over = array<i64: 3>, mesh = array<i64: 2, 3>, first = 3 : i64, group = 0 : i64} : (tensor<12xf32>) -> tensor<12xf32>
  %3 = weft.exp %2 : tensor<12xf32>
  return %3 : tensor<12xf32>
}

// -----

// Another axis that is cut over the same ranks is one all_to_all; of a maximum and a mean over the cut axis the ranks'
// own are joined.
// CHECK-LABEL: func @other_axis
// CHECK:         weft.all_to_all %{{.*}} {concat_axis = 0 : i64, group = 0 : i64, ranks = 2 : i64, split_axis = 1 : i64} : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK:         %[[M:.*]] = weft.max %{{.*}} : (tensor<4x3xf32>) -> tensor<4xf32>
// CHECK:         weft.all_reduce_max %[[M]]
// CHECK:         %[[A:.*]] = weft.mean %{{.*}} : (tensor<4x3xf32>) -> tensor<4xf32>
// CHECK:         %[[D:.*]] = weft.divide %[[A]], %{{.*}} : tensor<4xf32>, tensor<f32>
// CHECK:         weft.all_reduce_sum %[[D]]
func.func @other_axis(%x: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = weft.shard %0 {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = weft.max %1 {axes = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4xf32>
  %3 = weft.mean %1 {axes = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Heads: the last axis becomes two, is moved, is work of one rank each, and comes back.
// CHECK-LABEL: func @heads
// CHECK:         weft.reshape %{{.*}} : (tensor<2x5x4xf32>) -> tensor<2x5x2x2xf32>
// CHECK:         weft.transpose %{{.*}} : (tensor<2x5x2x2xf32>) -> tensor<2x2x5x2xf32>
// CHECK:         weft.matmul %{{.*}}, %{{.*}} {transpose_rhs = true} : (tensor<2x2x5x2xf32>, tensor<2x2x5x2xf32>) -> tensor<2x2x5x5xf32>
// CHECK:         weft.matmul %{{.*}}, %{{.*}} : (tensor<2x2x5x5xf32>, tensor<2x2x5x2xf32>) -> tensor<2x2x5x2xf32>
// CHECK:         weft.reshape %{{.*}} : (tensor<2x5x2x2xf32>) -> tensor<2x5x4xf32>
// CHECK:         weft.all_gather %{{.*}} {axis = 2 : i64
func.func @heads(%x: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %0 = weft.shard %x {cut = array<i64: 2>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %1 = weft.reshape %0 to [2, 5, 4, 2] : (tensor<2x5x8xf32>) -> tensor<2x5x4x2xf32>
  %2 = weft.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x4x2xf32>) -> tensor<2x4x5x2xf32>
  %3 = weft.matmul %2, %2 {transpose_rhs = true} : (tensor<2x4x5x2xf32>, tensor<2x4x5x2xf32>) -> tensor<2x4x5x5xf32>
  %4 = weft.matmul %3, %2 : (tensor<2x4x5x5xf32>, tensor<2x4x5x2xf32>) -> tensor<2x4x5x2xf32>
  %5 = weft.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x5x2xf32>) -> tensor<2x5x4x2xf32>
  %6 = weft.reshape %5 to [2, 5, 8] : (tensor<2x5x4x2xf32>) -> tensor<2x5x8xf32>
  return %6 : tensor<2x5x8xf32>
}

// -----

// Parts that ranks have from before are not gathered, and the part of a gradient is what it is.
// CHECK-LABEL: func @own_parts
// CHECK-SAME:    (%[[X:.*]]: tensor<3x8xf32>, %[[P:.*]]: tensor<8x2xf32>)
// CHECK-NOT:     all_gather
// CHECK:         %[[Y:.*]] = weft.matmul %[[X]], %[[P]] : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
// CHECK:         %[[D:.*]] = weft.matmul %[[X]], %[[Y]] {transpose_lhs = true} : (tensor<3x8xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
// CHECK:         return %[[D]]
func.func @own_parts(%x: tensor<3x8xf32>, %p: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = weft.all_gather %p {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, same = true} : (tensor<8x2xf32>) -> tensor<8x8xf32>
  %1 = weft.shard %0 {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 4>, first = 0 : i64, group = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = weft.matmul %x, %1 : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %3 = weft.matmul %x, %2 {transpose_lhs = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<8x8xf32>
  %4 = weft.slice_own %3 {axis = 1 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<8x8xf32>) -> tensor<8x2xf32>
  return %4 : tensor<8x2xf32>
}

// -----

// A result that is to be cut is computed in parts, where one op alone uses it.
// CHECK-LABEL: func @wished
// CHECK:         %[[X:.*]] = weft.slice_own %{{.*}} {axis = 0 : i64
// CHECK:         %[[E:.*]] = weft.exp %[[X]] : tensor<2x3xf32>
// CHECK:         %[[Y:.*]] = weft.matmul %[[E]], %{{.*}} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK:         weft.all_gather %[[Y]] {axis = 0 : i64
func.func @wished(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = weft.exp %x : tensor<4x3xf32>
  %1 = weft.matmul %0, %w : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %2 = weft.shard %1 {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// -----

// Ops without loops, and regions, have what is whole; in a region parts are made anew. Sizes that are not known are
// not cut, nor are those of three rows over two ranks.
// CHECK-LABEL: func @whole
// CHECK:         %[[A:.*]] = weft.all_gather %{{.*}} : (tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK:         weft.sort %[[A]]
// CHECK:         scf.if
// CHECK:           %[[P:.*]] = weft.slice_own %[[A]]
// CHECK:           %[[T:.*]] = weft.tanh %[[P]] : tensor<2x3xf32>
// CHECK:           %[[G:.*]] = weft.all_gather %[[T]]
// CHECK:           scf.yield %[[G]]
// CHECK:         weft.tanh %{{.*}} : tensor<?x3xf32>
// CHECK-NOT:     weft.shard
func.func @whole(%x: tensor<4x3xf32>, %open: tensor<?x3xf32>, %c: i1) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<?x3xf32>) {
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = weft.exp %0 : tensor<4x3xf32>
  %2 = weft.sort %1 {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = scf.if %c -> (tensor<4x3xf32>) {
    %4 = weft.shard %1 {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %5 = weft.tanh %4 : tensor<4x3xf32>
    scf.yield %5 : tensor<4x3xf32>
  } else {
    scf.yield %1 : tensor<4x3xf32>
  }
  %6 = weft.shard %open {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %7 = weft.tanh %6 : tensor<?x3xf32>
  return %2, %3, %7 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<?x3xf32>
}

// -----

// Sums of what is still to be added are sent for once.
// CHECK-LABEL: func @sums
// CHECK:         %[[A:.*]] = weft.add %{{.*}}, %{{.*}} : tensor<3x2xf32>
// CHECK:         %[[T:.*]] = weft.transpose %[[A]]
// CHECK:         %[[N:.*]] = weft.negate %[[T]]
// CHECK:         %[[S:.*]] = weft.all_reduce_sum %[[N]]
// CHECK-NOT:     all_reduce
// CHECK:         return %[[S]]
func.func @sums(%x: tensor<3x8xf32>, %w: tensor<8x2xf32>) -> tensor<2x3xf32> {
  %0 = weft.shard %x {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 4>, first = 0 : i64, group = 0 : i64} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = weft.matmul %0, %w : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %2 = weft.tanh %0 : tensor<3x8xf32>
  %3 = weft.matmul %2, %w : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
  %4 = weft.add %1, %3 : tensor<3x2xf32>, tensor<3x2xf32>
  %5 = weft.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %6 = weft.negate %5 : tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// -----

// Beside an axis of a size that is not known others are cut.
// CHECK-LABEL: func @open_batch
// CHECK-NOT:     all_gather
// CHECK:         weft.matmul %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
// CHECK:         %[[Y:.*]] = weft.matmul %{{.*}}, %{{.*}} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
// CHECK:         weft.all_reduce_sum %[[Y]]
func.func @open_batch(%x: tensor<?x3xf32>, %w: tensor<3x8xf32>, %o: tensor<8x3xf32>) -> tensor<?x3xf32> {
  %0 = weft.shard %w {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = weft.matmul %x, %0 : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %2 = weft.matmul %1, %o : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// -----

// Of parts that were cut by hand, or over another mesh, nothing is shared over the same ranks: x is whole for them.
// CHECK-LABEL: func @by_hand
// CHECK:         %[[P:.*]] = weft.slice_own %{{.*}} {axis = 1 : i64
// CHECK:         %[[X:.*]] = weft.all_gather %{{.*}} {axis = 0 : i64
// CHECK:         weft.matmul %[[X]], %[[P]] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
func.func @by_hand(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>) -> tensor<4x4xf32> {
  %0 = weft.slice_own %w {axis = 1 : i64, group = 0 : i64, ranks = 2 : i64} : (tensor<6x8xf32>) -> tensor<6x4xf32>
  %1 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2>, first = 0 : i64, group = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = weft.matmul %1, %0 : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func @two_meshes
// CHECK:         %[[Y:.*]] = weft.matmul %{{.*}}, %{{.*}} : (tensor<2x6xf32>, tensor<6x8xf32>) -> tensor<2x8xf32>
// CHECK:         %[[G:.*]] = weft.all_gather %[[Y]] {axis = 0 : i64, group = 3 : i64
// CHECK:         return %[[G]]
func.func @two_meshes(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 1>, mesh = array<i64: 2, 1>, first = 3 : i64, group = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = weft.shard %w {cut = array<i64: 1>, over = array<i64: 1>, mesh = array<i64: 2, 1>, first = 5 : i64, group = 0 : i64} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %2 = weft.matmul %0, %1 : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
