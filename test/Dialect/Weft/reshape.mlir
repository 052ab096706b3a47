// The op reshape: its text, the size that follows, and what it says of shapes that x does not fill.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// One size may be -1: it follows from the others, or stays unknown if x's count is.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x6xf32>, %some: tensor<?x6xf32>, %none: tensor<0x5xi64>, %scalar: tensor<i1>) {
  // CHECK: weft.reshape %{{.*}} to [3, -1] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %0 = weft.reshape %x to [3, -1] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  // CHECK: weft.reshape %{{.*}} to [3, -1] : (tensor<?x6xf32>) -> tensor<3x?xf32>
  %1 = weft.reshape %some to [3, -1] : (tensor<?x6xf32>) -> tensor<3x?xf32>
  // Nothing fills every shape that holds nothing.
  // CHECK: weft.reshape %{{.*}} to [7, 0] : (tensor<0x5xi64>) -> tensor<7x0xi64>
  %2 = weft.reshape %none to [7, 0] : (tensor<0x5xi64>) -> tensor<7x0xi64>
  // CHECK: weft.reshape %{{.*}} to [1, 1] : (tensor<i1>) -> tensor<1x1xi1>
  %3 = weft.reshape %scalar to [1, 1] : (tensor<i1>) -> tensor<1x1xi1>
  return
}

// -----

// Of an x with unknown sizes more may be -1: the first stand for those in their order, the last follows.
// CHECK-LABEL: func.func @several_open
func.func @several_open(%x: tensor<?x?x12xf32>, %one: tensor<?x6xf32>) {
  // CHECK: weft.reshape %{{.*}} to [-1, -1, 3, 4] : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
  %0 = weft.reshape %x to [-1, -1, 3, 4] : (tensor<?x?x12xf32>) -> tensor<?x?x3x4xf32>
  // CHECK: weft.reshape %{{.*}} to [-1, 2, -1] : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  %1 = weft.reshape %one to [-1, 2, -1] : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  return
}

// -----

func.func @too_many_open(%x: tensor<?x6xf32>) {
  // expected-error @below {{'weft.reshape' op the shape (-1, -1, -1) leaves 3 sizes open, but all of them except the last stand for unknown sizes of x, which has shape (?, 6)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [-1, -1, -1] : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
  return
}

// -----

// 6 elements do not fill 4.
func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op x of shape (2, 3) has 6 elements, which do not fill the shape (4,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [4] : (tensor<2x3xf32>) -> tensor<4xf32>
  return
}

// -----

// 6 elements make no rows of 4.
func.func @remainder(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op x of shape (2, 3) has 6 elements, which do not fill the shape (-1, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [-1, 4] : (tensor<2x3xf32>) -> tensor<1x4xf32>
  return
}

// -----

// Any size would do beside a 0, so none follows.
func.func @anything_of_nothing(%x: tensor<0x3xf32>) {
  // expected-error @below {{'weft.reshape' op x of shape (0, 3) has 0 elements, which do not fill the shape (-1, 0)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [-1, 0] : (tensor<0x3xf32>) -> tensor<0x0xf32>
  return
}

// -----

// From one count follows one size.
func.func @two_unknown(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op only one size may be -1, but the shape is (-1, -1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [-1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Only -1 has a meaning.
func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op size -2 is negative}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [-2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// The count is checked before it is compared.
func.func @overflow(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op a tensor of shape (4294967296, 4294967296) has more elements than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [4294967296, 4294967296] : (tensor<2x3xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

// Without sizes there is no op.
func.func @missing(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.reshape' op requires attribute 'shape'}}
  %0 = weft.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}
