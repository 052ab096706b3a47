// A variable from a file and one from the text.
weft.variable @scale : tensor<2xf32>
weft.variable @shift = dense<1.0> : tensor<f32>
func.func @scaled(%x: tensor<2xf32>) -> tensor<2xf32> {
  %hs = weft.handle @scale : !weft.var<tensor<2xf32>>
  %scale = weft.read %hs : tensor<2xf32>
  %ht = weft.handle @shift : !weft.var<tensor<f32>>
  %shift = weft.read %ht : tensor<f32>
  %0 = weft.multiply %x, %scale : tensor<2xf32>
  %1 = weft.add %0, %shift : tensor<2xf32>, tensor<f32>
  return %1 : tensor<2xf32>
}
