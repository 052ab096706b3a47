// Calls of what one kernel computes become an op where it has a kernel for their types; others are left to be inlined.
// RUN: weft-opt %s --weft-calls-to-kernels | FileCheck %s
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=simplify | FileCheck %s --check-prefix=GPU
// RUN: weft-compile %s --target=nvptx --chip=sm_75 --compile-to=simplify | FileCheck %s --check-prefix=NONE --implicit-check-not=weft.attention
// RUN: weft-compile %s --compile-to=simplify | FileCheck %s --check-prefix=NONE --implicit-check-not=weft.attention
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=linalg | FileCheck %s --check-prefix=LINALG
// RUN: weft-compile %s --target=nvptx --chip=sm_80 --compile-to=bufferize | FileCheck %s --check-prefix=BUFFERS

// CHECK-LABEL: func.func @one
// CHECK: %[[Y:.*]] = tensor.empty() : tensor<2x4x32xbf16>
// CHECK: %[[L:.*]] = tensor.empty() : tensor<2x4x1xf32>
// CHECK: %[[BOTH:.*]]:2 = weft.attention %{{.*}}, %{{.*}}, %{{.*}} into %[[Y]], %[[L]] {causal = "bottom_right", format = bf16, queries = 4 : i64, scale = 5.000000e-01 : f64}
// CHECK: return %[[BOTH]]#0
// GPU-LABEL: func.func @one
// GPU: weft.attention
// NONE-LABEL: func.func @one
// NONE: weft.matmul
// LINALG-LABEL: func.func @one
// LINALG: weft.attention {{.*}}format = bf16{{.*}} : (tensor<2x4x32xi16>,
// BUFFERS-LABEL: func.func @one
// BUFFERS: weft.attention {{.*}}format = bf16{{.*}} : (memref<2x4x32xi16>,
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @one(%q: tensor<2x4x32xbf16>, %k: tensor<2x7x32xbf16>) -> tensor<2x4x32xbf16> {
  %0:2 = call @narrow(%q, %k, %k) : (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>) -> (tensor<2x4x32xbf16>, tensor<2x4x1xf32>)
  return %0#0 : tensor<2x4x32xbf16>
}

// CHECK-LABEL: func.func @gradients
// CHECK: %[[BY:.*]]:3 = weft.attention_gradients %[[Q:[^,]*]], %[[K:[^,]*]], %[[K]] mask %{{.*}} by %{{.*}}, %{{.*}}, %[[Q]] into %{{.*}}, %{{.*}}, %{{.*}} {causal = "no", format = bf16, queries = 4 : i64, scale = 5.000000e-01 : f64}
// CHECK: return %[[BY]]#0, %[[BY]]#1, %[[BY]]#2
// GPU-LABEL: func.func @gradients
// GPU: weft.attention_gradients
// NONE-LABEL: func.func @gradients
// LINALG-LABEL: func.func @gradients
// LINALG: weft.attention_gradients {{.*}}format = bf16{{.*}} : (tensor<2x4x32xi16>,
// BUFFERS-LABEL: func.func @gradients
// BUFFERS: weft.attention_gradients {{.*}}format = bf16{{.*}} : (memref<2x4x32xi16>,
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @gradients(%q: tensor<2x4x32xbf16>, %k: tensor<2x7x32xbf16>, %l: tensor<2x4x1xf32>, %m: tensor<4x7xi1>) -> (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>) {
  %0:3 = call @backward(%q, %k, %k, %l, %l, %q, %m) : (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>, tensor<2x4x1xf32>, tensor<2x4x1xf32>, tensor<2x4x32xbf16>, tensor<4x7xi1>) -> (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>)
  return %0#0, %0#1, %0#2 : tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>
}

// Of 8 numbers of depth, of f32, and with a scale that is not above 0 there is no kernel.
// CHECK-LABEL: func.func @others
// CHECK: call @short
// CHECK: call @wide
// CHECK: call @upside_down
func.func @others(%q: tensor<2x4x8xbf16>, %x: tensor<2x4x32xf32>, %z: tensor<2x4x32xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4x32xf32>, tensor<2x4x32xbf16>) {
  %0:2 = call @short(%q, %q, %q) : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4x1xf32>)
  %1:2 = call @wide(%x, %x, %x) : (tensor<2x4x32xf32>, tensor<2x4x32xf32>, tensor<2x4x32xf32>) -> (tensor<2x4x32xf32>, tensor<2x4x1xf32>)
  %2:2 = call @upside_down(%z, %z, %z) : (tensor<2x4x32xbf16>, tensor<2x4x32xbf16>, tensor<2x4x32xbf16>) -> (tensor<2x4x32xbf16>, tensor<2x4x1xf32>)
  return %0#0, %1#0, %2#0 : tensor<2x4x8xbf16>, tensor<2x4x32xf32>, tensor<2x4x32xbf16>
}

// What stands here for the body: any.
func.func private @narrow(%q: tensor<2x4x32xbf16>, %k: tensor<2x7x32xbf16>, %v: tensor<2x7x32xbf16>) -> (tensor<2x4x32xbf16>, tensor<2x4x1xf32>)
    attributes {weft.one_kernel = {causal = "bottom_right", op = "attention", queries = 4 : i64, scale = 0.5 : f64}} {
  %0 = weft.matmul %q, %k {transpose_rhs = true} : (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>) -> tensor<2x4x7xbf16>
  %1 = weft.matmul %0, %v : (tensor<2x4x7xbf16>, tensor<2x7x32xbf16>) -> tensor<2x4x32xbf16>
  %2 = weft.cast %0 to f32 : tensor<2x4x7xbf16>
  %3 = weft.sum %2 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x7xf32>) -> tensor<2x4x1xf32>
  return %1, %3 : tensor<2x4x32xbf16>, tensor<2x4x1xf32>
}
func.func private @backward(%q: tensor<2x4x32xbf16>, %k: tensor<2x7x32xbf16>, %v: tensor<2x7x32xbf16>, %l: tensor<2x4x1xf32>, %a: tensor<2x4x1xf32>, %dy: tensor<2x4x32xbf16>, %m: tensor<4x7xi1>) -> (tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>)
    attributes {weft.one_kernel = {causal = "no", op = "attention_gradients", queries = 4 : i64, scale = 0.5 : f64}} {
  return %q, %k, %v : tensor<2x4x32xbf16>, tensor<2x7x32xbf16>, tensor<2x7x32xbf16>
}
func.func private @short(%q: tensor<2x4x8xbf16>, %k: tensor<2x4x8xbf16>, %v: tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4x1xf32>)
    attributes {weft.one_kernel = {causal = "no", op = "attention", queries = 4 : i64, scale = 0.5 : f64}} {
  %0 = weft.cast %k to f32 : tensor<2x4x8xbf16>
  %1 = weft.sum %0 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  return %q, %1 : tensor<2x4x8xbf16>, tensor<2x4x1xf32>
}
func.func private @wide(%q: tensor<2x4x32xf32>, %k: tensor<2x4x32xf32>, %v: tensor<2x4x32xf32>) -> (tensor<2x4x32xf32>, tensor<2x4x1xf32>)
    attributes {weft.one_kernel = {causal = "no", op = "attention", queries = 4 : i64, scale = 0.5 : f64}} {
  %0 = weft.sum %k {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x32xf32>) -> tensor<2x4x1xf32>
  return %q, %0 : tensor<2x4x32xf32>, tensor<2x4x1xf32>
}
func.func private @upside_down(%q: tensor<2x4x32xbf16>, %k: tensor<2x4x32xbf16>, %v: tensor<2x4x32xbf16>) -> (tensor<2x4x32xbf16>, tensor<2x4x1xf32>)
    attributes {weft.one_kernel = {causal = "no", op = "attention", queries = 4 : i64, scale = -0.5 : f64}} {
  %0 = weft.cast %k to f32 : tensor<2x4x32xbf16>
  %1 = weft.sum %0 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x32xf32>) -> tensor<2x4x1xf32>
  return %q, %1 : tensor<2x4x32xbf16>, tensor<2x4x1xf32>
}
