// A slice of a tensor without elements, whose pullback pads what has none.
// RUN: weft-run %s --entry=main --arg='dense<> : tensor<0x3xf32>' --arg='dense<> : tensor<0x2xf32>' --print | FileCheck %s
// RUN: weft-run %s --entry=padded --arg='dense<> : tensor<0x2xf32>' --print | FileCheck %s --check-prefix=PADDED
// CHECK: shape=(0, 3), dtype=f32
// PADDED: tensor({{\[\[}}7, 7, 7]], shape=(1, 3), dtype=f32)
func.func private @f(%x: tensor<0x3xf32>) -> tensor<0x2xf32> {
  %r = weft.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 0, 2>, strides = array<i64: 1, 1>} : (tensor<0x3xf32>) -> tensor<0x2xf32>
  return %r : tensor<0x2xf32>
}
func.func @main(%x: tensor<0x3xf32>, %c: tensor<0x2xf32>) -> tensor<0x3xf32> {
  %g:2 = weft.vjp @f(%x) cotangents(%c) wrt [0] : (tensor<0x3xf32>, tensor<0x2xf32>) -> (tensor<0x2xf32>, tensor<0x3xf32>)
  return %g#1 : tensor<0x3xf32>
}
func.func @padded(%x: tensor<0x2xf32>) -> tensor<1x3xf32> {
  %seven = weft.constant dense<7.0> : tensor<f32>
  %r = weft.pad %x, %seven low [1, 0] high [0, 1] : (tensor<0x2xf32>, tensor<f32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}
