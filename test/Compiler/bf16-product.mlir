// Matrix products of bf16 are the library's; on a GPU, which has no library, each number is widened where it is read.
// RUN: weft-compile %s --compile-to=linalg | FileCheck %s
// RUN: weft-compile %s --compile-to=bufferize | FileCheck %s --check-prefix=BUFFERS
// RUN: weft-compile %s --target=nvptx --compile-to=linalg | FileCheck %s --check-prefix=GPU --implicit-check-not=bf16_product

// CHECK-LABEL: func.func @product(
// CHECK: linalg.contract {{.*}}weft.bf16_product{{.*}} tensor<4x4xi16>
// BUFFERS-LABEL: func.func @product(
// BUFFERS-NOT: linalg.contract
// BUFFERS: call @weft_rt_matmul_bf16(
// GPU-LABEL: func.func @product(
// GPU: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x4xi16>, tensor<4x4xi16>) outs(%{{.*}} : tensor<4x4xf32>) attrs = {weft.narrow_product}
// GPU: arith.extf %{{.*}} : bf16 to f32
// GPU: arith.mulf
// GPU: arith.addf
// GPU: linalg.generic
func.func @product(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  %0 = weft.matmul %x, %x : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// Those of f16 are computed in f32 on processors, and as those of bf16 on a GPU.
// CHECK-LABEL: func.func @half(
// CHECK-NOT: bf16_product
// CHECK: linalg.contract {{.*}}f32
// GPU-LABEL: func.func @half(
// GPU: weft.narrow_product
// GPU: arith.extf %{{.*}} : f16 to f32
func.func @half(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = weft.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// Two vectors of bf16 are multiplied in f32.
// CHECK-LABEL: func.func @vectors(
// CHECK-NOT: bf16_product
// CHECK: linalg.contract {{.*}}f32
func.func @vectors(%x: tensor<4xbf16>) -> tensor<bf16> {
  %0 = weft.matmul %x, %x : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}
