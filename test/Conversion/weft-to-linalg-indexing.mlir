// Indices are checked before the loops that use them.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg --canonicalize --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func @gather
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[I:.*]]: tensor<5xi32>)
// CHECK: %[[N:.*]] = arith.constant 3 : index
// CHECK: weft.check_indices %[[I]] below %[[N]] for "gather"
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: tensor.extract %[[X]][%[[ROW]], %[[AT]]]
func.func @gather(%x: tensor<4x3xf32>, %i: tensor<5xi32>) -> tensor<4x5xf32> {
  %0 = weft.gather %x, %i {axis = 1 : i64} : (tensor<4x3xf32>, tensor<5xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// One slice across the first axis is read where it lies, and copied only if something overwrites it.
// CHECK-LABEL: func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[I:.*]]: tensor<i32>)
// CHECK: weft.check_indices %[[I]] below %{{.*}} for "gather"
// CHECK: %[[AT:.*]] = tensor.extract %[[I]][]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[AT]]
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
// CHECK: return %[[SLICE]]
func.func @slice(%x: tensor<4x3xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A slice of a view is a tensor of its own, as its elements are apart: products of it would add up otherwise.
// CHECK-LABEL: func @slice_of_view
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
// CHECK: tensor.extract %
func.func @slice_of_view(%x: tensor<4x6xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %0 = weft.slice %x from [0, 0] to [4, 6] by [1, 2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = weft.gather %0, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Updates are added one after the other, in order: equal indices always add up the same way.
// CHECK-LABEL: func @scatter_add
// CHECK: weft.check_indices %{{.*}} below %{{.*}} for "scatter_add"
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[UPDATE:.*]] = tensor.extract_slice %{{.*}}[%[[J]], 0] [1, 3] [1, 1]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[SUM]][%[[AT:.*]], 0] [1, 3] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[UPDATE]] : tensor<3xf32>) outs(%[[ROW]] : tensor<3xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[SUM]][%[[AT]], 0]
func.func @scatter_add(%x: tensor<4x3xf32>, %i: tensor<5xi64>, %u: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<4x3xf32>, tensor<5xi64>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Along an axis each element has an index of its own.
// CHECK-LABEL: func @take_along_axis
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[I:.*]]: tensor<2x3xi64>)
// CHECK: %[[N:.*]] = arith.constant 4 : index
// CHECK: weft.check_indices %[[I]] below %[[N]] for "take_along_axis"
// CHECK: linalg.generic {{.*}} ins(%[[I]] : tensor<2x3xi64>)
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: tensor.extract %[[X]][%[[AT]], %[[COLUMN]]]
func.func @take_along_axis(%x: tensor<4x3xf32>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Sizes that are not known are compared first, then updates are added one after the other.
// CHECK-LABEL: func @add_along_axis
// CHECK: weft.check_sizes %{{.*}}, "add_along_axis: the sizes of indices differ from x's outside the axis: {} meets {} in axis
// CHECK: weft.check_indices %{{.*}} below %{{.*}} for "add_along_axis"
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[SUM:[a-z0-9]+]] = %{{.*}})
// CHECK: %[[OLD:.*]] = tensor.extract %[[SUM]][%[[AT:.*]]]
// CHECK: %[[UPDATE:.*]] = tensor.extract %{{.*}}[%[[K]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[UPDATE]]
// CHECK: tensor.insert %[[NEW]] into %[[SUM]][%[[AT]]]
func.func @add_along_axis(%x: tensor<4x?xf32>, %i: tensor<2x3xi64>, %u: tensor<2x3xf32>) -> tensor<4x?xf32> {
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4x?xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// Indices that count up from a start pick a slice, and add to one, once they are checked.
// CHECK-LABEL: func @range
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[U:.*]]: tensor<?x4xf32>, %[[N:.*]]: tensor<i64>, %[[S:.*]]: tensor<i64>)
// CHECK-NOT: call_into
// CHECK: weft.check_indices %{{.*}} below %{{.*}} for "gather"
// CHECK: weft.check_indices %{{.*}} below %{{.*}} for "scatter_add"
// CHECK-NOT: scf.for
// CHECK: %[[TAKEN:.*]] = tensor.extract_slice %[[X]][%[[START:.*]], 0] [%{{.*}}, 4] [1, 1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][%[[START]], 0]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[PART]], %[[U]]
// CHECK: tensor.insert_slice %[[SUM]] into %[[X]][%[[START]], 0]
// CHECK: return %[[TAKEN]]
func.func @range(%x: tensor<?x4xf32>, %u: tensor<?x4xf32>, %n: tensor<i64>, %s: tensor<i64>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %numbers = weft.iota [%n] {axis = 0 : i64, dtype = i64} : tensor<?xi64>
  %at = weft.add %numbers, %s : tensor<?xi64>, tensor<i64>
  %0 = weft.gather %x, %at {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %1 = weft.scatter_add %x, %at, %u {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?xi64>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// A slice across another axis than the first keeps it, with size 1: upstream takes the axis that is lost for the first of that size once the offset is known.
// FOLDED-LABEL: func @unit_axes
// FOLDED-SAME: (%[[X:.*]]: tensor<1x3x2x1xf32>, %[[I:.*]]: tensor<1xi64>, %[[U:.*]]: tensor<1x3x2x1xf32>)
// FOLDED: linalg.generic {{.*}} ins(%[[U]] : tensor<1x3x2x1xf32>)
// FOLDED: tensor.insert_slice %{{.*}} into %[[X]][0, 0, 0, %{{.*}}] [1, 3, 2, 1] [1, 1, 1, 1] : tensor<1x3x2x1xf32> into tensor<1x3x2x1xf32>
func.func @unit_axes(%x: tensor<1x3x2x1xf32>, %i: tensor<1xi64>, %u: tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32> {
  %0 = weft.scatter_add %x, %i, %u {axis = 3 : i64} : (tensor<1x3x2x1xf32>, tensor<1xi64>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  return %0 : tensor<1x3x2x1xf32>
}

// -----

// So does one that is replaced.
// FOLDED-LABEL: func @replaced
// FOLDED: tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [1, 3, 2, 1]
func.func @replaced(%x: tensor<1x3x2x5xf32>, %v: tensor<1x3x2xf32>) -> tensor<1x3x2x5xf32> {
  %i = weft.constant dense<2> : tensor<i64>
  %0 = weft.update_slice %x, %i, %v {axis = 3 : i64} : (tensor<1x3x2x5xf32>, tensor<i64>, tensor<1x3x2xf32>) -> tensor<1x3x2x5xf32>
  return %0 : tensor<1x3x2x5xf32>
}

// -----

// A scalar index has updates without the axis.
// FOLDED-LABEL: func @one_index
// FOLDED: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @one_index(%x: tensor<4x3xf32>, %i: tensor<i64>, %u: tensor<4xf32>) -> tensor<4x3xf32> {
  %0 = weft.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<4x3xf32>, tensor<i64>, tensor<4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Nothing is added to a tensor without elements: slices would begin past its end.
// CHECK-LABEL: func @nothing
// CHECK-NOT: tensor.extract_slice
// CHECK: return %arg0
func.func @nothing(%x: tensor<?x0xf32>, %i: tensor<?xi64>, %u: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<?x0xf32>, tensor<?xi64>, tensor<?x0xf32>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}
