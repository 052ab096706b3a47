// Arguments, prints and results of floats of 16 bits keep their dtype, though compiled code knows their bits alone.
// RUN: weft-run %s --arg='dense<[1.5, -2.25]> : tensor<2xbf16>' --arg='dense<[0.1, 65504.0]> : tensor<2xf16>' --print | FileCheck %s

// CHECK: brain tensor([1.5, -2.25], shape=(2,), dtype=bf16), half tensor([0.1, 65500], shape=(2,), dtype=f16)
// CHECK: tensor([1.5, -2.25, 3], shape=(3,), dtype=bf16)
// CHECK: tensor([0.2, inf], shape=(2,), dtype=f16)
func.func @main(%x: tensor<2xbf16>, %y: tensor<2xf16>) -> (tensor<3xbf16>, tensor<2xf16>) {
  weft.print "brain {}, half {}", %x, %y : tensor<2xbf16>, tensor<2xf16>
  %c = weft.constant dense<3.0> : tensor<1xbf16>
  %0 = weft.concatenate %x, %c {axis = 0 : i64} : (tensor<2xbf16>, tensor<1xbf16>) -> tensor<3xbf16>
  %1 = weft.add %y, %y : tensor<2xf16>
  return %0, %1 : tensor<3xbf16>, tensor<2xf16>
}
