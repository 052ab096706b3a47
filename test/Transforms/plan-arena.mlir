// Temporaries that live at the same time do not overlap; others share.
// RUN: weft-opt %s --weft-plan-arena --allow-unregistered-dialect --split-input-file | FileCheck %s

// The third starts when the first is done, and takes its memory; the second is in use meanwhile.
// CHECK-LABEL: func @share
// CHECK-SAME: weft.arena_bytes = 192 : i64
// CHECK: memref.alloc() {weft.arena_offset = 0 : i64}
// CHECK: memref.alloc() {weft.arena_offset = 128 : i64}
// CHECK: memref.alloc() {weft.arena_offset = 0 : i64}
func.func @share(%x: memref<32xf32>) {
  %a = memref.alloc() : memref<32xf32>
  memref.copy %x, %a : memref<32xf32> to memref<32xf32>
  %b = memref.alloc() : memref<3xf32>
  memref.copy %a, %x : memref<32xf32> to memref<32xf32>
  %c = memref.alloc() : memref<32xf32>
  memref.copy %x, %c : memref<32xf32> to memref<32xf32>
  memref.copy %c, %x : memref<32xf32> to memref<32xf32>
  "test.use"(%b) : (memref<3xf32>) -> ()
  return
}

// -----

// What is used in a loop lives until the loop ends, since the next iteration uses it again.
// CHECK-LABEL: func @loop
// CHECK: %[[A:.*]] = memref.alloc() {weft.arena_offset = 0 : i64}
// CHECK: scf.for
// CHECK: memref.alloc() {weft.arena_offset = 64 : i64}
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%a) : (memref<8xf32>) -> ()
    %b = memref.alloc() : memref<8xf32>
    "test.use"(%b) : (memref<8xf32>) -> ()
  }
  return
}

// -----

// What a loop hands to its next iteration must be new memory each time.
// CHECK-LABEL: func @carried
// CHECK: memref.alloc() {weft.arena_offset = 0 : i64}
// CHECK: scf.for
// CHECK: memref.alloc() : memref<8xf32>
func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> memref<8xf32> {
    %b = memref.alloc() : memref<8xf32>
    memref.copy %s, %b : memref<8xf32> to memref<8xf32>
    scf.yield %b : memref<8xf32>
  }
  "test.use"(%r) : (memref<8xf32>) -> ()
  return
}

// -----

// A buffer that leaves a branch lives as long as the result of the branch.
// CHECK-LABEL: func @branch
// CHECK: memref.alloc() {weft.arena_offset = 0 : i64}
// CHECK: memref.alloc() {weft.arena_offset = 64 : i64}
// CHECK: memref.alloc() {weft.arena_offset = 128 : i64}
func.func @branch(%c: i1) {
  %r = scf.if %c -> memref<8xf32> {
    %a = memref.alloc() : memref<8xf32>
    scf.yield %a : memref<8xf32>
  } else {
    %b = memref.alloc() : memref<8xf32>
    scf.yield %b : memref<8xf32>
  }
  %d = memref.alloc() : memref<8xf32>
  "test.use"(%r, %d) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// A temporary of unknown size is freed after its last use, in a view included. Outputs are not
// temporaries.
// CHECK-LABEL: func @unknown
// CHECK-NOT: weft.arena_bytes
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: "test.use"(%{{.*}}) : (memref<2xf32
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK: memref.alloc(%{{.*}}) {weft.output = 0 : i64}
// CHECK-NEXT: return
func.func @unknown(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %v = memref.subview %a[1] [2] [1] : memref<?xf32> to memref<2xf32, strided<[1], offset: 1>>
  "test.use"(%v) : (memref<2xf32, strided<[1], offset: 1>>) -> ()
  %o = memref.alloc(%n) {weft.output = 0 : i64} : memref<?xf32>
  return
}

// -----

// A temporary lives as long as its address is used: one address serves several calls.
// CHECK-LABEL: func @address
// CHECK: memref.alloc() {weft.arena_offset = 0 : i64}
// CHECK: memref.alloc() {weft.arena_offset = 64 : i64}
func.func @address() {
  %a = memref.alloc() : memref<i64>
  %index = memref.extract_aligned_pointer_as_index %a : memref<i64> -> index
  %word = arith.index_cast %index : index to i64
  %pointer = llvm.inttoptr %word : i64 to !llvm.ptr
  "test.use"(%pointer) : (!llvm.ptr) -> ()
  %b = memref.alloc() : memref<f32>
  "test.use"(%b) : (memref<f32>) -> ()
  "test.use"(%pointer) : (!llvm.ptr) -> ()
  return
}

// -----

// A buffer is in use for as long as a call may find its address in an array.
// CHECK-LABEL: func @address
// CHECK: call @print
// CHECK-NEXT: memref.dealloc
func.func private @print(memref<*xi64>)
func.func @address(%n: index, %array: memref<3xi64>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %pointer = memref.extract_aligned_pointer_as_index %a : memref<?xf32> -> index
  %number = arith.index_cast %pointer : index to i64
  memref.store %number, %array[%c0] : memref<3xi64>
  %cast = memref.cast %array : memref<3xi64> to memref<*xi64>
  call @print(%cast) : (memref<*xi64>) -> ()
  return
}

// -----

// What is to be moved if the next call throws lives until that call is over.
// CHECK-LABEL: func @told
// CHECK: call @weft_rt_on_stop
// CHECK-NEXT: arith.constant
// CHECK-NEXT: call @weft_rt_interrupt
// CHECK-NEXT: memref.dealloc
func.func private @weft_rt_on_stop(memref<*xi64>, i64) attributes {weft.context, weft.runtime}
func.func private @weft_rt_interrupt() attributes {weft.context, weft.runtime}
func.func @told(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %moves = memref.alloca() : memref<3xi64>
  %value = memref.alloc(%n) : memref<?xf32>
  %index = memref.extract_aligned_pointer_as_index %value : memref<?xf32> -> index
  %address = arith.index_cast %index : index to i64
  memref.store %address, %moves[%c0] : memref<3xi64>
  %any = memref.cast %moves : memref<3xi64> to memref<*xi64>
  call @weft_rt_on_stop(%any, %c1) : (memref<*xi64>, i64) -> ()
  %between = arith.constant 2 : i64
  call @weft_rt_interrupt() : () -> ()
  return
}
