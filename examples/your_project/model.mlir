// A linear model for any number of rows. Its weights go into the object (--freeze in CMakeLists.txt).
weft.variable @w = dense<[[1.0, -1.0], [2.0, 0.5], [0.0, 3.0]]> : tensor<3x2xf32>
weft.variable @b = dense<[0.25, -0.25]> : tensor<2xf32>

func.func @predict(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %hw = weft.handle @w : !weft.var<tensor<3x2xf32>>
  %hb = weft.handle @b : !weft.var<tensor<2xf32>>
  %w = weft.read %hw : tensor<3x2xf32>
  %b = weft.read %hb : tensor<2xf32>
  %0 = weft.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = weft.add %0, %b : tensor<?x2xf32>, tensor<2xf32>
  return %1 : tensor<?x2xf32>
}
