// What may leave the call calls the runtime, told first which variables are elsewhere.
// RUN: weft-opt %s --weft-checks-to-runtime --split-input-file --verify-diagnostics | FileCheck %s

// Each is told the number of the op call, which the location has.
// CHECK: func.func private @weft_rt_shape_error(i64, !llvm.ptr, memref<*xi64>, i64) attributes {weft.context, weft.runtime}
// CHECK: llvm.mlir.global internal constant @[[TEXT:.*]]("matmul: the inner dimensions differ: {} meets {}\00")
// CHECK-LABEL: func @shape
// CHECK: %[[SIZES:.*]] = memref.alloca() : memref<2xi64>
// CHECK-COUNT-2: memref.store %{{.*}}, %[[SIZES]]
// CHECK: %[[SITE:.*]] = arith.constant 7 : i64
// CHECK: %[[P:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK: %[[COUNT:.*]] = arith.constant 2 : i64
// CHECK: call @weft_rt_shape_error(%[[SITE]], %[[P]], %{{.*}}, %[[COUNT]])
func.func @shape(%n: index, %m: index) {
  weft.leave shape "matmul: the inner dimensions differ: {} meets {}", %n, %m : index, index loc(fused<7>["train.cpp":41:3])
  return
}

// -----

// Those of other kinds are other errors.
// CHECK-LABEL: func @kinds
// CHECK: call @weft_rt_value_error(
// CHECK: call @weft_rt_bounds_error(
func.func @kinds(%n: index, %fits: i1) {
  weft.check_sizes %fits, "the size is {}", %n as value
  weft.leave bounds "5 is out of range for {}", %n : index
  return
}

// -----

// A size check that was added late becomes a branch as well, never a trap.
// CHECK-LABEL: func @late
// CHECK-SAME: (%[[FITS:.*]]: i1)
// CHECK: %[[BROKEN:.*]] = arith.xori %[[FITS]], %{{.*}}
// CHECK: scf.if %[[BROKEN]]
// CHECK: %[[SITE:.*]] = arith.constant 9 : i64
// CHECK: call @weft_rt_shape_error(%[[SITE]],
func.func @late(%fits: i1) {
  cf.assert %fits, "matmul: the inner dimensions differ" loc(fused<9>["train.cpp":43:3])
  return
}
// CHECK-LABEL: func @late_sizes
// CHECK: scf.if
// CHECK: call @weft_rt_shape_error(
func.func @late_sizes(%fits: i1, %n: index) {
  weft.check_sizes %fits, "the size is {}", %n
  return
}

// -----

// A value is described by {dtype | rank << 32, sizes, elements}: f32 is 3, so rank 1 gives 2^32 + 3.
// CHECK: llvm.mlir.global internal constant @[[TEXT:.*]]("x is {}\00")
// CHECK-LABEL: func @print
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>)
// CHECK-DAG: %[[DIMS:.*]] = memref.alloca() : memref<1xi64>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<3xi64>
// CHECK-DAG: %[[P:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK-DAG: arith.constant 4294967299 : i64
// CHECK: call @weft_rt_print(%[[P]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, memref<*xi64>, i64) -> ()
func.func @print(%x: memref<4xf32>) {
  weft.leave print "x is {}", %x : memref<4xf32>
  return
}

// -----

// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("c holds\00")
// CHECK-LABEL: func @assertion
// CHECK: %[[SITE:.*]] = arith.constant 12 : i64
// CHECK: call @weft_rt_assert_fail(%[[SITE]],
// CHECK-LABEL: func @index
// CHECK: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK: call @weft_rt_check_indices(%[[NONE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i64, !llvm.ptr, i32, !llvm.ptr, i64, i64)
func.func @assertion(%x: memref<f32>) {
  weft.leave assertion "c holds", %x : memref<f32> loc(fused<12>["train.cpp":58:3])
  return
}
func.func @index(%i: memref<5xi32>, %n: index) {
  weft.leave index "gather", %i, %n : memref<5xi32>, index
  return
}

// -----

// Only @a is not where it belongs: 16 bytes are to be moved to its buffer should the call not go on.
// CHECK-LABEL: func @moves
// CHECK-SAME: (%[[ELSEWHERE:.*]]: memref<4xf32>, %[[A:.*]]: memref<4xf32> {{.*}}, %[[B:.*]]: memref<4xf32> {{.*}})
// CHECK: %[[MOVES:.*]] = memref.alloca() : memref<3xi64>
// CHECK: memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: memref.store {{.*}}, %[[MOVES]]
// CHECK: memref.extract_aligned_pointer_as_index %[[ELSEWHERE]]
// CHECK: memref.store {{.*}}, %[[MOVES]]
// CHECK: arith.constant 16 : i64
// CHECK: memref.store {{.*}}, %[[MOVES]]
// CHECK: call @weft_rt_on_stop
// CHECK: call @weft_rt_shape_error
// CHECK: return
func.func @moves(%elsewhere: memref<4xf32>, %a: memref<4xf32> {weft.variable = @a}, %b: memref<4xf32> {weft.variable = @b}) {
  %c = memref.cast %b : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
  weft.leave shape "no" leaving [@a, @b] = %elsewhere, %c : memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

// Nothing to tell where all are in place.
// CHECK-LABEL: func @in_place
// CHECK-NOT: weft_rt_on_stop
// CHECK: return
func.func @in_place(%a: memref<4xf32> {weft.variable = @a}) {
  weft.leave shape "no" leaving [@a] = %a : memref<4xf32>
  return
}

// -----

func.func @lost(%a: memref<4xf32>) {
  // expected-error@below {{the function has no argument for @a}}
  weft.leave shape "no" leaving [@a] = %a : memref<4xf32>
  return
}

// -----

// A buffer whose size only a check told, behind the cast to the variable's.
// CHECK-LABEL: func @size_from_a_check
// CHECK: call @weft_rt_on_stop
func.func @size_from_a_check(%elsewhere: memref<?xf32>, %a: memref<4xf32> {weft.variable = @a}) {
  %c = memref.cast %elsewhere : memref<?xf32> to memref<4xf32>
  weft.leave shape "no" leaving [@a] = %c : memref<4xf32>
  return
}

// -----

// A look at the flag, and the call that takes the interrupt.
// CHECK-DAG: func.func private @weft_rt_interrupted() -> i1 attributes {weft.runtime}
// CHECK-DAG: func.func private @weft_rt_interrupt() attributes {weft.context, weft.runtime}
// CHECK-LABEL: func @interrupt
// CHECK: %[[REQUESTED:.*]] = call @weft_rt_interrupted() : () -> i1
// CHECK: scf.if %[[REQUESTED]] {
// CHECK-NEXT: func.call @weft_rt_interrupt()
func.func @interrupt() {
  %requested = weft.interrupted
  scf.if %requested {
    weft.leave interrupt ""
  }
  return
}

// -----

// A routine is told the op call's number before the array and the buffers, and before it what to move.
// CHECK: func.func private @weft_rt_cholesky_f32(i64, memref<*xi64>, memref<*xf32>, memref<*xf32>) attributes {weft.context, weft.runtime}
// CHECK-LABEL: func @routine
// CHECK: call @weft_rt_on_stop
// CHECK: %[[SITE:.*]] = arith.constant 7 : i64
// CHECK-NOT: call
// CHECK: call @weft_rt_cholesky_f32(%[[SITE]],
// CHECK-NEXT: return
// CHECK-LABEL: func @routine_in_place
// CHECK-NOT: weft_rt_on_stop
// CHECK: call @weft_rt_cholesky_f32
func.func @routine(%numbers: memref<10xi64>, %x: memref<3x3xf32>, %y: memref<3x3xf32>, %other: memref<4xf32>,
                   %w: memref<4xf32> {weft.variable = @w}) {
  weft.leave routine "cholesky_f32", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32> leaving [@w] = %other : memref<4xf32> loc(fused<7>["train.cpp":41:3])
  return
}
func.func @routine_in_place(%numbers: memref<10xi64>, %x: memref<3x3xf32>, %y: memref<3x3xf32>,
                            %w: memref<4xf32> {weft.variable = @w}) {
  weft.leave routine "cholesky_f32", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32> leaving [@w] = %w : memref<4xf32>
  return
}
