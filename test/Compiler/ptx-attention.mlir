// Attention as one kernel: queries in shared memory, keys and values copied beside the program, products of fragments, and exponentials by
// the unit for them; for chips with tensor cores. Gradients are one kernel as well, without atomics. ptxas keeps it in registers, but for up to
// 29 bytes of spills, which are to go.
// RUN: weft-compile %s --target=nvptx --chip=sm_90a --compile-to=ptx -o %t.90.ptx
// RUN: FileCheck %s --implicit-check-not=__nv_ < %t.90.ptx
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=ptx -o %t.80.ptx
// RUN: FileCheck %s < %t.80.ptx
// RUN: %if ptxas %{ %ptxas -v -arch=sm_90a %t.90.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS %}
// RUN: %if ptxas %{ %ptxas -v -arch=sm_80 %t.80.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SPILLS %}
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --report=kernels -o %t.o | FileCheck %s --check-prefix=REPORT

// CHECK-LABEL: .entry long_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK: cp.async.commit_group;
// CHECK-DAG: cp.async.wait_group 0;
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-DAG: shfl.sync.bfly
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: cvt.rn.bf16x2.f32
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: st.global.v4
// CHECK-LABEL: .entry halves_0(
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-DAG: cvt.rn.f16x2.f32
// CHECK-LABEL: .entry gradients_0(
// CHECK: cp.async.cg.shared.global {{.*}}, 16;
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: atom
// CHECK: st.global.v4
// CHECK-LABEL: .entry half_gradients_0(
// CHECK-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SPILLS-COUNT-4: {{ [012]?[0-9]}} bytes spill stores, {{[012]?[0-9]}} bytes spill loads
// REPORT: long_0: 4096 blocks of 128 threads, 98304 bytes of shared memory
// REPORT: halves_0: 64 blocks of 128 threads, 49664 bytes of shared memory
// REPORT: gradients_0: 256 blocks of 128 threads, 99328 bytes of shared memory
// REPORT: half_gradients_0: 128 blocks of 128 threads, 49664 bytes of shared memory
func.func @long(%q: tensor<128x4096x128xbf16>, %k: tensor<128x4096x128xbf16>, %v: tensor<128x4096x128xbf16>) -> tensor<128x4096x128xbf16> {
  %0 = tensor.empty() : tensor<128x4096x128xbf16>
  %1 = tensor.empty() : tensor<128x4096x1xf32>
  %2:2 = weft.attention %q, %k, %v into %0, %1 {causal = "no", format = bf16, queries = 4096 : i64, scale = 0.08838834764831845 : f64}
      : (tensor<128x4096x128xbf16>, tensor<128x4096x128xbf16>, tensor<128x4096x128xbf16>, tensor<128x4096x128xbf16>, tensor<128x4096x1xf32>) -> (tensor<128x4096x128xbf16>, tensor<128x4096x1xf32>)
  return %2#0 : tensor<128x4096x128xbf16>
}

func.func @halves(%q: tensor<8x1024x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>) -> tensor<8x1024x64xf16> {
  %0 = tensor.empty() : tensor<8x1024x64xf16>
  %1 = tensor.empty() : tensor<8x1024x1xf32>
  %2:2 = weft.attention %q, %k, %v into %0, %1 {causal = "top_left", format = f16, queries = 1024 : i64, scale = 0.125 : f64}
      : (tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x1xf32>) -> (tensor<8x1024x64xf16>, tensor<8x1024x1xf32>)
  return %2#0 : tensor<8x1024x64xf16>
}

func.func @gradients(%q: tensor<8x1024x128xbf16>, %k: tensor<8x1024x128xbf16>, %v: tensor<8x1024x128xbf16>, %l: tensor<8x1024x1xf32>, %a: tensor<8x1024x1xf32>, %dy: tensor<8x1024x128xbf16>) -> (tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>) {
  %0 = tensor.empty() : tensor<8x1024x128xbf16>
  %1:3 = weft.attention_gradients %q, %k, %v by %l, %a, %dy into %0, %0, %0 {causal = "no", format = bf16, queries = 1024 : i64, scale = 0.125 : f64}
      : (tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x1xf32>, tensor<8x1024x1xf32>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>) -> (tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>)
  return %1#0, %1#1, %1#2 : tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>
}

func.func @half_gradients(%q: tensor<8x1024x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>, %l: tensor<8x1024x1xf32>, %a: tensor<8x1024x1xf32>, %dy: tensor<8x1024x64xf16>) -> (tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>) {
  %0 = tensor.empty() : tensor<8x1024x64xf16>
  %1:3 = weft.attention_gradients %q, %k, %v by %l, %a, %dy into %0, %0, %0 {causal = "top_left", format = f16, queries = 1024 : i64, scale = 0.125 : f64}
      : (tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x1xf32>, tensor<8x1024x1xf32>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>) -> (tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>)
  return %1#0, %1#1, %1#2 : tensor<8x1024x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>
}
