// The op convolution_transpose: its text, the shape of its result, its derivatives, and what it says of what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// (5 - 1) 2 + 3 + 1 - 1 elements from 5 positions.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x5x?x6xf32>, %k: tensor<3x2x4x6xf32>) {
  // CHECK: weft.convolution_transpose %{{.*}} -> tensor<?x11x?x8xf32>
  %0 = weft.convolution_transpose %x, %k {strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, extra = array<i64: 1, 0>} : (tensor<?x5x?x6xf32>, tensor<3x2x4x6xf32>) -> tensor<?x11x?x8xf32>
  return
}

// By x it is the convolution again; by the kernel, what was the cotangent is the image.
// AD-LABEL: func.func @convolution_transpose_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x2x4xf32>, %[[K:[a-z0-9]+]]: tensor<3x3x4xf32>, %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[DX:.*]] = weft.convolution %[[D]], %[[K]] {{.*}} -> tensor<2x2x4xf32>
// AD: %[[DK:.*]] = weft.convolution_kernel_gradient %[[D]], %[[X]] {{.*}} -> tensor<3x3x4xf32>
// AD: return %[[DX]], %[[DK]]
func.func @convolution_transpose_vjp(%x: tensor<2x2x4xf32>, %k: tensor<3x3x4xf32>, %d: tensor<2x6x3xf32>) -> (tensor<2x2x4xf32>, tensor<3x3x4xf32>) {
  %0:3 = weft.vjp @line(%x, %k) cotangents(%d) wrt [0, 1] : (tensor<2x2x4xf32>, tensor<3x3x4xf32>, tensor<2x6x3xf32>) -> (tensor<2x6x3xf32>, tensor<2x2x4xf32>, tensor<3x3x4xf32>)
  return %0#1, %0#2 : tensor<2x2x4xf32>, tensor<3x3x4xf32>
}
// Forward it is linear in each operand.
// AD-LABEL: func.func @convolution_transpose_jvp(
// AD-SAME: %[[A:[a-z0-9]+]]: tensor<2x2x4xf32>, %[[B:[a-z0-9]+]]: tensor<3x3x4xf32>, %[[DA:[a-z0-9]+]]: tensor<2x2x4xf32>, %[[DB:[a-z0-9]+]]: tensor<3x3x4xf32>
// AD-DAG: %[[L:.*]] = weft.convolution_transpose %[[DA]], %[[B]]
// AD-DAG: %[[R:.*]] = weft.convolution_transpose %[[A]], %[[DB]]
// AD: %[[DY:.*]] = weft.add %[[L]], %[[R]]
// AD: return %[[DY]]
func.func @convolution_transpose_jvp(%x: tensor<2x2x4xf32>, %k: tensor<3x3x4xf32>, %da: tensor<2x2x4xf32>, %db: tensor<3x3x4xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.jvp @line(%x, %k) tangents(%da, %db) wrt [0, 1] : (tensor<2x2x4xf32>, tensor<3x3x4xf32>, tensor<2x2x4xf32>, tensor<3x3x4xf32>) -> (tensor<2x6x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
func.func @line(%x: tensor<2x2x4xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x6x3xf32> {
  %0 = weft.convolution_transpose %x, %k {strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, extra = array<i64: 1>} : (tensor<2x2x4xf32>, tensor<3x3x4xf32>) -> tensor<2x6x3xf32>
  return %0 : tensor<2x6x3xf32>
}

// -----

func.func @extra(%x: tensor<1x4x1xf32>, %k: tensor<1x1x1xf32>) {
  // expected-error @below {{'weft.convolution_transpose' op extra has 2, but must be below the stride, 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution_transpose %x, %k {strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, extra = array<i64: 2>} : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> tensor<1x9x1xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x4x3xf32>, %k: tensor<1x1x2xf32>) {
  // expected-error @below {{'weft.convolution_transpose' op x has 3 channels, but the kernel is for 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution_transpose %x, %k {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64, extra = array<i64: 0>} : (tensor<1x4x3xf32>, tensor<1x1x2xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

// There is nothing left of what padding takes away.
func.func @padding(%x: tensor<1x1x1xf32>, %k: tensor<1x1x1xf32>) {
  // expected-error @below {{'weft.convolution_transpose' op spatial axis 0 of the result would have -1 elements}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution_transpose %x, %k {strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, extra = array<i64: 0>} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return
}
