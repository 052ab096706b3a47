// Of many that compute with a tensor all but the last read it through tensors of their own.
// RUN: weft-opt %s --weft-split-readers=max-readers=4 | FileCheck %s
// RUN: weft-opt %s --weft-split-readers=max-readers=4 --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s --check-prefix=BUFFERS

#id = affine_map<(d0) -> (d0)>

// Two readers share one; the last one keeps the argument, which is overwritten behind it. In buffers
// nothing is left of this, and there is no copy.
// CHECK-LABEL: func.func @five(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK-NEXT:    %[[T:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK-NEXT:    %[[U:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK:         linalg.add ins(%[[T]], %[[T]]
// CHECK:         linalg.add ins(%{{.*}}, %[[T]]
// CHECK:         linalg.add ins(%{{.*}}, %[[U]]
// CHECK:         linalg.add ins(%{{.*}}, %[[U]]
// CHECK:         linalg.add ins(%{{.*}}, %[[X]]
// CHECK:         linalg.copy {{.*}} outs(%[[X]]
// BUFFERS-LABEL: func.func @five(
// BUFFERS-NOT:     bufferization
// BUFFERS-COUNT-5: linalg.add
// BUFFERS-NEXT:    linalg.copy {{.*}} outs(%arg0
// BUFFERS-NEXT:    return
func.func @five(%x: tensor<4xf32> {bufferization.writable = true}, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%1, %x : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.add ins(%2, %x : tensor<4xf32>, tensor<4xf32>) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
  %4 = linalg.add ins(%3, %x : tensor<4xf32>, tensor<4xf32>) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
  %5 = linalg.copy ins(%4 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// What would overwrite the argument before its last reader gets a copy, as it did.
// CHECK-LABEL: func.func @overwritten(
// CHECK:         linalg.fill {{.*}} outs(%[[X:.*]] :
// CHECK:         linalg.add ins(%{{.*}}, %[[X]]
// BUFFERS-LABEL: func.func @overwritten(
// BUFFERS:         %[[A:.*]] = memref.alloc
// BUFFERS:         linalg.fill {{.*}} outs(%[[A]]
func.func @overwritten(%x: tensor<4xf32> {bufferization.writable = true}, %e: tensor<4xf32>, %c: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %new = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%1, %x : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.add ins(%2, %x : tensor<4xf32>, tensor<4xf32>) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
  %4 = linalg.add ins(%3, %x : tensor<4xf32>, tensor<4xf32>) outs(%3 : tensor<4xf32>) -> tensor<4xf32>
  return %4, %new : tensor<4xf32>, tensor<4xf32>
}

// Four readers are few.
// CHECK-LABEL: func.func @four(
// CHECK-NOT:     bufferization.to
func.func @four(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.add ins(%e, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%1, %x : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
  %3 = linalg.add ins(%2, %x : tensor<4xf32>, tensor<4xf32>) outs(%2 : tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
