// A GPU does not call the library: what is sorted is two kernels, a thread per element.
// RUN: weft-compile %s --target=nvptx --compile-to=ptx | FileCheck %s --implicit-check-not=weft_rt --implicit-check-not='call'

// CHECK: .visible .entry order
// CHECK: setp.lt.f32
// CHECK: .visible .entry order
func.func @order(%x: tensor<8x100xf32>) -> (tensor<8x3xi64>, tensor<8x100xf32>) {
  %0 = weft.argsort %x {axis = 1 : i64, count = 3 : i64} : (tensor<8x100xf32>) -> tensor<8x3xi64>
  %1 = weft.sort %x {axis = 0 : i64, descending = true} : (tensor<8x100xf32>) -> tensor<8x100xf32>
  return %0, %1 : tensor<8x3xi64>, tensor<8x100xf32>
}
