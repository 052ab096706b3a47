// RUN: weft-opt %s -split-input-file -weft-entry | FileCheck %s

// An entry finds its buffers and its unknown sizes in the two arrays it is given.
// CHECK-LABEL: llvm.func @f_weft_entry(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG:     llvm.load %arg0 : !llvm.ptr -> !llvm.ptr
// CHECK-DAG:     llvm.load %arg1 : !llvm.ptr -> i64
// CHECK:         llvm.return %{{.*}} : i32
func.func @f(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<?xf32>
  memref.store %0, %x[%c0] : memref<?xf32>
  return
}

// -----

// Allocations: an offset in the arena, an output, a call of the runtime that is freed again.
// CHECK-LABEL: llvm.func @memory_weft_entry
// CHECK:         %[[ARENA:.*]] = llvm.load %arg2 : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.getelementptr %[[ARENA]][128]
// CHECK:         llvm.call @weft_rt_output(%arg2
// CHECK:         %[[T:.*]] = llvm.call @weft_rt_alloc(%arg2
// CHECK:         llvm.call @weft_rt_free(%arg2, %[[T]])
// CHECK-NOT:     memref.{{alloc|dealloc}}
func.func @memory(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc() {weft.arena_offset = 128 : i64} : memref<4xf32>
  %y = memref.alloc(%n) {weft.output = 0 : i64} : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  memref.copy %t, %y : memref<?xf32> to memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// An offset behind the first 256 MiB: a constant index of llvm.getelementptr would wrap around.
// CHECK-LABEL: llvm.func @far_weft_entry
// CHECK-DAG:     %[[FAR:.*]] = llvm.mlir.constant(268435456 : i64) : i64
// CHECK-DAG:     llvm.getelementptr %{{.*}}[268435392] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-DAG:     llvm.getelementptr %{{.*}}[%[[FAR]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
func.func @far(%x: memref<4xf32>) {
  %a = memref.alloc() {weft.arena_offset = 268435392 : i64} : memref<4xf32>
  %b = memref.alloc() {weft.arena_offset = 268435456 : i64} : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  return
}

// -----

// The library's functions take pointers, bytes for bools, and the context where they are marked so.
// CHECK:       llvm.func @weft_rt_note(!llvm.ptr, !llvm.ptr, i64, i8)
// CHECK-LABEL: llvm.func @calls_weft_entry
// CHECK:         llvm.call @weft_rt_note(%arg2, {{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i8) -> ()
func.func private @weft_rt_note(memref<4xf32>, index, i1) attributes {weft.runtime, weft.context}
func.func @calls(%x: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  %true = arith.constant true
  call @weft_rt_note(%x, %c4, %true) : (memref<4xf32>, index, i1) -> ()
  return
}

// -----

// A parameter of unknown rank is a pointer too, and nothing is left of the descriptor it would be.
// CHECK-LABEL: llvm.func @any_rank_weft_entry
// CHECK-NOT:     memref.cast
// CHECK:         llvm.call @weft_rt_any(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
func.func private @weft_rt_any(memref<*xf32>, memref<*xf32>) attributes {weft.runtime}
func.func @any_rank(%x: memref<4xf32>) {
  %any = memref.cast %x : memref<4xf32> to memref<*xf32>
  call @weft_rt_any(%any, %any) : (memref<*xf32>, memref<*xf32>) -> ()
  return
}

// -----

// A call whose range threads share passes what it uses in a closure.
// CHECK-LABEL: llvm.func internal @part(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-LABEL: llvm.func @shared_weft_entry
// CHECK:         %[[CLOSURE:.*]] = llvm.alloca
// CHECK:         %[[BODY:.*]] = llvm.mlir.addressof @part
// CHECK:         llvm.call @weft_rt_parallel_for({{.*}}, %[[BODY]], %[[CLOSURE]])
func.func private @part(%begin: index, %end: index, %grain: index, %x: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    memref.store %one, %x[%i] : memref<64xf32>
  }
  return
}
func.func @shared(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  call @part(%c0, %c64, %c8, %x) {weft.parallel} : (index, index, index, memref<64xf32>) -> ()
  return
}

// -----

// A look for interrupts reads a byte that others write, and is no call.
// CHECK-DAG: llvm.mlir.global external @weft_rt_interrupt_flag() {{.*}}: i8
// CHECK-LABEL: llvm.func @polled_weft_entry
// CHECK: %[[FLAG:.*]] = llvm.mlir.addressof @weft_rt_interrupt_flag
// CHECK-NEXT: %[[BYTE:.*]] = llvm.load volatile %[[FLAG]]
// CHECK: llvm.icmp "ne" %[[BYTE]]
// CHECK-NOT: call @weft_rt_interrupted
func.func private @weft_rt_interrupted() -> i1 attributes {weft.runtime}
func.func private @weft_rt_interrupt() attributes {weft.context, weft.runtime}
func.func @polled(%x: memref<64xf32>) {
  %requested = call @weft_rt_interrupted() : () -> i1
  scf.if %requested {
    func.call @weft_rt_interrupt() : () -> ()
  }
  return
}
