// Every structured op is a launch, with a thread per element of its result.
// RUN: weft-opt %s --weft-loops-to-gpu --split-input-file --verify-diagnostics | FileCheck %s

// Blocks of 256 threads; those beyond the last element do nothing. The last axis runs fastest.
// CHECK-LABEL: func @elementwise
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[COUNT:.*]], %[[SIZE:.*]] : index
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads({{.*}}) in (%{{.*}} = %[[SIZE]],
// CHECK-SAME: module(@elementwise_kernels) function(@elementwise_0)
// CHECK: %[[ELEMENT:.*]] = arith.addi
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ELEMENT]], %[[COUNT]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[J:.*]] = arith.remui %[[ELEMENT]]
// CHECK: %[[I:.*]] = arith.divui %[[ELEMENT]]
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: math.sqrt
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @elementwise(%x: memref<4x3xf32>, %y: memref<4x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x3xf32>) outs(%y : memref<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A reduction runs within a thread, in order, and stores once.
// CHECK-LABEL: func @reduction
// CHECK: gpu.launch
// CHECK: %[[START:.*]] = memref.load %{{.*}}[%[[I:.*]]]
// CHECK: %[[SUM:.*]] = scf.for %[[J:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: arith.addf %[[ACC]], %[[X]]
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[I]]]
func.func @reduction(%x: memref<4x3xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What needs the runtime library is refused, with its location in the program.
func.func private @weft_rt_print(!llvm.ptr, i64, memref<*xi64>, i64)
func.func @print(%p: !llvm.ptr, %n: i64, %v: memref<*xi64>) {
  // expected-error@below {{cannot run on a GPU yet: it needs weft_rt_print}}
  func.call @weft_rt_print(%p, %n, %v, %n) : (!llvm.ptr, i64, memref<*xi64>, i64) -> ()
  return
}
