// Movements of elements are maps, slices and reshapes.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @transpose
// CHECK: indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @reverse
// CHECK: indexing_maps = [affine_map<(d0, d1) -> (d0, -d1 + 2)>
func.func @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = weft.reverse %x {axes = array<i64: 1>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// There is no such map without elements or known sizes: the body reads backwards.
// CHECK-LABEL: func @reverse_unknown
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = arith.subi %[[LAST]], %[[I]]
// CHECK: tensor.extract %{{.*}}[%[[AT]]]
func.func @reverse_unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.reverse %x {axes = array<i64: 0>} : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// One collapse where it is possible, and otherwise a line in between.
// CHECK-LABEL: func @reshape
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: %[[LINE:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]]
// CHECK: tensor.expand_shape %[[LINE]] {{\[\[}}0, 1]] output_shape [8, 3]
func.func @reshape(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<8x3xf32>) {
  %0 = weft.reshape %x to [6, 4] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = weft.reshape %x to [8, 3] : (tensor<2x3x4xf32>) -> tensor<8x3xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<8x3xf32>
}

// -----

// The open size follows from the number of elements, which must be a multiple of the others.
// CHECK-LABEL: func @reshape_unknown
// CHECK: %[[COUNT:.*]] = arith.muli
// CHECK: %[[REST:.*]] = arith.divui %[[COUNT]]
// CHECK: weft.check_sizes %{{.*}}, "reshape: x of shape ({}, 3) has {} elements, which do not fill the shape (-1, 2)", %{{.*}}, %[[COUNT]]
// CHECK: tensor.expand_shape {{.*}} output_shape [%[[REST]], 2]
func.func @reshape_unknown(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %0 = weft.reshape %x to [-1, 2] : (tensor<?x3xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// Axes are parted and joined where they are, however many sizes are unknown.
// CHECK-LABEL: func @reshape_several_unknown
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x?x12xf32>
// CHECK-NOT: divui
// CHECK: tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 3, 4]
// CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
func.func @reshape_several_unknown(%x: tensor<?x?x12xf32>) -> (tensor<?x?x3x4xf32>, tensor<?x?xf32>) {
  %0 = weft.reshape %x to [-1, -1, 3, 4] : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
  %1 = weft.reshape %x to [-1, -1] : (tensor<?x?x12xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?x3x4xf32>, tensor<?x?xf32>
}

// -----

// Of one axis two come whose sizes only run time knows: expand_shape would have to divide for them.
// CHECK-LABEL: func @reshape_to_several_unknown
// CHECK: %[[SIZES:.*]] = tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xindex>
// CHECK: tensor.reshape %{{.*}}(%[[SIZES]]) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
func.func @reshape_to_several_unknown(%x: tensor<3x?x?x2xf32>) -> tensor<?x?xf32> {
  %0 = weft.reshape %x to [-1, -1] : (tensor<3x?x?x2xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Beside a 0 a size is what it would be without it, and there is nothing to move.
// CHECK-LABEL: func @reshape_beside_nothing
// CHECK-NOT: div
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[M:.*]] = arith.muli %[[N]], %[[TWO]]
// CHECK: tensor.empty(%[[M]]) : tensor<0x?x1xf32>
// CHECK-NOT: expand_shape
func.func @reshape_beside_nothing(%x: tensor<?x0x2xf32>) -> tensor<0x?x1xf32> {
  %0 = weft.reshape %x to [0, -1, 1] : (tensor<?x0x2xf32>) -> tensor<0x?x1xf32>
  return %0 : tensor<0x?x1xf32>
}

// -----

// A scalar becomes any tensor of one element, and back.
// CHECK-LABEL: func @reshape_scalar
// CHECK: tensor.expand_shape %{{.*}} [] output_shape [1, 1]
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
func.func @reshape_scalar(%x: tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>) {
  %0 = weft.reshape %x to [1, 1] : (tensor<f32>) -> tensor<1x1xf32>
  %1 = weft.reshape %0 to [] : (tensor<1x1xf32>) -> tensor<f32>
  return %0, %1 : tensor<1x1xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func @slice
// CHECK: tensor.extract_slice %{{.*}}[1, 0] [2, 2] [2, 3] : tensor<5x4xf32> to tensor<2x2xf32>
func.func @slice(%x: tensor<5x4xf32>) -> tensor<2x2xf32> {
  %0 = weft.slice %x from [1, 0] to [4, 4] by [2, 3] : (tensor<5x4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// An IndexError, as where the size is known; of one element it names that one.
// CHECK-LABEL: func @slice_unknown
// CHECK: weft.check_sizes %{{.*}}, "slice: the slice 1:4 is out of range for axis 0 of x, which has shape ({},)", %{{.*}} as bounds
// CHECK: tensor.extract_slice %{{.*}}[1] [3] [1]
func.func @slice_unknown(%x: tensor<?xf32>) -> tensor<3xf32> {
  %0 = weft.slice %x from [1] to [4] : (tensor<?xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @element_unknown
// CHECK: weft.check_sizes %{{.*}}, "slice: 5 is out of range for axis 1 of a tensor of shape (2, {})", %{{.*}} as bounds
func.func @element_unknown(%x: tensor<2x?xf32>) -> tensor<2x1xf32> {
  %0 = weft.slice %x from [0, 5] to [2, 6] : (tensor<2x?xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// To the end, behind which a start takes nothing.
// CHECK-LABEL: func @slice_to_the_end
// CHECK: %[[SIZE:.*]] = tensor.dim
// CHECK: %[[START:.*]] = arith.minsi %{{.*}}, %[[SIZE]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[SIZE]], %[[START]]
// CHECK-NOT: weft.check_sizes
// CHECK: tensor.extract_slice %{{.*}}[%[[START]]] [%[[LEFT]]] [1]
func.func @slice_to_the_end(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.slice %x from [4] to [-1] : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @concatenate
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x5xf32>
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][0, 3] [2, 2] [1, 1]
func.func @concatenate(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) -> tensor<2x5xf32> {
  %0 = weft.concatenate %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// Bufferization of a long chain of insertions takes too long; and what has no elements is no part.
// CHECK-LABEL: func @concatenate_many
// CHECK-SAME: %[[X:[^ ]*]]: tensor<2xf32>, %[[N:[^ ]*]]: tensor<0xf32>
// CHECK-NOT: insert_slice
// CHECK: tensor.concat dim(0) %[[X]]
// CHECK-NOT: %[[N]]
// CHECK-SAME: -> tensor<34xf32>
func.func @concatenate_many(%x: tensor<2xf32>, %none: tensor<0xf32>) -> tensor<34xf32> {
  %0 = weft.concatenate %x, %none, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0 : i64}
      : (tensor<2xf32>, tensor<0xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<34xf32>
  return %0 : tensor<34xf32>
}

// -----

// Interior padding is the stride at which x is put down.
// CHECK-LABEL: func @pad
// CHECK: %[[V:.*]] = tensor.extract
// CHECK: %[[F:.*]] = linalg.fill ins(%[[V]] : f32) outs(%{{.*}} : tensor<8xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[F]][1] [3] [2]
func.func @pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<8xf32> {
  %0 = weft.pad %x, %v low [1] high [2] interior [1] : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// State of unknown size that begins with a size which becomes known later must not look known in the loop.
// CHECK-LABEL: func @state_of_unknown_size
// CHECK: %[[INIT:.*]] = weft.widen %{{.*}} : tensor<?xf32> to tensor<?xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
func.func @state_of_unknown_size(%x: tensor<3xf32>, %n: tensor<i64>, %iterations: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = weft.slice %x from [0] to [%n] : (tensor<3xf32>) -> tensor<?xf32>
  %1 = scf.for %i = %c0 to %iterations step %c1 iter_args(%y = %0) -> tensor<?xf32> {
    %2 = weft.concatenate %y, %x {axis = 0 : i64} : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// A size that is known although the type of a part or of what is padded does not say it.
// CHECK-LABEL: func.func @known_better
// CHECK-COUNT-2: tensor.insert_slice %{{.*}} into %{{.*}} : tensor<1xf32> into tensor<2xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}} : tensor<1xf32> into tensor<3xf32>
func.func @known_better(%x: tensor<f32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %a = weft.reshape %x to [1] : (tensor<f32>) -> tensor<?xf32>
  %0 = weft.concatenate %a, %a {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<2xf32>
  %1 = weft.pad %a, %x low [1] high [1] : (tensor<?xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}
