// The loops that stand for convolution and its gradients where the library cannot be called give what the library gives: integers, so exactly.
// RUN: mkdir -p %t
// RUN: weft-run %s --arg='iota : tensor<2x6x5x4xi32>' --arg='iota : tensor<3x2x2x6xi32>' --arg='iota : tensor<2x3x5x6xi32>' --save=%t/0.npy --save=%t/1.npy --save=%t/2.npy
// RUN: weft-opt %s --weft-to-linalg=without-library -o %t/loops.mlir
// RUN: not grep call_into %t/loops.mlir
// RUN: weft-run --from=linalg %t/loops.mlir --arg='iota : tensor<2x6x5x4xi32>' --arg='iota : tensor<3x2x2x6xi32>' --arg='iota : tensor<2x3x5x6xi32>' --check=%t/0.npy --check=%t/1.npy --check=%t/2.npy

func.func @main(%x: tensor<2x6x5x4xi32>, %k: tensor<3x2x2x6xi32>, %d: tensor<2x3x5x6xi32>) -> (tensor<2x3x5x6xi32>, tensor<2x6x5x4xi32>, tensor<3x2x2x6xi32>) {
  %0 = weft.convolution %x, %k {strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x6x5x4xi32>, tensor<3x2x2x6xi32>) -> tensor<2x3x5x6xi32>
  %1 = weft.convolution_transpose %d, %k {strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64, extra = array<i64: 0, 0>} : (tensor<2x3x5x6xi32>, tensor<3x2x2x6xi32>) -> tensor<2x6x5x4xi32>
  %2 = weft.convolution_kernel_gradient %x, %d {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x6x5x4xi32>, tensor<2x3x5x6xi32>) -> tensor<3x2x2x6xi32>
  return %0, %1, %2 : tensor<2x3x5x6xi32>, tensor<2x6x5x4xi32>, tensor<3x2x2x6xi32>
}
