// call_into becomes a call of the library: the numbers in an array, dense inputs or views, and what is overwritten.
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize --split-input-file | FileCheck %s

// What is a view with steps is copied; the destination is new memory that nobody fills.
// CHECK-LABEL: func @view
// CHECK: %[[NUMBERS:.*]] = memref.alloca() : memref<22xi64>
// CHECK: %[[INTO:.*]] = memref.alloc() {{.*}} : memref<1x7x1xf32>
// CHECK-COUNT-22: memref.store %{{.*}}, %[[NUMBERS]]
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<1x9x1xf32>
// CHECK: memref.copy %{{.*}}, %[[DENSE]]
// CHECK: call @weft_rt_convolution_f32(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {weft.writes = 1 : i64} : (memref<*xi64>, memref<*xf32>, memref<*xf32>, memref<*xf32>) -> ()
func.func @view(%x: tensor<1x18x1xf32>, %k: tensor<3x1x1xf32>, %n: index) -> tensor<1x7x1xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [1, 9, 1] [1, 2, 1] : tensor<1x18x1xf32> to tensor<1x9x1xf32>
  %into = tensor.empty() : tensor<1x7x1xf32>
  %0 = weft.call_into "convolution"(%part, %k) numbers(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) into %into : (tensor<1x9x1xf32>, tensor<3x1x1xf32>) into tensor<1x7x1xf32>
  return %0 : tensor<1x7x1xf32>
}

// -----

// A part of a larger buffer that is dense itself is not copied, and a result is written where it goes.
// CHECK-LABEL: func @part
// CHECK: memref.alloca() : memref<4xi64>
// CHECK-NOT: memref.alloc(
// CHECK-NOT: memref.copy
// CHECK: call @weft_rt_cumsum_f32(
func.func @part(%x: tensor<4x9xf32>, %y: tensor<4x9xf32> {bufferization.writable = true}, %i: index) -> tensor<4x9xf32> {
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %zero = arith.constant 0 : index
  %row = tensor.extract_slice %x[%i, 0] [1, 9] [1, 1] : tensor<4x9xf32> to tensor<9xf32>
  %into = tensor.extract_slice %y[%i, 0] [1, 9] [1, 1] : tensor<4x9xf32> to tensor<9xf32>
  %0 = weft.call_into "cumsum"(%row) numbers(%one, %nine, %one, %zero) into %into : (tensor<9xf32>) into tensor<9xf32>
  %1 = tensor.insert_slice %0 into %y[%i, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// -----

// Indices are written by the routine of the elements' dtype.
// CHECK-LABEL: func @indices
// CHECK: call @weft_rt_argmax_f64(%{{.*}}, %{{.*}}, %{{.*}}) {weft.writes = 1 : i64} : (memref<*xi64>, memref<*xf64>, memref<*xi64>) -> ()
func.func @indices(%x: tensor<9xf64>, %n: index) -> tensor<i64> {
  %into = tensor.empty() : tensor<i64>
  %0 = weft.call_into "argmax"(%x) numbers(%n, %n, %n) into %into : (tensor<9xf64>) into tensor<i64>
  return %0 : tensor<i64>
}

// -----

// An op of kind routine is told rank, sizes and strides of each buffer, then its attributes; views are not copied.
// CHECK-LABEL: func @strided
// CHECK: %[[SHAPE:.*]] = memref.alloca() : memref<13xi64>
// CHECK: memref.subview
// CHECK: %[[INTO:.*]] = memref.alloc() {{.*}} : memref<4x3xi64>
// CHECK-NOT: memref.copy
// CHECK-COUNT-13: memref.store %{{.*}}, %[[SHAPE]]
// CHECK: weft.leave routine "argsort_f32", %[[SHAPE]], %{{.*}}, %[[INTO]] : memref<13xi64>, memref<8x3xf32, strided<[6, 2], offset: 1>>, memref<4x3xi64>{{$}}
func.func @strided(%x: tensor<8x6xf32>) -> tensor<4x3xi64> {
  %part = tensor.extract_slice %x[0, 1] [8, 3] [1, 2] : tensor<8x6xf32> to tensor<8x3xf32>
  %into = tensor.empty() : tensor<4x3xi64>
  %0 = weft.call_into "argsort"(%part) numbers() into %into {attrs = array<i64: 0, 1, 4>} : (tensor<8x3xf32>) into tensor<4x3xi64>
  return %0 : tensor<4x3xi64>
}

// -----

// Sizes may be known at run time only.
// CHECK-LABEL: func @open
// CHECK: %{{.*}}, %{{.*}}, %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: arith.index_cast %[[SIZE]] : index to i64
// CHECK: weft.leave routine "sort_f64"
func.func @open(%x: tensor<?xf64>, %into: tensor<?xf64>) -> tensor<?xf64> {
  %0 = weft.call_into "sort"(%x) numbers() into %into {attrs = array<i64: 0, 0>} : (tensor<?xf64>) into tensor<?xf64>
  return %0 : tensor<?xf64>
}

// -----

// What variables hold if it throws is kept from being overwritten, and stays an operand: here the result is to take the place of the
// variable that would be left as it was.
// CHECK-LABEL: func @leaving
// CHECK-SAME: %[[W:[^ ]*]]: memref<3x3xf32
// CHECK: %[[OTHER:.*]] = memref.alloc() {{.*}} : memref<3x3xf32>
// CHECK: weft.leave routine "cholesky_f32", %{{.*}}, %{{.*}}, %[[OTHER]] : memref<10xi64>, memref<3x3xf32{{.*}}>, memref<3x3xf32> leaving [@w] = %[[W]] : memref<3x3xf32
func.func @leaving(%w: tensor<3x3xf32> {bufferization.writable = true, weft.variable = @w}, %x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = weft.call_into "cholesky"(%x) numbers() into %w {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w] = %w : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// The runtime moves elements without gaps: a view of others is copied.
// CHECK-LABEL: func @gaps
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %{{.*}}, %[[DENSE]] {{{.*}}weft.reason = "the runtime takes elements without gaps"}
// CHECK: weft.leave routine "cholesky_f32", {{.*}} leaving [@w] = %[[DENSE]] : memref<4xf32>
func.func @gaps(%all: tensor<4x2xf32>, %x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %w = tensor.extract_slice %all[0, 1] [4, 1] [1, 1] : tensor<4x2xf32> to tensor<4xf32>
  %into = tensor.empty() : tensor<3x3xf32>
  %0 = weft.call_into "cholesky"(%x) numbers() into %into {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w] = %w : tensor<4xf32>
  return %0 : tensor<3x3xf32>
}
