// Elementwise ops, reductions and products become PTX without a call inside, for any chip LLVM knows.
// RUN: weft-compile %s --target=nvptx --compile-to=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --implicit-check-not=__nv_ --implicit-check-not='call' --implicit-check-not='.approx'
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=ptx | FileCheck %s --check-prefix=SM80
// RUN: weft-compile %s --target=nvptx --chip=sm_120 --compile-to=ptx | FileCheck %s --check-prefix=SM120
// RUN: not weft-compile %s --target=nvptx --chip=sm_1 --compile-to=ptx 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: .version 8.0
// CHECK-NEXT: .target sm_90a
// A later chip has a later version of PTX.
// SM120: .version {{(8\.[7-9]|9)}}
// SM120-NEXT: .target sm_120
// SM80: .target sm_80
// CHIP: error: --chip=sm_1: LLVM knows no such GPU

// A product is a chain of fused steps, as the library's on processors that have them, and its kernel goes on with what is
// computed of each result.
// CHECK: .visible .entry mlp_0(
// CHECK-NOT: mul.rn.f32
// CHECK: fma.rn.f32
// CHECK: div.rn.f32
// CHECK: .visible .entry mlp_2(
func.func @mlp(%x: tensor<32x64xf32>, %w: tensor<64x128xf32>, %b: tensor<128xf32>, %n: tensor<?x3xf64>)
    -> (tensor<32x128xf32>, tensor<32xf32>, tensor<?x3xf64>) {
  %0 = weft.matmul %x, %w : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
  %1 = weft.add %0, %b : tensor<32x128xf32>, tensor<128xf32>
  %2 = weft.tanh %1 : tensor<32x128xf32>
  %3 = weft.exp %2 : tensor<32x128xf32>
  %4 = weft.sum %3 {axes = array<i64: 1>} : (tensor<32x128xf32>) -> tensor<32xf32>
  %5 = weft.sqrt %n : tensor<?x3xf64>
  %6 = weft.remainder %5, %n : tensor<?x3xf64>
  %7 = weft.power %6, %n : tensor<?x3xf64>
  %8 = weft.sin %7 : tensor<?x3xf64>
  return %2, %4, %8 : tensor<32x128xf32>, tensor<32xf32>, tensor<?x3xf64>
}
