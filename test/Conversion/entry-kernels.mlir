// RUN: weft-opt %s -split-input-file -weft-entry=kernels | FileCheck %s

// A kernel is told its sizes and strides by number, and finds its output behind its arguments.
// CHECK-LABEL: llvm.func internal @rows(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK:         %[[PITCH:.*]] = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         %[[STRIDE:.*]] = llvm.load %[[PITCH]] : !llvm.ptr -> i64
// CHECK:         llvm.insertvalue %[[STRIDE]], %{{.*}}[4, 0]
// CHECK:         %[[OUTPUTS:.*]] = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         llvm.load %[[OUTPUTS]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.return
func.func @rows(%x: memref<?x?xf32, strided<[?, 1]>> {weft.dims = array<i64: 0, 1>, weft.strides = array<i64: 2>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %y = memref.alloc(%n) {weft.output = 0 : i64} : memref<?xf32>
  %0 = memref.load %x[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>>
  memref.store %0, %y[%c0] : memref<?xf32>
  return
}

// -----

// It allocates nothing: who calls it brings memory for what it computes on the way, behind the outputs.
// CHECK-LABEL: llvm.func internal @temporary(
// CHECK-DAG:     llvm.getelementptr %arg0[8]
// CHECK-DAG:     llvm.getelementptr %arg0[16]
// CHECK-NOT:     weft_rt
// CHECK-NOT:     memref.{{alloc|dealloc}}
func.func @temporary(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  %y = memref.alloc(%n) {weft.output = 0 : i64} : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  memref.copy %t, %y : memref<?xf32> to memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
