// A variable of a size that is known only at run time.
weft.variable @v : tensor<?xf32>
func.func @get() -> tensor<f32> {
  %h = weft.handle @v : !weft.var<tensor<?xf32>>
  %0 = weft.read %h : tensor<?xf32>
  %1 = weft.sum %0 {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
