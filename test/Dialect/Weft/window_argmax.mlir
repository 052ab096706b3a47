// The op window_argmax: its text, and that its result is i32.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// Sizes that are not known stay so.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x9x?x4xf64>) {
  // CHECK: weft.window_argmax %{{.*}} {dilations = array<i64: 2, 1>, high = array<i64: 0, 1>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x9x?x4xf64>) -> tensor<?x3x?x4xi32>
  %0 = weft.window_argmax %x {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 2, 1>} : (tensor<?x9x?x4xf64>) -> tensor<?x3x?x4xi32>
  return
}

// -----

// There is no larger bool.
func.func @dtype(%x: tensor<1x2x1xi1>) {
  // expected-error @below {{'weft.window_argmax' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(1, 2, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.window_argmax %x {window = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : (tensor<1x2x1xi1>) -> tensor<1x1x1xi32>
  return
}
