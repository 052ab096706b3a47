// What the host does with a device is calls of the runtime; the rest is code of the processor.
// RUN: weft-opt %s --split-input-file --weft-gpu-launches | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-gpu-launches | weft-opt --split-input-file --weft-cut-functions --weft-entry --weft-to-llvm -o /dev/null

// A kernel takes a pointer for each buffer and what its type leaves open, and is called by its number, with all of it in a list of the host's.
// CHECK-LABEL: func private @launch
// CHECK-SAME: (%[[X:.*]]: memref<?x4xf32>, %[[Y:.*]]: memref<4x?xf32, strided<[?, 1], offset: ?>>, %[[S:.*]]: f32)
// CHECK: %[[LIST:.*]] = memref.alloca() : memref<13xi64>
// CHECK: memref.store %{{.*}}, %[[LIST]][%c0
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK: arith.extui %[[BITS]] : i32 to i64
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[Y]]
// CHECK: call @weft_rt_gpu_launch(%c1{{.*}}, %{{.*}}, %c6{{.*}})
// CHECK: gpu.func @second(%{{.*}}: f32, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) kernel
module attributes {gpu.container_module} {
  func.func private @launch(%x: memref<?x4xf32>, %y: memref<4x?xf32, strided<[?, 1], offset: ?>>, %s: f32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%s : f32, %x : memref<?x4xf32>, %y : memref<4x?xf32, strided<[?, 1], offset: ?>>)
    return
  }
  gpu.module @kernels {
    gpu.func @first() kernel {
      gpu.return
    }
    gpu.func @second(%s: f32, %x: memref<?x4xf32>, %y: memref<4x?xf32, strided<[?, 1], offset: ?>>) kernel {
      gpu.return
    }
  }
}

// -----

// An element that steers the host is read, and the host waits for it. What is on the stack is its own.
// CHECK-LABEL: func private @read
// CHECK: %[[PLACE:.*]] = memref.alloca() : memref<i32>
// CHECK: memref.subview
// CHECK: call @weft_rt_gpu_read
// CHECK: %[[ELEMENT:.*]] = memref.load %[[PLACE]][]
// CHECK: return %[[ELEMENT]]
func.func private @read(%x: memref<4xi32>, %i: index) -> i32 {
  %0 = memref.load %x[%i] : memref<4xi32>
  return %0 : i32
}

// CHECK-LABEL: func private @own
// CHECK-NOT: call
func.func private @own(%i: index) -> i64 {
  %list = memref.alloca() : memref<4xi64>
  %0 = memref.load %list[%i] : memref<4xi64>
  return %0 : i64
}

// -----

// Dense buffers are copied by the driver; constants get there once, but for elements that the host reads itself.
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
// CHECK-LABEL: func private @constant
// CHECK: %[[HOST:.*]] = memref.get_global @table
// CHECK: %[[DEVICE:.*]] = call @weft_rt_gpu_constant
// CHECK: memref.load %[[HOST]]
// CHECK: call @weft_rt_gpu_copy
func.func private @constant(%y: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.get_global @table : memref<4xf32>
  %1 = memref.load %0[%i] : memref<4xf32>
  memref.copy %0, %y : memref<4xf32> to memref<4xf32>
  return %1 : f32
}

// -----

// A routine of the library works on copies on the host, and what it writes is brought back. Checks of indices do so themselves.
// CHECK-LABEL: func private @routine
// CHECK: %[[IN:.*]] = call @weft_rt_gpu_to_host(%{{.*}}, %c8{{.*}}, %c1{{.*}}, %{{.*}}, %c1{{.*}})
// CHECK: %[[OUT:.*]] = call @weft_rt_gpu_to_host(%{{.*}}, %c8{{.*}}, %c1{{.*}}, %{{.*}}, %c0{{.*}})
// CHECK: call @weft_rt_fft_f64(%{{.*}}, %[[IN]], %[[OUT]]) {weft.writes = 1 : i64} : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK: call @weft_rt_gpu_to_device(%[[OUT]], {{.*}}%c1{{[^,]*}})
// CHECK: call @weft_rt_gpu_to_device(%[[IN]], {{.*}}%c0{{[^,]*}})
// CHECK: call @weft_rt_gpu_outside
func.func private @weft_rt_fft_f64(memref<*xi64>, memref<*xf64>, memref<*xf64>) attributes {weft.runtime}
func.func private @weft_rt_outside(i32, !llvm.ptr, i64, i64) -> i1 attributes {weft.runtime}
func.func private @routine(%x: memref<4xf64>, %y: memref<4xf64>, %p: !llvm.ptr, %d: i32, %n: i64) -> i1 {
  %list = memref.alloca() : memref<4xi64>
  %0 = memref.cast %list : memref<4xi64> to memref<*xi64>
  %1 = memref.cast %x : memref<4xf64> to memref<*xf64>
  %2 = memref.cast %y : memref<4xf64> to memref<*xf64>
  call @weft_rt_fft_f64(%0, %1, %2) {weft.writes = 1 : i64} : (memref<*xi64>, memref<*xf64>, memref<*xf64>) -> ()
  %3 = call @weft_rt_outside(%d, %p, %n, %n) : (i32, !llvm.ptr, i64, i64) -> i1
  return %3 : i1
}
