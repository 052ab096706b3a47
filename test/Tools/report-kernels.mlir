// weft-compile --report=kernels: what each kernel is launched with and needs.
// RUN: weft-compile %s --target=nvptx --report=kernels | FileCheck %s
// RUN: env WEFT_PTXAS=/bin/false not weft-compile %s --target=nvptx --report=kernels 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: env WEFT_PTXAS=/no/ptxas not weft-compile %s --target=nvptx --report=kernels 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %if ptxas %{ env WEFT_PTXAS=%ptxas weft-compile %s --target=nvptx --report=kernels -o %t.o | FileCheck %s --check-prefix=PTXAS %}
// RUN: %if ptxas %{ test -s %t.o %}
// RUN: not weft-compile %s --report=kernels 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not weft-compile %s --target=nvptx --report=kernels --compile-to=bufferize 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not weft-compile %s --target=nvptx --report=registers 2>&1 | FileCheck %s --check-prefix=WHICH

// CHECK: 3 kernels for sm_90a
// CHECK-NEXT:   sums_0: [[BLOCKS:[0-9]+]] blocks of {{[0-9]+}} threads{{.*}} ({{.*}}report-kernels.mlir:{{[0-9]+}})
// PTXAS: 3 kernels for sm_90a
// PTXAS-NEXT: sums_0: {{[0-9]+}} blocks of {{[0-9]+}} threads, {{.*}}{{[1-9][0-9]*}} registers ({{.*}}report-kernels.mlir:{{[0-9]+}})
// REFUSED: error: {{.*}}: it does not take the kernels for sm_90a:
// NONE: error: WEFT_PTXAS=/no/ptxas: there is no such program
// TARGET: error: --report=kernels needs --target=nvptx
// PHASE: error: --report=kernels needs the phase llvm, which is behind --compile-to=bufferize
// WHICH: error: --report=registers: there are copies, saved and kernels
func.func @sums(%x: tensor<64x1000xf32>, %n: tensor<?x3xf32>) -> (tensor<64xf32>, tensor<?x3xf32>, tensor<1000x64xf32>) {
  %0 = weft.sum %x {axes = array<i64: 1>} : (tensor<64x1000xf32>) -> tensor<64xf32>
  %1 = weft.tanh %n : tensor<?x3xf32>
  %2 = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x1000xf32>) -> tensor<1000x64xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<?x3xf32>, tensor<1000x64xf32>
}
