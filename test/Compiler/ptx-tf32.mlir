// Products of f32 in a module with weft.tf32: on tensor cores, of numbers that are rounded to tf32 where they are read. Without it, on chips that
// have none, and where rows are no multiple of 16 bytes, they are what they were. ptxas keeps all of it in registers.
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: weft-compile %s --target=nvptx --chip=sm_90a --compile-to=ptx | FileCheck %s
// RUN: weft-compile %s --target=nvptx --chip=sm_75 --compile-to=ptx | FileCheck %s --check-prefix=OLD
// RUN: sed 's/module attributes {weft.tf32}/module/' %s | weft-compile - --target=nvptx --chip=sm_80 --compile-to=ptx | FileCheck %s --check-prefix=OLD
// RUN: %if ptxas %{ %ptxas -v -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS %}
// RUN: sed 's/module attributes {weft.tf32}/module attributes {weft.tf32 = 1}/' %s | not weft-opt 2>&1 | FileCheck %s --check-prefix=WRONG

// OLD-NOT: tf32
// OLD: fma.rn.f32
// OLD-NOT: tf32
// SPILLS-COUNT-3: 0 bytes spill stores, 0 bytes spill loads
// WRONG: 'weft.tf32'
module attributes {weft.tf32} {
// CHECK-LABEL: .entry plain_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: cvt.rna.tf32.f32
// CHECK-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @plain(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = weft.matmul %a, %b : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// CHECK-LABEL: .entry convolved_0(
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @convolved(%x: tensor<16x32x32x64xf32>, %k: tensor<3x3x64x128xf32>) -> tensor<16x30x30x128xf32> {
  %0 = weft.convolution %x, %k {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<16x32x32x64xf32>, tensor<3x3x64x128xf32>) -> tensor<16x30x30x128xf32>
  return %0 : tensor<16x30x30x128xf32>
}

// CHECK-LABEL: .entry unaligned_0(
// CHECK-NOT: tf32
// CHECK: fma.rn.f32
func.func @unaligned(%a: tensor<512x510xf32>, %b: tensor<510x511xf32>) -> tensor<512x511xf32> {
  %0 = weft.matmul %a, %b : (tensor<512x510xf32>, tensor<510x511xf32>) -> tensor<512x511xf32>
  return %0 : tensor<512x511xf32>
}
}
