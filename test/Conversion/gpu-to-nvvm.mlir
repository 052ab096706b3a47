// Kernels need no libdevice: what is left of math is an instruction.
// RUN: weft-opt %s --pass-pipeline='builtin.module(gpu.module(weft-gpu-to-nvvm))' | FileCheck %s --implicit-check-not=__nv_

// CHECK-LABEL: llvm.func @kernel
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.intr.sqrt
// CHECK: llvm.intr.fabs
// CHECK: llvm.intr.floor
// CHECK: llvm.intr.copysign
// CHECK: llvm.intr.fma
gpu.module @kernels {
  gpu.func @kernel(%x: memref<?xf32>) kernel {
    %i = gpu.block_id x
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = math.sqrt %0 : f32
    %2 = math.absf %1 : f32
    %3 = math.floor %2 : f32
    %4 = math.copysign %3, %0 : f32
    %5 = math.fma %4, %4, %0 : f32
    memref.store %5, %x[%i] : memref<?xf32>
    gpu.return
  }
}
