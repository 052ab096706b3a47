// The op convolution: its text, the shape of its result, its derivatives, and what it says of windows that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// Sizes that are not known stay so; strides, padding and dilations decide about the others.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf32>, %k: tensor<3x2x2x6xf32>) {
  // CHECK: weft.convolution %{{.*}} {dilations = array<i64: 2, 1>, groups = 2 : i64, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x9x?x4xf32>, tensor<3x2x2x6xf32>) -> tensor<?x3x?x6xf32>
  %0 = weft.convolution %x, %k {strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>, groups = 2 : i64} : (tensor<?x9x?x4xf32>, tensor<3x2x2x6xf32>) -> tensor<?x3x?x6xf32>
  return
}

// The gradient by the images is the transpose, with the one element that no window sees; that by the kernel a sum over positions.
// AD-LABEL: func.func @convolution_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[K:[a-z0-9]+]]: tensor<3x3x4xf32>, %[[D:[a-z0-9]+]]: tensor<2x2x4xf32>
// AD: %[[DX:.*]] = weft.convolution_transpose %[[D]], %[[K]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: %[[DK:.*]] = weft.convolution_kernel_gradient %[[X]], %[[D]] {{.*}}window = array<i64: 3>{{.*}} -> tensor<3x3x4xf32>
// AD: return %[[DX]], %[[DK]]
func.func @convolution_vjp(%x: tensor<2x6x3xf32>, %k: tensor<3x3x4xf32>, %d: tensor<2x2x4xf32>) -> (tensor<2x6x3xf32>, tensor<3x3x4xf32>) {
  %0:3 = weft.vjp @line(%x, %k) cotangents(%d) wrt [0, 1] : (tensor<2x6x3xf32>, tensor<3x3x4xf32>, tensor<2x2x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x6x3xf32>, tensor<3x3x4xf32>)
  return %0#1, %0#2 : tensor<2x6x3xf32>, tensor<3x3x4xf32>
}
// Forward it is linear in each operand.
// AD-LABEL: func.func @convolution_jvp(
// AD-SAME: %[[A:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[B:[a-z0-9]+]]: tensor<3x3x4xf32>, %[[DA:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[DB:[a-z0-9]+]]: tensor<3x3x4xf32>
// AD-DAG: %[[L:.*]] = weft.convolution %[[DA]], %[[B]]
// AD-DAG: %[[R:.*]] = weft.convolution %[[A]], %[[DB]]
// AD: %[[DY:.*]] = weft.add %[[L]], %[[R]]
// AD: return %[[DY]]
func.func @convolution_jvp(%x: tensor<2x6x3xf32>, %k: tensor<3x3x4xf32>, %da: tensor<2x6x3xf32>, %db: tensor<3x3x4xf32>) -> tensor<2x2x4xf32> {
  %0:2 = weft.jvp @line(%x, %k) tangents(%da, %db) wrt [0, 1] : (tensor<2x6x3xf32>, tensor<3x3x4xf32>, tensor<2x6x3xf32>, tensor<3x3x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>)
  return %0#1 : tensor<2x2x4xf32>
}
func.func @line(%x: tensor<2x6x3xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x2x4xf32> {
  %0 = weft.convolution %x, %k {strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x6x3xf32>, tensor<3x3x4xf32>) -> tensor<2x2x4xf32>
  return %0 : tensor<2x2x4xf32>
}

// -----

// A window may not be larger than the padded axis.
func.func @window(%x: tensor<1x2x1xf32>, %k: tensor<5x1x1xf32>) {
  // expected-error @below {{'weft.convolution' op a window over 5 elements does not fit in spatial axis 0, which has 4 with its padding}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x1xf32>, tensor<5x1x1xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x4x3xf32>, %k: tensor<1x2x1xf32>) {
  // expected-error @below {{'weft.convolution' op x has 3 channels in 1 group, but the kernel is for 2 in each}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x3xf32>, tensor<1x2x1xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x3xf32>, %k: tensor<1x1x4xf32>) {
  // expected-error @below {{'weft.convolution' op kernel has 4 channels, which 3 groups do not divide}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 3 : i64} : (tensor<1x4x3xf32>, tensor<1x1x4xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @stride(%x: tensor<1x4x1xf32>, %k: tensor<1x1x1xf32>) {
  // expected-error @below {{'weft.convolution' op strides has 0, but must be at least 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64: 0>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> tensor<1x4x1xf32>
  return
}

// -----

// Images have one to three spatial axes.
func.func @rank(%x: tensor<1x4xf32>, %k: tensor<1x1xf32>) {
  // expected-error @below {{'weft.convolution' op x must be (batch, 1 to 3 spatial axes, channels), but has shape (1, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64>, low = array<i64>, high = array<i64>, dilations = array<i64>, groups = 1 : i64} : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return
}

// -----

// Sizes at the ends of 64 bits are counted.
func.func @huge(%x: tensor<1x9x1xf32>, %k: tensor<3x1x1xf32>) {
  // expected-error @below {{'weft.convolution' op a window of 3 with dilation 9223372036854775807 goes over more than 2^63 - 1 elements}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.convolution %x, %k {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 9223372036854775807>, groups = 1 : i64} : (tensor<1x9x1xf32>, tensor<3x1x1xf32>) -> tensor<1x1x1xf32>
  return
}
