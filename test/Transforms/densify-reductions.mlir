// Sums read dense rows: what would be read in another order is copied first.
// RUN: weft-opt %s --weft-densify-reductions --split-input-file | FileCheck %s

// A transposed view that a sum over rows reads.
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[X:.*]]: memref<3x4xf32>
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<4x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[SWAP]], #[[SAME]]]{{.*}}ins(%[[X]]{{.*}}outs(%[[DENSE]]
// CHECK: linalg.generic {indexing_maps = [#[[SAME]],{{.*}}ins(%[[DENSE]] : memref<4x3xf32>)
func.func @transposed(%x: memref<3x4xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Rows of a slice are one run each, but not together.
// CHECK-LABEL: func.func @slice
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<4x3xf32>
// CHECK: linalg.generic {{.*}}outs(%[[DENSE]]
// CHECK: linalg.generic {{.*}}ins(%[[DENSE]]
// CHECK-NOT: memref.alloc
func.func @slice(%x: memref<4x3xf32, strided<[8, 1]>>, %all: memref<f32>, %rows: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4x3xf32, strided<[8, 1]>>) outs(%all : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x3xf32, strided<[8, 1]>>) outs(%rows : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What is repeated along some of the reduced loops is written out; what stays along all of them, and what is dense at run time too, is not.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32>, %[[ROW:.*]]: memref<?xf32>, %[[ONE:.*]]: memref<1xf32>
// CHECK: %[[DENSE:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf32>
// CHECK: linalg.generic {{.*}}ins(%[[ROW]] : memref<?xf32>) outs(%[[DENSE]]
// CHECK: linalg.generic {{.*}}ins(%[[X]], %[[DENSE]], %[[ONE]]
func.func @repeated(%x: memref<?x?xf32>, %row: memref<?xf32>, %one: memref<1xf32>, %all: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x, %row, %one : memref<?x?xf32>, memref<?xf32>, memref<1xf32>) outs(%all : memref<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// A sum of equal numbers: with the loop along which they are equal.
// CHECK-LABEL: func.func @equal
// CHECK: memref.alloc() : memref<4x5xf32>
func.func @equal(%x: memref<4xf32>, %unread: memref<5xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %unread : memref<4xf32>, memref<5xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %none: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Integers and extrema have the same bits in any order.
// CHECK-LABEL: func.func @insensitive
// CHECK-NOT: memref.alloc
func.func @insensitive(%x: memref<3x4xi32>, %y: memref<4xi32>, %f: memref<3x4xf32>, %g: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x4xi32>) outs(%y : memref<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.addi %out, %in : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%f : memref<3x4xf32>) outs(%g : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A column of open length: no map is a permutation, and its size is that of the axis all the same.
// CHECK-LABEL: func.func @column
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]], %{{.*}} : memref<?x4xf32>
// CHECK: %[[DENSE:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK: linalg.generic {{.*}}ins(%[[X]]{{.*}}outs(%[[DENSE]]
// CHECK: linalg.generic {{.*}}ins(%[[DENSE]]
func.func @column(%x: memref<?x4xf32>, %all: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?x4xf32>) outs(%all : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
