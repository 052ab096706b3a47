// A GPU does not call the library: each thread computes the block of its element.
// RUN: weft-compile %s --target=nvptx --compile-to=ptx | FileCheck %s --implicit-check-not=weft_rt --implicit-check-not='call'

// CHECK: .visible .entry noise
// CHECK: st.global
func.func @noise(%s: tensor<2xi64>, %x: tensor<8x100xf32>) -> tensor<8x100xf32> {
  %0 = weft.draw_uniform %s to [8, 100] {dtype = f32} : (tensor<2xi64>) -> tensor<8x100xf32>
  %1 = weft.add %0, %x : tensor<8x100xf32>
  return %1 : tensor<8x100xf32>
}
