// What may leave the call reads its tensors, and keeps them from being overwritten before.
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s

// The buffers stay operands: which of them are variables is seen later.
// CHECK-LABEL: func @leave
// CHECK-SAME: (%[[BROKEN:.*]]: i1, %[[X:.*]]: memref<4xf32
// CHECK: weft.leave assertion "x is {}", %{{.*}} : memref<4xf32{{.*}}> leaving [@w] = %{{.*}} : memref<4xf32
func.func @leave(%broken: i1, %x: tensor<4xf32>, %w: tensor<4xf32>) {
  scf.if %broken {
    weft.leave assertion "x is {}", %x : tensor<4xf32> leaving [@w] = %w : tensor<4xf32>
  }
  return
}

// -----

// i64 is dtype 2.
// CHECK-LABEL: func @indices
// CHECK: %[[DTYPE:.*]] = arith.constant 2 : i32
// CHECK: %[[FOUND:.*]] = call @weft_rt_outside(%[[DTYPE]], %{{.*}}, %{{.*}}, %{{.*}}) : (i32, !llvm.ptr, i64, i64) -> i1
// CHECK: return %[[FOUND]]
func.func @indices(%i: tensor<5xi64>, %n: index) -> i1 {
  %0 = weft.outside %i below %n : tensor<5xi64>
  return %0 : i1
}

// -----

// The print shows x as it was: what is computed before it, but is another value, goes elsewhere.
// CHECK-LABEL: func @order
// CHECK-SAME: (%[[X:.*]]: memref<4xf32
// CHECK: %[[OTHER:.*]] = memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[OTHER]]
// CHECK: weft.leave print "{}", %[[X]]
#id = affine_map<(d0) -> (d0)>
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %1 = math.exp %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  weft.leave print "{}", %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// So does the state that a failure leaves, although nothing else reads it.
// CHECK-LABEL: func @state
// CHECK-SAME: (%{{.*}}: i1, %[[W:.*]]: memref<4xf32
// CHECK: %[[OTHER:.*]] = memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[OTHER]]
// CHECK: weft.leave shape "no" leaving [@w] = %[[W]]
// CHECK: linalg.generic {{.*}} outs(%[[W]]
#id = affine_map<(d0) -> (d0)>
func.func @state(%broken: i1, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%w : tensor<4xf32>) {
  ^bb0(%o: f32):
    %1 = math.exp %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  scf.if %broken {
    weft.leave shape "no" leaving [@w] = %w : tensor<4xf32>
  }
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %3 = arith.addf %in, %in : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Elements with gaps between them are copied, in the branch that leaves.
// CHECK-LABEL: func @gaps
// CHECK: scf.if
// CHECK: memref.alloc() {{.*}}: memref<2xf32>
// CHECK: memref.copy
// CHECK: weft.leave
func.func @gaps(%broken: i1, %x: tensor<4xf32>) {
  %0 = tensor.extract_slice %x[0] [2] [2] : tensor<4xf32> to tensor<2xf32>
  scf.if %broken {
    weft.leave assertion "x is {}", %0 : tensor<2xf32>
  }
  return
}
