// draw_into becomes a call of the runtime: (seed, stream, rank, [sizes, strides], result).
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries" --canonicalize --split-input-file | FileCheck %s

// What is drawn into is new memory, and is not read.
// CHECK-LABEL: func @uniform
// CHECK-SAME: %[[SEED:.*]]: i64, %[[STREAM:.*]]: i64
// CHECK: %[[SHAPE:.*]] = memref.alloca() : memref<4xi64>
// CHECK: memref.alloc() {{.*}} : memref<4x3xf32>
// CHECK-NOT: memref.copy
// CHECK-COUNT-4: memref.store %{{.*}}, %[[SHAPE]]
// CHECK: call @weft_rt_draw_uniform_f32(%[[SEED]], %[[STREAM]], %c2_i64, %{{.*}}, %{{.*}}) {weft.writes = 1 : i64} : (i64, i64, i64, memref<*xi64>, memref<*xf32>) -> ()
func.func @uniform(%seed: i64, %stream: i64) -> tensor<4x3xf32> {
  %into = tensor.empty() : tensor<4x3xf32>
  %0 = weft.draw_into %into, %seed, %stream : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// A view is taken with its stride; orders go by another function.
// CHECK-LABEL: func @order
// CHECK: %{{.*}}, %{{.*}}, %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: arith.index_cast %[[SIZE]] : index to i64
// CHECK: arith.index_cast %[[STRIDE]] : index to i64
// CHECK: call @weft_rt_draw_permutation_i64
func.func @order(%into: tensor<?xi64>, %seed: i64, %stream: i64) -> tensor<?xi64> {
  %0 = weft.draw_into %into, %seed, %stream {permutation} : tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// A scalar has no sizes; a bool is a dtype like any other.
// CHECK-LABEL: func @scalar
// CHECK: call @weft_rt_draw_uniform_bool(%{{.*}}, %{{.*}}, %c0_i64,
func.func @scalar(%into: tensor<i1>, %seed: i64, %stream: i64) -> tensor<i1> {
  %0 = weft.draw_into %into, %seed, %stream : tensor<i1>
  return %0 : tensor<i1>
}
