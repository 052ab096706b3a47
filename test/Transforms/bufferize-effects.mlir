// Prints, asserts and checks of indices become calls on their operands' buffers.
// RUN: weft-opt %s --one-shot-bufferize=bufferize-function-boundaries --split-input-file | FileCheck %s

// A value is described by {dtype | rank << 32, sizes, elements}: f32 is 3, so rank 1 gives 2^32 + 3.
// CHECK: llvm.mlir.global internal constant @[[TEXT:.*]]("x is {}\00")
// CHECK-LABEL: func @print
// CHECK-SAME: (%[[X:.*]]: memref<4xf32
// CHECK-DAG: %[[DIMS:.*]] = memref.alloca() : memref<1xi64>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<3xi64>
// CHECK-DAG: %[[P:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK-DAG: arith.constant 4294967299 : i64
// CHECK: call @weft_rt_print(%[[P]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, memref<*xi64>, i64) -> ()
func.func @print(%x: tensor<4xf32>) {
  weft.print "x is {}", %x : tensor<4xf32>
  return
}

// -----

// The failing branch alone pays for an assert.
// CHECK-LABEL: func @assert
// CHECK: %[[HOLDS:.*]] = memref.load %{{.*}}[] : memref<i1
// CHECK: %[[BROKEN:.*]] = arith.xori %[[HOLDS]]
// CHECK: scf.if %[[BROKEN]]
// CHECK: call @weft_rt_assert_fail
func.func @assert(%c: tensor<i1>) {
  weft.assert %c, "c holds" : tensor<i1>
  return
}

// -----

// i64 is dtype 2.
// CHECK-LABEL: func @indices
// CHECK: %[[DTYPE:.*]] = arith.constant 2 : i32
// CHECK: call @weft_rt_check_indices(%{{.*}}, %[[DTYPE]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, !llvm.ptr, i64, i64)
func.func @indices(%i: tensor<5xi64>, %n: index) {
  weft.check_indices %i below %n for "gather" : tensor<5xi64>
  return
}

// -----

// The print shows x as it was: what is computed after it must not write to x's buffer before.
// CHECK-LABEL: func @order
// CHECK: call @weft_rt_print
// CHECK: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  weft.print "{}", %x : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %1 = math.exp %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
