func.func @step(%x: tensor<10x2xf32>, %w: tensor<2xf32>) -> tensor<10xf32> {
  %0 = weft.multiply %x, %w : tensor<10x2xf32>, tensor<2xf32>
  %1 = weft.sum %0 {axes = array<i64: 1>} : (tensor<10x2xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
