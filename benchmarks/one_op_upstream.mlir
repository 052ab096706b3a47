// The same for mlir-opt, which knows no weft dialect.
func.func @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
