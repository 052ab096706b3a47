// What vanishes under --canonicalize without a pass of Weft's own: ops that change nothing, and pairs that are one op.
// RUN: weft-opt %s --canonicalize --split-input-file | FileCheck %s

// Equal constants are one; a NaN of another sign is another constant, and one that nothing uses is none.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>) {
  // CHECK-DAG: %[[A:.*]] = weft.constant dense<0x7FC00000> : tensor<2xf32>
  // CHECK-DAG: %[[B:.*]] = weft.constant dense<0xFFC00000> : tensor<2xf32>
  // CHECK-DAG: %[[C:.*]] = weft.constant dense<0x7FF8000000000000> : tensor<2xf64>
  // CHECK-NOT: weft.constant
  %0 = weft.constant dense<0x7FC00000> : tensor<2xf32>
  %1 = weft.constant dense<[0x7FC00000, 0x7FC00000]> : tensor<2xf32>
  %2 = weft.constant dense<0xFFC00000> : tensor<2xf32>
  %3 = weft.constant dense<0x7FF8000000000000> : tensor<2xf64>
  %4 = weft.constant dense<1.0> : tensor<2xf32>
  // CHECK: return %[[A]], %[[A]], %[[B]], %[[C]]
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>
}

// -----

// A slice with all elements is x, however long its stride along an axis of one element.
// CHECK-LABEL: func.func @slice_all
// CHECK-SAME: (%[[X:.*]]: tensor<5x1x0xf32>)
func.func @slice_all(%x: tensor<5x1x0xf32>) -> tensor<5x1x0xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = weft.slice %x from [0, 0, 0] to [5, 1, 0] by [1, 9, 2] : (tensor<5x1x0xf32>) -> tensor<5x1x0xf32>
  return %0 : tensor<5x1x0xf32>
}

// -----

// A slice to the end of an unknown size may leave out the first elements, one of fewer elements does.
// CHECK-LABEL: func.func @slice_some
func.func @slice_some(%x: tensor<?xf32>, %y: tensor<5xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: weft.slice
  %0 = weft.slice %x from [1] to [-1] : (tensor<?xf32>) -> tensor<?xf32>
  %1 = weft.slice %y from [1] to [5] : (tensor<5xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<?xf32>, tensor<4xf32>
}

// -----

// A reshape to the same shape is x, one of a reshape is one, one of a constant is a constant.
// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6x1xf32>, tensor<2x3xf32>, tensor<2x2xi32>) {
  // CHECK-DAG: %[[C:.*]] = weft.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  // CHECK-DAG: %[[R:.*]] = weft.reshape %[[X]] to [6, 1] : (tensor<2x3xf32>) -> tensor<6x1xf32>
  // CHECK-NEXT: return %[[X]], %[[R]], %[[X]], %[[C]]
  %0 = weft.reshape %x to [2, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = weft.reshape %x to [3, 2] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = weft.reshape %1 to [6, 1] : (tensor<3x2xf32>) -> tensor<6x1xf32>
  %3 = weft.reshape %2 to [2, 3] : (tensor<6x1xf32>) -> tensor<2x3xf32>
  %c = weft.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %4 = weft.reshape %c to [2, 2] : (tensor<4xi32>) -> tensor<2x2xi32>
  return %0, %2, %3, %4 : tensor<2x3xf32>, tensor<6x1xf32>, tensor<2x3xf32>, tensor<2x2xi32>
}

// -----

// A transpose to the same order is x, one of a transpose is one, or none where the two undo each other.
// CHECK-LABEL: func.func @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = weft.transpose %[[X]] {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: return %[[X]], %[[T]], %[[X]]
  %0 = weft.transpose %x {permutation = array<i64: 0, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = weft.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %2 = weft.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  %3 = weft.transpose %1 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %0, %2, %3 : tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>
}

// -----

// A broadcast to x's own shape is x, one that adds an axis is none.
// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME: (%[[X:.*]]: tensor<1x3xf32>)
func.func @broadcasts(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x1x3xf32>) {
  // CHECK-NEXT: %[[B:.*]] = weft.broadcast %[[X]] to [1, 1, 3]
  // CHECK-NEXT: return %[[X]], %[[B]]
  %0 = weft.broadcast %x to [1, 3] : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = weft.broadcast %x to [1, 1, 3] : (tensor<1x3xf32>) -> tensor<1x1x3xf32>
  return %0, %1 : tensor<1x3xf32>, tensor<1x1x3xf32>
}

// -----

// What cannot be seen from outside goes, what can be stays: that is how ops without effects differ from the others.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<2xf32>, %p: tensor<i1>) {
  %0 = weft.exp %x : tensor<2xf32>
  %1 = weft.stop_gradient %0 : tensor<2xf32>
  // CHECK-NEXT: weft.assert
  weft.assert %p, "holds" : tensor<i1>
  // CHECK-NEXT: weft.print "done"
  weft.print "done"
  // CHECK-NEXT: return
  return
}
