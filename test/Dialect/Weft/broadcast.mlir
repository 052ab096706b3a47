// The op broadcast: its text, its shapes, and what it says of shapes that x does not stretch to.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Sizes 1 stretch, also to 0; new axes stand at the left.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<3x1xf32>, %some: tensor<?xi64>, %scalar: tensor<i1>) {
  // CHECK: weft.broadcast %{{.*}} to [2, 3, 4] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %0 = weft.broadcast %x to [2, 3, 4] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: weft.broadcast %{{.*}} to [3, 0] : (tensor<3x1xf32>) -> tensor<3x0xf32>
  %1 = weft.broadcast %x to [3, 0] : (tensor<3x1xf32>) -> tensor<3x0xf32>
  // Whether the unknown size is 5 or 1 shows when the program runs.
  // CHECK: weft.broadcast %{{.*}} to [5] : (tensor<?xi64>) -> tensor<5xi64>
  %2 = weft.broadcast %some to [5] : (tensor<?xi64>) -> tensor<5xi64>
  // CHECK: weft.broadcast %{{.*}} to [] : (tensor<i1>) -> tensor<i1>
  %3 = weft.broadcast %scalar to [] : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// Only a size of 1 stretches.
func.func @size(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.broadcast' op x of shape (2, 3) does not broadcast to the shape (2, 6)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.broadcast %x to [2, 6] : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

// An axis of x would be lost.
func.func @rank(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.broadcast' op x of shape (2, 3) does not broadcast to the shape (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.broadcast %x to [3] : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// A small tensor may stretch beyond every memory.
func.func @too_large(%x: tensor<f32>) {
  // expected-error @below {{'weft.broadcast' op a tensor of shape (4294967296, 4294967296) has more bytes than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.broadcast %x to [4294967296, 4294967296] : (tensor<f32>) -> tensor<4294967296x4294967296xf32>
  return
}
