// The op convolution_kernel_gradient: its text, the shape of its result, its derivatives, and what it says of what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf32>, %d: tensor<?x3x?x6xf32>) {
  // CHECK: weft.convolution_kernel_gradient %{{.*}} -> tensor<3x2x2x6xf32>
  %0 = weft.convolution_kernel_gradient %x, %d {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>, groups = 2 : i64} : (tensor<?x9x?x4xf32>, tensor<?x3x?x6xf32>) -> tensor<3x2x2x6xf32>
  return
}

// AD-LABEL: func.func @convolution_kernel_gradient_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[C:[a-z0-9]+]]: tensor<2x2x4xf32>, %[[D:[a-z0-9]+]]: tensor<3x3x4xf32>
// AD: %[[DX:.*]] = weft.convolution_transpose %[[C]], %[[D]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: %[[DC:.*]] = weft.convolution %[[X]], %[[D]] {{.*}} -> tensor<2x2x4xf32>
// AD: return %[[DX]], %[[DC]]
func.func @convolution_kernel_gradient_vjp(%x: tensor<2x6x3xf32>, %c: tensor<2x2x4xf32>, %d: tensor<3x3x4xf32>) -> (tensor<2x6x3xf32>, tensor<2x2x4xf32>) {
  %0:3 = weft.vjp @line(%x, %c) cotangents(%d) wrt [0, 1] : (tensor<2x6x3xf32>, tensor<2x2x4xf32>, tensor<3x3x4xf32>) -> (tensor<3x3x4xf32>, tensor<2x6x3xf32>, tensor<2x2x4xf32>)
  return %0#1, %0#2 : tensor<2x6x3xf32>, tensor<2x2x4xf32>
}
// Forward it is linear in each operand.
// AD-LABEL: func.func @convolution_kernel_gradient_jvp(
// AD-SAME: %[[A:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[B:[a-z0-9]+]]: tensor<2x2x4xf32>, %[[DA:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[DB:[a-z0-9]+]]: tensor<2x2x4xf32>
// AD-DAG: %[[L:.*]] = weft.convolution_kernel_gradient %[[DA]], %[[B]]
// AD-DAG: %[[R:.*]] = weft.convolution_kernel_gradient %[[A]], %[[DB]]
// AD: %[[DY:.*]] = weft.add %[[L]], %[[R]]
// AD: return %[[DY]]
func.func @convolution_kernel_gradient_jvp(%x: tensor<2x6x3xf32>, %c: tensor<2x2x4xf32>, %da: tensor<2x6x3xf32>, %db: tensor<2x2x4xf32>) -> tensor<3x3x4xf32> {
  %0:2 = weft.jvp @line(%x, %c) tangents(%da, %db) wrt [0, 1] : (tensor<2x6x3xf32>, tensor<2x2x4xf32>, tensor<2x6x3xf32>, tensor<2x2x4xf32>) -> (tensor<3x3x4xf32>, tensor<3x3x4xf32>)
  return %0#1 : tensor<3x3x4xf32>
}
func.func @line(%x: tensor<2x6x3xf32>, %c: tensor<2x2x4xf32>) -> tensor<3x3x4xf32> {
  %0 = weft.convolution_kernel_gradient %x, %c {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x6x3xf32>, tensor<2x2x4xf32>) -> tensor<3x3x4xf32>
  return %0 : tensor<3x3x4xf32>
}

// -----

// The cotangent is that of the convolution's result.
func.func @positions(%x: tensor<1x4x1xf32>, %c: tensor<1x4x1xf32>) {
  // expected-error @below {{'weft.convolution_kernel_gradient' op cotangent must have the shape of the convolution's result, (1, 2, ?), but has (1, 4, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution_kernel_gradient %x, %c {window = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x1xf32>, tensor<1x4x1xf32>) -> tensor<3x1x1xf32>
  return
}
