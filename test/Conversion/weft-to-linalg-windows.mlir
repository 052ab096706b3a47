// Convolution and its gradients become calls of the library, or loops for targets that cannot call it.
// RUN: weft-opt %s --weft-to-linalg --cse --mlir-print-local-scope --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg=without-library --cse --mlir-print-local-scope --split-input-file | FileCheck %s --check-prefix=LOOPS

// The numbers are batch, channels and groups, and of three axes, of which the first two are of size 1, what windows are.
// CHECK-LABEL: func.func @line
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<2x3x4xf32>
// CHECK: weft.call_into "convolution"(%{{.*}}, %{{.*}}) numbers(%[[C2]], %[[C3]], %[[C4]], %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C0]], %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C0]], %[[C1]], %[[C6]], %[[C3]], %[[C3]], %[[C2]], %[[C1]], %[[C1]]) into %[[INTO]]
// LOOPS-LABEL: func.func @line
// LOOPS: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// LOOPS: tensor.extract
// LOOPS: arith.select
func.func @line(%x: tensor<2x6x3xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = weft.convolution %x, %k {strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x6x3xf32>, tensor<3x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// What only the call knows is checked there.
// CHECK-LABEL: func.func @open
// CHECK-DAG: convolution: x has {} channels, but the kernel is for {}
// CHECK-DAG: convolution: a window over {} elements does not fit in spatial axis 0, which has {} with its padding
// CHECK: weft.call_into "convolution"
func.func @open(%x: tensor<?x?x?xf32>, %k: tensor<3x2x4xf32>) -> tensor<?x?x4xf32> {
  %0 = weft.convolution %x, %k {strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<?x?x?xf32>, tensor<3x2x4xf32>) -> tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}

// -----

// CHECK-LABEL: func.func @gradients
// CHECK: weft.call_into "convolution_transpose"
// CHECK: weft.call_into "convolution_kernel_gradient"
// LOOPS-LABEL: func.func @gradients
// LOOPS: linalg.generic
// LOOPS: arith.remui
// LOOPS: linalg.generic
func.func @gradients(%x: tensor<2x6x3xf32>, %k: tensor<3x3x4xf32>, %d: tensor<2x2x4xf32>) -> (tensor<2x6x3xf32>, tensor<3x3x4xf32>) {
  %0 = weft.convolution_transpose %d, %k {strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, extra = array<i64: 1>} : (tensor<2x2x4xf32>, tensor<3x3x4xf32>) -> tensor<2x6x3xf32>
  %1 = weft.convolution_kernel_gradient %x, %d {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x6x3xf32>, tensor<2x2x4xf32>) -> tensor<3x3x4xf32>
  return %0, %1 : tensor<2x6x3xf32>, tensor<3x3x4xf32>
}

// -----

// Reductions over windows take the numbers of a window without those of channels; positions are i32. Loops without the library carry what was best and where.
// CHECK-LABEL: func.func @reductions
// CHECK: weft.call_into "window_max"(%{{.*}}) numbers(
// CHECK-SAME: into %{{.*}} : (tensor<2x6x3xf32>) into tensor<2x2x3xf32>
// CHECK: weft.call_into "window_argmax"(%{{.*}}) numbers(
// CHECK-SAME: into %{{.*}} : (tensor<2x6x3xf32>) into tensor<2x2x3xi32>
// CHECK: weft.call_into "window_scatter"(%{{.*}}, %{{.*}}) numbers(
// CHECK-SAME: into %{{.*}} : (tensor<2x2x3xf32>, tensor<2x2x3xi32>) into tensor<2x6x3xf32>
// LOOPS-LABEL: func.func @reductions
// LOOPS: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// LOOPS: %{{.*}}:2 = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// LOOPS: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @reductions(%x: tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x6x3xf32>) {
  %0 = weft.window_max %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>) -> tensor<2x2x3xf32>
  %1 = weft.window_argmax %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>) -> tensor<2x2x3xi32>
  %2 = weft.window_scatter %0, %1 {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, extra = array<i64: 1>} : (tensor<2x2x3xf32>, tensor<2x2x3xi32>) -> tensor<2x6x3xf32>
  return %0, %2 : tensor<2x2x3xf32>, tensor<2x6x3xf32>
}

// -----

// What only the call knows is checked there.
// CHECK-LABEL: func.func @places
// CHECK-DAG: window_take: axis 1 of places has size {}, but there are {} windows along it
// CHECK-DAG: window_take: a window over {} elements does not fit in spatial axis 0, which has {} with its padding
// CHECK: weft.call_into "window_take"
func.func @places(%x: tensor<?x?x?xf32>, %p: tensor<?x?x?xi32>) -> tensor<?x?x?xf32> {
  %0 = weft.window_take %x, %p {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<?x?x?xf32>, tensor<?x?x?xi32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
