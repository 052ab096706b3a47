// The op window_max: its text, the shape of its result, its derivatives, and what it says of windows that cannot be.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// Sizes that are not known stay so; strides, padding and dilations decide about the others.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf32>) {
  // CHECK: weft.window_max %{{.*}} {dilations = array<i64: 2, 1>, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  %0 = weft.window_max %x {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>} : (tensor<?x9x?x4xf32>) -> tensor<?x3x?x4xf32>
  return
}

// The gradient goes where the largest element is; there is one behind the last window.
// AD-LABEL: func.func @window_max_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x2x3xf32>
// AD: %[[P:.*]] = weft.window_argmax %[[X]]
// AD: %[[DX:.*]] = weft.window_scatter %[[D]], %[[P]] {{.*}}extra = array<i64: 1>{{.*}} -> tensor<2x6x3xf32>
// AD: return %[[DX]]
func.func @window_max_vjp(%x: tensor<2x6x3xf32>, %d: tensor<2x2x3xf32>) -> tensor<2x6x3xf32> {
  %0:2 = weft.vjp @line(%x) cotangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x6x3xf32>)
  return %0#1 : tensor<2x6x3xf32>
}
// AD-LABEL: func.func @window_max_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x6x3xf32>
// AD: %[[P:.*]] = weft.window_argmax %[[X]]
// AD: %[[DY:.*]] = weft.window_take %[[D]], %[[P]]
// AD: return %[[DY]]
func.func @window_max_jvp(%x: tensor<2x6x3xf32>, %d: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0:2 = weft.jvp @line(%x) tangents(%d) wrt [0] : (tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return %0#1 : tensor<2x2x3xf32>
}
func.func @line(%x: tensor<2x6x3xf32>) -> tensor<2x2x3xf32> {
  %0 = weft.window_max %x {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<2x6x3xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// -----

// A window may not be larger than the padded axis.
func.func @window(%x: tensor<1x2x1xf32>) {
  // expected-error @below {{'weft.window_max' op a window over 5 elements does not fit in spatial axis 0, which has 4 with its padding}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 5>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>} : (tensor<1x2x1xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

// A window has elements.
func.func @empty(%x: tensor<1x2x1xf32>) {
  // expected-error @below {{'weft.window_max' op window has 0, but must be at least 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 0>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x1xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

// Windows go forward.
func.func @stride(%x: tensor<1x2x1xf32>) {
  // expected-error @below {{'weft.window_max' op strides has -1, but must be at least 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 1>, strides = array<i64: -1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x1xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

// The first window would see nothing but padding.
func.func @nothing(%x: tensor<1x4x1xf32>) {
  // expected-error @below {{'weft.window_max' op low has 2, but must be below the 2 elements that a window goes over}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 2>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x4x1xf32>) -> tensor<1x5x1xf32>
  return
}

// -----

// Images have one to three spatial axes.
func.func @rank(%x: tensor<1x4xf32>) {
  // expected-error @below {{'weft.window_max' op x must be (batch, 1 to 3 spatial axes, channels), but has shape (1, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64>, strides = array<i64>, low = array<i64>, high = array<i64>, dilations = array<i64>} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  return
}

// -----

// Every axis has its entry.
func.func @lists(%x: tensor<1x4x4x1xf32>) {
  // expected-error @below {{'weft.window_max' op window has 1 entries, but there are 2 spatial axes}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return
}

// -----

// The elements of a window have numbers of 32 bits.
func.func @numbered(%x: tensor<0x65536x65536x1xf32>) {
  // expected-error @below {{'weft.window_max' op a window has more than 2^31 - 1 elements}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_max %x {window = array<i64: 65536, 65536>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<0x65536x65536x1xf32>) -> tensor<0x1x1x1xf32>
  return
}
