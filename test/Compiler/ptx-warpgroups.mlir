// Large products of bf16 and f16 by warpgroups, for sm_90a alone: matrices in shared memory, copied beside the program, in the layout that
// descriptors call a swizzle of 128 bytes; no part waits for the products of the one before. ptxas keeps sums where they are: nothing is
// serialized or spilled.
// RUN: weft-compile %s --target=nvptx --chip=sm_90a --compile-to=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: weft-compile %s --target=nvptx --chip=sm_90 --compile-to=ptx | FileCheck %s --check-prefix=OTHERS
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=ptx | FileCheck %s --check-prefix=OTHERS
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS --implicit-check-not=serializ %}
// RUN: weft-compile %s --target=nvptx --chip=sm_90a --report=kernels -o %t.o | FileCheck %s --check-prefix=REPORT

// OTHERS-NOT: wgmma
// SPILLS-COUNT-5: 0 bytes spill stores, 0 bytes spill loads
// REPORT: plain_0: 128 blocks of 256 threads, 197632 bytes of shared memory
// REPORT: transposed_0: 128 blocks of 256 threads, 197632 bytes of shared memory
// REPORT: narrow_0: 128 blocks of 256 threads, 132096 bytes of shared memory
// REPORT: few_0: 64 blocks
// REPORT: unaligned_0: 128 blocks of 256 threads, 49152 bytes of shared memory

// Rows of the right factor are across the sum.
// CHECK-LABEL: .entry plain_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: cp.async.wait_group 1;
// CHECK-NEXT: fence.proxy.async.shared::cta;
// CHECK-NEXT: bar.sync 0;
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, adds, 1, 1, 0, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK-NOT: mov.
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: mma.sync
func.func @plain(%a: tensor<2048x1024xbf16>, %b: tensor<1024x2048xbf16>) -> tensor<2048x2048xbf16> {
  %0 = weft.matmul %a, %b : (tensor<2048x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<2048x2048xbf16>
  return %0 : tensor<2048x2048xbf16>
}

// CHECK-LABEL: .entry transposed_0(
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, adds, 1, 1, 1, 0;
func.func @transposed(%a: tensor<1000x2048xbf16>, %b: tensor<2048x1000xbf16>) -> tensor<2048x2048xbf16> {
  %0 = weft.matmul %a, %b {transpose_lhs = true, transpose_rhs = true} : (tensor<1000x2048xbf16>, tensor<2048x1000xbf16>) -> tensor<2048x2048xbf16>
  return %0 : tensor<2048x2048xbf16>
}

// Of fewer columns tiles are narrower.
// CHECK-LABEL: .entry narrow_0(
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, adds, 1, 1, 0, 0;
func.func @narrow(%a: tensor<2048x512xf16>, %b: tensor<1024x512xf16>) -> tensor<2048x1024xf16> {
  %0 = weft.matmul %a, %b {transpose_rhs = true} : (tensor<2048x512xf16>, tensor<1024x512xf16>) -> tensor<2048x1024xf16>
  %1 = weft.tanh %0 : tensor<2048x1024xf16>
  return %1 : tensor<2048x1024xf16>
}

// Where there are few tiles, and where rows are no multiple of 16 bytes, warps multiply fragments.
// CHECK-LABEL: .entry few_0(
// CHECK-NOT: wgmma
// CHECK: mma.sync
func.func @few(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = weft.matmul %a, %b : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// CHECK-LABEL: .entry unaligned_0(
// CHECK-NOT: wgmma
// CHECK: mma.sync
func.func @unaligned(%a: tensor<2048x100xbf16>, %b: tensor<100x2044xbf16>) -> tensor<2048x2044xbf16> {
  %0 = weft.matmul %a, %b : (tensor<2048x100xbf16>, tensor<100x2044xbf16>) -> tensor<2048x2044xbf16>
  return %0 : tensor<2048x2044xbf16>
}
