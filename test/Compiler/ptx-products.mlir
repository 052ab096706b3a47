// Products of large matrices as PTX: what tensor cores multiply, and f32, is copied to shared memory beside the program, in memory that launches
// give, as a kernel may declare 48 KB at most. ptxas keeps all of it in registers.
// RUN: weft-compile %s --target=nvptx --chip=sm_90 --compile-to=ptx -o %t.90.ptx
// RUN: FileCheck %s < %t.90.ptx
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=ptx -o %t.80.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,AMPERE < %t.80.ptx
// RUN: weft-compile %s --target=nvptx --chip=sm_75 --compile-to=ptx -o %t.75.ptx
// RUN: FileCheck %s --check-prefix=OLD --implicit-check-not=cp.async --implicit-check-not=mma.sync < %t.75.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90 %t.90.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS %}
// RUN: %if ptxas %{ %ptxas -v -arch=sm_80 %t.80.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS %}
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --report=kernels -o %t.o | FileCheck %s --check-prefix=REPORT

// CHECK: .extern .shared .align {{[0-9]+}} .b8 [[SHARED:[a-z_0-9]+]][];
// CHECK-LABEL: .entry narrow_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: cp.async.commit_group;
// CHECK: cp.async.wait_group 2;
// CHECK-NEXT: bar.sync
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-LABEL: .entry doubles_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: cp.async.wait_group 1;
// CHECK-NEXT: bar.sync
// AMPERE: mma.sync.aligned.m8n8k4.row.col.f64
// CHECK-LABEL: .entry floats_0(
// CHECK: .minnctapersm 2
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: ld.shared.v2.b32
// CHECK: ld.shared.v4.b32
// CHECK: fma.rn.f32
// CHECK-LABEL: .entry transposed_floats_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// OLD-LABEL: .entry narrow_0(
// OLD: fma.rn.f32
// OLD-LABEL: .entry doubles_0(
// OLD: fma.rn.f64
// SPILLS-COUNT-7: 0 bytes spill stores, 0 bytes spill loads
// REPORT: narrow_0: 512 blocks of 256 threads, 98304 bytes of shared memory
// REPORT: doubles_0: 1024 blocks of 256 threads, 98304 bytes of shared memory
func.func @narrow(%x: tensor<4096x4096xbf16>, %y: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = weft.matmul %x, %y : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}

func.func @transposed(%x: tensor<4096x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = weft.matmul %x, %y {transpose_lhs = true, transpose_rhs = true} : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}

func.func @doubles(%x: tensor<4096x4096xf64>, %y: tensor<4096x4096xf64>) -> tensor<4096x4096xf64> {
  %0 = weft.matmul %x, %y : (tensor<4096x4096xf64>, tensor<4096x4096xf64>) -> tensor<4096x4096xf64>
  return %0 : tensor<4096x4096xf64>
}

func.func @floats(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = weft.matmul %x, %y : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

func.func @transposed_floats(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = weft.matmul %x, %y {transpose_rhs = true} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

func.func @odd_doubles(%x: tensor<4095x4097xf64>, %y: tensor<4097x4099xf64>) -> tensor<4095x4099xf64> {
  %0 = weft.matmul %x, %y : (tensor<4095x4097xf64>, tensor<4097x4099xf64>) -> tensor<4095x4099xf64>
  return %0 : tensor<4095x4099xf64>
}

func.func @odd_narrow(%x: tensor<4095x4097xbf16>, %y: tensor<4097x4099xbf16>) -> tensor<4095x4099xbf16> {
  %0 = weft.matmul %x, %y : (tensor<4095x4097xbf16>, tensor<4097x4099xbf16>) -> tensor<4095x4099xbf16>
  return %0 : tensor<4095x4099xbf16>
}

func.func @convolution(%x: tensor<32x56x56x256xbf16>, %k: tensor<3x3x256x256xbf16>) -> tensor<32x56x56x256xbf16> {
  %0 = weft.convolution %x, %k {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<32x56x56x256xbf16>, tensor<3x3x256x256xbf16>) -> tensor<32x56x56x256xbf16>
  return %0 : tensor<32x56x56x256xbf16>
}
