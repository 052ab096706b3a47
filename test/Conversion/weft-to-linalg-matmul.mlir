// Products are linalg.contract on zeros; transposes, vectors and batches are in its maps.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @transposed
// CHECK: linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
func.func @transposed(%a: tensor<3x2xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = weft.matmul %a, %b {transpose_lhs = true, transpose_rhs = true} : (tensor<3x2xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// A vector has no loop for the dimension that the result lacks.
// CHECK-LABEL: func @vector
// CHECK: linalg.contract indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>]
// CHECK: linalg.contract indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
func.func @vector(%v: tensor<3xf32>, %m: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = weft.matmul %v, %m : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  %1 = weft.matmul %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<f32>
}

// -----

// A batch axis of size 1 against another is dropped: the operand is the same for all of them.
// CHECK-LABEL: func @batch
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : tensor<1x5x2x3xf32> into tensor<5x2x3xf32>
// CHECK: linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>]
func.func @batch(%a: tensor<1x5x2x3xf32>, %b: tensor<7x5x3x4xf32>) -> tensor<7x5x2x4xf32> {
  %0 = weft.matmul %a, %b : (tensor<1x5x2x3xf32>, tensor<7x5x3x4xf32>) -> tensor<7x5x2x4xf32>
  return %0 : tensor<7x5x2x4xf32>
}

// -----

// CHECK-LABEL: func @unknown
// CHECK: weft.check_sizes %{{.*}}, "matmul: the inner dimensions differ: lhs is (2, {}) and rhs is ({}, 4), so {} meets {}"
// CHECK: linalg.contract
func.func @unknown(%a: tensor<2x?xf32>, %b: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %0 = weft.matmul %a, %b : (tensor<2x?xf32>, tensor<?x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
