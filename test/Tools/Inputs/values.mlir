// Values that weft-compile-ahead.mlir freezes.
func.func @weights() -> tensor<3x2xf32> {
  %0 = weft.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func @table() -> tensor<4xf64> {
  %0 = weft.constant dense<[0.5, 1.5, 2.5, 3.5]> : tensor<4xf64>
  return %0 : tensor<4xf64>
}
