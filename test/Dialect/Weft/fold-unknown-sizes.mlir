// Folders leave alone what unknown sizes may still change.
// RUN: weft-opt %s --canonicalize | FileCheck %s

// The size of x may be 1 and stretch to 5.
// CHECK-LABEL: @stretch
func.func @stretch(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: weft.broadcast
  %y = weft.broadcast %x to [5] : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// The identity permutation says more of the size than x does.
// CHECK-LABEL: @refined
func.func @refined(%x: tensor<?x3xf32>) -> tensor<2x3xf32> {
  // CHECK: weft.transpose
  %y = weft.transpose %x {permutation = array<i64: 0, 1>} : (tensor<?x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
