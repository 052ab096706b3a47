// widen is its operand's buffer: of whose sizes less is known.
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// CHECK-LABEL: func @widen
// CHECK-SAME: %[[X:[^ ]*]]: memref<2x3xf32>
// CHECK-NEXT: %[[Y:.*]] = memref.cast %[[X]] : memref<2x3xf32> to memref<?x3xf32>
// CHECK-NEXT: return %[[Y]]
func.func @widen(%x: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %0 = weft.widen %x : tensor<2x3xf32> to tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
