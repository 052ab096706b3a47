// What start_weft_opt parses, verifies and prints: one op of the weft dialect.
func.func @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
