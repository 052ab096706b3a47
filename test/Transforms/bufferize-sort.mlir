// sort_into becomes a call of the runtime: (rank, [sizes, strides of x, strides of the result], axis, descending, count, x, result).
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries" --canonicalize --split-input-file | FileCheck %s

// What is sorted into is new memory; views are taken with their strides.
// CHECK-LABEL: func @view
// CHECK-DAG: %[[TRUE:.*]] = arith.constant true
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i64
// CHECK: %[[SHAPE:.*]] = memref.alloca() : memref<6xi64>
// CHECK: memref.subview
// CHECK: %[[INTO:.*]] = memref.alloc() {{.*}} : memref<4x3xi64>
// CHECK-NOT: memref.copy
// CHECK-COUNT-6: memref.store %{{.*}}, %[[SHAPE]]
// CHECK: call @weft_rt_argsort_f32(%[[C2]], %{{.*}}, %[[C0]], %[[TRUE]], %[[C4]], %{{.*}}, %{{.*}}) : (i64, memref<*xi64>, i64, i1, i64, memref<*xf32>, memref<*xi64>) -> ()
func.func @view(%x: tensor<8x6xf32>) -> tensor<4x3xi64> {
  %part = tensor.extract_slice %x[0, 1] [8, 3] [1, 2] : tensor<8x6xf32> to tensor<8x3xf32>
  %into = tensor.empty() : tensor<4x3xi64>
  %0 = weft.sort_into %into, %part {axis = 0 : i64, descending} : tensor<4x3xi64>, tensor<8x3xf32>
  return %0 : tensor<4x3xi64>
}

// -----

// Values go by another function; sizes may be known at run time only.
// CHECK-LABEL: func @values
// CHECK: %{{.*}}, %{{.*}}, %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: arith.index_cast %[[SIZE]] : index to i64
// CHECK: arith.index_cast %[[STRIDE]] : index to i64
// CHECK: call @weft_rt_sort_f64
func.func @values(%x: tensor<?xf64>, %into: tensor<?xf64>) -> tensor<?xf64> {
  %0 = weft.sort_into %into, %x {axis = 0 : i64, values} : tensor<?xf64>, tensor<?xf64>
  return %0 : tensor<?xf64>
}
