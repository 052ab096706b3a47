// Kernels that differ in nothing but their names are one.
// RUN: weft-opt %s --weft-merge-kernels | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: func @launches
  // CHECK: gpu.launch_func @kernels::@first
  // CHECK: gpu.launch_func @kernels::@first
  // CHECK: gpu.launch_func @kernels::@another
  // CHECK: gpu.launch_func @kernels::@wider
  func.func @launches(%x: memref<4xf32>, %y: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @kernels::@another blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @kernels::@wider blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<8xf32>)
    return
  }
  // CHECK: gpu.func @first
  // CHECK-NOT: @second
  // CHECK: gpu.func @another
  // CHECK: gpu.func @wider
  gpu.module @kernels {
    gpu.func @first(%x: memref<4xf32>) kernel {
      %i = gpu.block_id x
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%i] : memref<4xf32>
      gpu.return
    }
    gpu.func @second(%y: memref<4xf32>) kernel {
      %j = gpu.block_id x
      %1 = arith.constant 1.0 : f32
      memref.store %1, %y[%j] : memref<4xf32>
      gpu.return
    }
    // Another number is another kernel.
    gpu.func @another(%x: memref<4xf32>) kernel {
      %i = gpu.block_id x
      %0 = arith.constant 2.0 : f32
      memref.store %0, %x[%i] : memref<4xf32>
      gpu.return
    }
    // Another size too.
    gpu.func @wider(%x: memref<8xf32>) kernel {
      %i = gpu.block_id x
      %0 = arith.constant 1.0 : f32
      memref.store %0, %x[%i] : memref<8xf32>
      gpu.return
    }
  }
}
