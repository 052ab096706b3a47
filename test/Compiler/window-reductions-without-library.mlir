// The loops that stand for reductions over windows and their derivatives where the library cannot be called give what the library gives: numbers with ties, of which sums are exact.
// RUN: mkdir -p %t
// RUN: weft-run %s --arg='iota : tensor<2x6x5x4xi32>' --save=%t/0.npy --save=%t/1.npy --save=%t/2.npy --save=%t/3.npy --save=%t/4.npy --save=%t/5.npy --save=%t/6.npy --save=%t/7.npy
// RUN: weft-opt %s --weft-to-linalg=without-library -o %t/loops.mlir
// RUN: not grep call_into %t/loops.mlir
// RUN: weft-run --from=linalg %t/loops.mlir --arg='iota : tensor<2x6x5x4xi32>' --check=%t/0.npy --check=%t/1.npy --check=%t/2.npy --check=%t/3.npy --check=%t/4.npy --check=%t/5.npy --check=%t/6.npy --check=%t/7.npy

func.func @main(%x: tensor<2x6x5x4xi32>) -> (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xi32>, tensor<2x3x5x4xi32>, tensor<2x3x5x4xf32>, tensor<2x6x5x4xf32>, tensor<2x6x5x4xf32>) {
  %eleven = weft.constant dense<11> : tensor<i32>
  %rest = weft.remainder %x, %eleven : tensor<2x6x5x4xi32>, tensor<i32>
  %v = weft.cast %rest to f32 : tensor<2x6x5x4xi32>
  %0 = weft.window_max %v {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>) -> tensor<2x3x5x4xf32>
  %1 = weft.window_min %v {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = weft.window_sum %v {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>) -> tensor<2x3x5x4xf32>
  %3 = weft.window_argmax %v {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>) -> tensor<2x3x5x4xi32>
  %4 = weft.window_argmin %v {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>) -> tensor<2x3x5x4xi32>
  %5 = weft.window_take %v, %3 {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x6x5x4xf32>, tensor<2x3x5x4xi32>) -> tensor<2x3x5x4xf32>
  %6 = weft.window_scatter %2, %4 {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xi32>) -> tensor<2x6x5x4xf32>
  %7 = weft.window_sum_transpose %2 {window = array<i64: 3, 2>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 1>, dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>} : (tensor<2x3x5x4xf32>) -> tensor<2x6x5x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xi32>, tensor<2x3x5x4xi32>, tensor<2x3x5x4xf32>, tensor<2x6x5x4xf32>, tensor<2x6x5x4xf32>
}
