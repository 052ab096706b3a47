// call_into becomes a call of the library: the numbers in an array, dense inputs, and what is overwritten.
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries" --canonicalize --split-input-file | FileCheck %s

// What is a view with steps is copied; the destination is new memory that nobody fills.
// CHECK-LABEL: func @view
// CHECK: %[[NUMBERS:.*]] = memref.alloca() : memref<22xi64>
// CHECK: %[[INTO:.*]] = memref.alloc() {{.*}} : memref<1x7x1xf32>
// CHECK-COUNT-22: memref.store %{{.*}}, %[[NUMBERS]]
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<1x9x1xf32>
// CHECK: memref.copy %{{.*}}, %[[DENSE]]
// CHECK: call @weft_rt_convolution_f32(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (memref<*xi64>, memref<*xf32>, memref<*xf32>, memref<*xf32>) -> ()
func.func @view(%x: tensor<1x18x1xf32>, %k: tensor<3x1x1xf32>, %n: index) -> tensor<1x7x1xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [1, 9, 1] [1, 2, 1] : tensor<1x18x1xf32> to tensor<1x9x1xf32>
  %into = tensor.empty() : tensor<1x7x1xf32>
  %0 = weft.call_into "convolution"(%part, %k) numbers(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) into %into : (tensor<1x9x1xf32>, tensor<3x1x1xf32>) into tensor<1x7x1xf32>
  return %0 : tensor<1x7x1xf32>
}
