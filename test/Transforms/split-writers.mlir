// Chains of writes to one tensor hand it on through a buffer now and then, where nobody sees it.
// RUN: weft-opt %s --weft-split-writers=max-writers=1 | FileCheck %s
// RUN: weft-opt %s --weft-split-writers=max-writers=1 --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s --check-prefix=BUFFERS

#id = affine_map<(d0) -> (d0)>

// In buffers nothing is left of it, and there is no copy of the whole.
// CHECK-LABEL: func.func @three(
// CHECK:         %[[A:.*]] = tensor.insert_slice {{.*}}[0, 0]
// CHECK:         %[[B:.*]] = bufferization.to_buffer %[[A]]
// CHECK-NEXT:    %[[T:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK:         %[[C:.*]] = tensor.insert_slice %{{.*}} into %[[T]][1, 0]
// CHECK:         %[[D:.*]] = bufferization.to_buffer %[[C]]
// CHECK-NEXT:    %[[U:.*]] = bufferization.to_tensor %[[D]] restrict writable
// CHECK:         tensor.insert_slice %{{.*}} into %[[U]][2, 0]
// BUFFERS-LABEL: func.func @three(
// BUFFERS-COUNT-1: memref.alloc
// BUFFERS-NOT:     memref.alloc
// BUFFERS-NOT:     bufferization
// BUFFERS-COUNT-3: memref.copy
// BUFFERS-NOT:     memref.copy
// BUFFERS:         return
func.func @three(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = tensor.insert_slice %b into %1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %3 = tensor.insert_slice %c into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// Two writes are not many.
// CHECK-LABEL: func.func @two(
// CHECK-NOT:     bufferization
// CHECK:         return
func.func @two(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = tensor.insert_slice %b into %1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// A value that is read after the next write stays in sight: %1 is, %2 is not.
// CHECK-LABEL: func.func @read_later(
// CHECK:         %[[A:.*]] = tensor.insert_slice {{.*}}[0, 0]
// CHECK-NOT:     to_buffer %[[A]]
// CHECK:         %[[C:.*]] = tensor.insert_slice %{{.*}} into %[[A]][1, 0]
// CHECK:         bufferization.to_buffer %[[C]]
// BUFFERS-LABEL: func.func @read_later(
// BUFFERS-COUNT-2: memref.alloc
// BUFFERS-NOT:     bufferization
// BUFFERS:         return
func.func @read_later(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<3x4xf32>, f32) {
  %x = arith.constant 1 : index
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = tensor.insert_slice %b into %1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %3 = tensor.insert_slice %c into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %old = tensor.extract %1[%x, %x] : tensor<3x4xf32>
  return %3, %old : tensor<3x4xf32>, f32
}

// Where another op writes to the memory that the chain begins in, bufferization sees it all.
// CHECK-LABEL: func.func @overwritten(
// CHECK-NOT:     bufferization.to
// CHECK:         return
func.func @overwritten(%x: tensor<3x4xf32> {bufferization.writable = true}, %a: tensor<4xf32>, %f: f32) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %1 = tensor.insert_slice %a into %x[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = tensor.insert_slice %a into %1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %other = linalg.fill ins(%f : f32) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = tensor.insert_slice %a into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %3, %other : tensor<3x4xf32>, tensor<3x4xf32>
}

// A slice that is changed and put back goes with the write that puts it back.
// CHECK-LABEL: func.func @changed(
// CHECK:         %[[A:.*]] = tensor.insert_slice {{.*}}[0, 0]
// CHECK:         %[[B:.*]] = bufferization.to_buffer %[[A]]
// CHECK-NEXT:    %[[T:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK-NEXT:    tensor.extract_slice %[[T]][%{{.*}}, 0]
// CHECK:         tensor.insert_slice %{{.*}} into %[[T]][%{{.*}}, 0]
func.func @changed(%a: tensor<4xf32>, %i: index) -> tensor<3x4xf32> {
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %s = tensor.extract_slice %1[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %t = linalg.add ins(%a, %s : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.insert_slice %t into %1[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %3 = tensor.insert_slice %a into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// A branch that keeps the tensor or takes new memory, as an array does that grows.
// CHECK-LABEL: func.func @grows(
// CHECK:         %[[R:.*]] = scf.if
// CHECK:         %[[B:.*]] = bufferization.to_buffer %[[R]] : tensor<?x4xf32> to memref<?x4xf32>
// CHECK:         %[[T:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK:         tensor.insert_slice %{{.*}} into %[[T]][1, 0]
func.func @grows(%a: tensor<4xf32>, %grow: i1, %n: index) -> tensor<?x4xf32> {
  %0 = tensor.empty(%n) : tensor<?x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  %r = scf.if %grow -> (tensor<?x4xf32>) {
    %new = tensor.empty(%n) : tensor<?x4xf32>
    %s = tensor.extract_slice %1[0, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %g = tensor.insert_slice %s into %new[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    scf.yield %g : tensor<?x4xf32>
  } else {
    scf.yield %1 : tensor<?x4xf32>
  }
  %2 = tensor.insert_slice %a into %r[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  %3 = tensor.insert_slice %a into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// What a loop reads inside of the tensor that it also writes to is in sight of it.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[A:.*]] = tensor.insert_slice {{.*}}[0, 0]
// CHECK-NOT:     to_buffer %[[A]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
func.func @loop(%a: tensor<4xf32>, %n: index) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty() : tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %1) -> (tensor<3x4xf32>) {
    %v = tensor.extract %1[%c0, %i] : tensor<3x4xf32>
    %y = tensor.insert %v into %x[%i, %c0] : tensor<3x4xf32>
    scf.yield %y : tensor<3x4xf32>
  }
  %3 = tensor.insert_slice %a into %2[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}
