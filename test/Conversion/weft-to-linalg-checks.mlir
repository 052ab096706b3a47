// Checks stand in front of what computes the tensors that they are about: bufferization may have these computed in the
// place that they are put into, and past its end.
// RUN: weft-opt %s --weft-to-linalg --split-input-file | FileCheck %s

// The sizes of the row are known before the row is, and so is the index.
// CHECK-LABEL: func @update
// CHECK: weft.check_sizes {{.*}}"update_slice: the value is not of x's shape
// CHECK: weft.check_indices
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
func.func @update(%x: tensor<?x?xf32>, %at: tensor<i64>, %row: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = weft.exp %row : tensor<?xf32>
  %1 = weft.update_slice %x, %at, %0 {axis = 0 : i64} : (tensor<?x?xf32>, tensor<i64>, tensor<?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// An index that the program computes is looked at as soon as it is there.
// CHECK-LABEL: func @computed
// CHECK: arith.subi
// CHECK: weft.check_indices
// CHECK: math.exp
func.func @computed(%x: tensor<4xf32>, %at: tensor<i64>, %row: tensor<f32>) -> tensor<4xf32> {
  %0 = weft.negate %at : tensor<i64>
  %1 = weft.exp %row : tensor<f32>
  %2 = weft.update_slice %x, %0, %1 {axis = 0 : i64} : (tensor<4xf32>, tensor<i64>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Sizes come first: the indices that are compared below may be computed in as many elements as the sum has.
// CHECK-LABEL: func @sizes_first
// CHECK: weft.check_sizes
// CHECK: weft.check_indices
func.func @sizes_first(%x: tensor<4xf32>, %at: tensor<?xi64>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = weft.gather %x, %at {axis = 0 : i64} : (tensor<4xf32>, tensor<?xi64>) -> tensor<?xf32>
  %1 = weft.add %0, %y : tensor<?xf32>, tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// No check passes an effect.
// CHECK-LABEL: func @effect
// CHECK: weft.print
// CHECK: weft.check_sizes
// CHECK: linalg.generic
func.func @effect(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  weft.print "before"
  %0 = weft.add %x, %y : tensor<?xf32>, tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Of nothing there is no slice, which would begin past the end.
// CHECK-LABEL: func @nothing
// CHECK: tensor.empty
// CHECK-NOT: tensor.extract_slice
func.func @nothing(%x: tensor<5x?x0xf32>) -> tensor<5x?x0xf32> {
  %0 = weft.slice %x from [0, 0, 0] to [5, 1, 0] by [1, 9, 2] : (tensor<5x?x0xf32>) -> tensor<5x?x0xf32>
  return %0 : tensor<5x?x0xf32>
}

// -----

// Nor is there one where the trace did not see that it is empty.
// CHECK-LABEL: func @unseen
// CHECK: tensor.empty
// CHECK-NOT: tensor.extract_slice
func.func @unseen(%x: tensor<0x?xf32>, %n: tensor<i64>) -> tensor<?x?xf32> {
  %0 = weft.slice %x from [%n, 0] to [-1, -1] by [1, 1] : (tensor<0x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Sizes of one name are one, so that nothing compares them.
// CHECK-LABEL: func @named
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf32>, %[[Y:.*]]: tensor<?x2xf32>)
// CHECK-NOT: weft.check_sizes
// CHECK-NOT: tensor.dim %[[Y]]
// CHECK: return
func.func @named(%x: tensor<?x2xf32> {weft.dim_names = ["batch", ""]}, %y: tensor<?x2xf32> {weft.dim_names = ["batch", ""]}) -> tensor<?x2xf32> {
  %0 = weft.add %x, %y : tensor<?x2xf32>, tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
