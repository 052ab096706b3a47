// Each loop and library call on buffers stands between two calls of the runtime, for profiles.
// RUN: weft-opt %s --weft-note-times --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The text of the first has the numbers of the op calls that the loop does.
// CHECK: llvm.mlir.global {{.*}}("7 8\00")
// CHECK-LABEL: func @fused
// CHECK: call @weft_rt_note_begin(%{{.*}}, %{{.*}}) : ({{.*}}, i64) -> ()
// CHECK-NEXT: linalg.generic
// CHECK: call @weft_rt_note_end() : () -> ()
// CHECK-NEXT: return
func.func @fused(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32 loc(fused<7>["f.cpp":1:1])
    %1 = math.tanh %0 : f32 loc(fused<8>["f.cpp":2:1])
    linalg.yield %1 : f32
  }
  return
}

// -----

// Of control flow what is inside is noted, not the whole; memory and errors are nobody's work.
// CHECK-LABEL: func @branch
// CHECK-NEXT: scf.if
// CHECK: weft_rt_note_begin
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: call @weft_rt_note_end
// CHECK: call @weft_rt_free
// CHECK-NEXT: return
func.func private @weft_rt_free(i64) attributes {weft.context, weft.runtime}
func.func @branch(%c: i1, %v: f32, %x: memref<4xf32>, %m: i64) {
  scf.if %c {
    linalg.fill ins(%v : f32) outs(%x : memref<4xf32>)
  }
  call @weft_rt_free(%m) : (i64) -> ()
  return
}

// -----

// A loop of scalars is noted as one, and one over blocks of rows too, whatever is inside.
// CHECK-LABEL: func @loops
// CHECK: call @weft_rt_note_begin
// CHECK-NEXT: scf.for
// CHECK-NOT: weft_rt
// CHECK: memref.store
// CHECK: call @weft_rt_note_end
// CHECK: call @weft_rt_note_begin
// CHECK-NEXT: scf.for
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: }
// CHECK-NEXT: call @weft_rt_note_end
func.func @loops(%n: index, %v: f32, %x: memref<?xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  scf.for %i = %0 to %n step %1 {
    memref.store %v, %x[%i] : memref<?xf32>
  }
  scf.for %i = %0 to %n step %1 {
    linalg.fill ins(%v : f32) outs(%x : memref<?xf32>)
  } {weft.rows}
  return
}
