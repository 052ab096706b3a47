// Floats of 16 bits are integers from the phase linalg on: no value of LLVM's or of PTX's arithmetic is of such a type; a product of them on a
// GPU converts them where it reads them.
// RUN: weft-compile %s --compile-to=linalg | FileCheck %s
// RUN: weft-compile %s --compile-to=llvm | FileCheck %s --check-prefix=LLVM --implicit-check-not=bf16 --implicit-check-not=f16 --implicit-check-not=half
// RUN: weft-compile %s --target=nvptx --compile-to=ptx | FileCheck %s --check-prefix=PTX --implicit-check-not='{{(add|sub|mul|fma|neg|abs|min|max|setp)[.a-z]*[.]b?f16}}'

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: tensor<?xi16>, %{{.*}}: tensor<?xi16>) -> tensor<?xi16>
// CHECK-SAME: weft.elements = [bf16, bf16], weft.result_elements = [bf16]
// CHECK: arith.bitcast {{.*}} : i32 to f32
// CHECK: arith.addf {{.*}} : f32
// LLVM-LABEL: llvm.func @chain
// LLVM: llvm.fadd
// PTX: .visible .entry chain
// PTX: add.rn.f32
func.func @chain(%x: tensor<?xbf16>, %y: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = weft.add %x, %y : tensor<?xbf16>
  %1 = weft.exp %0 : tensor<?xbf16>
  return %1 : tensor<?xbf16>
}

// CHECK-LABEL: func.func @moved(
// CHECK: arith.constant dense<[15360, -16384]> : tensor<2xi16>
// CHECK-NOT: arith.addf
// CHECK: return
func.func @moved(%x: tensor<2xf16>, %p: tensor<2xi1>) -> tensor<4xf16> {
  %c = weft.constant dense<[1.0, -2.0]> : tensor<2xf16>
  %0 = weft.select %p, %x, %c : tensor<2xi1>, tensor<2xf16>, tensor<2xf16>
  %1 = weft.concatenate %0, %x {axis = 0 : i64} : (tensor<2xf16>, tensor<2xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// Sums and products are rounded once, at their end.
// CHECK-LABEL: func.func @sums(
// CHECK: linalg.generic
// CHECK: linalg.contract {{.*}}f32
func.func @sums(%x: tensor<4x4xf16>) -> (tensor<4xf16>, tensor<4x4xf16>) {
  %0 = weft.sum %x {axes = array<i64: 1>} : (tensor<4x4xf16>) -> tensor<4xf16>
  %1 = weft.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0, %1 : tensor<4xf16>, tensor<4x4xf16>
}
