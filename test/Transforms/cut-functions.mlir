// Long blocks become calls of parts; constants, offsets in the arena and views are created again in each.
// RUN: weft-opt %s --weft-cut-functions=max-ops=8 --split-input-file | FileCheck %s

// Four parts: what a part computes and another needs is a result; an offset in the arena is not, nor a
// view of an argument, nor a constant.
// CHECK-LABEL: func.func private @line_cut(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>) -> f32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[V:.*]] = memref.expand_shape %[[X]]
// CHECK:         %[[A:.*]] = memref.load %[[V]][%[[C0]], %[[C0]]]
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:    return %[[B]] : f32
// CHECK-LABEL: func.func private @line_cut_0(
// CHECK-SAME:    %[[B1:[^ ]*]]: f32) -> f32
// CHECK:         %[[T:.*]] = memref.alloc() {weft.arena_offset = 64 : i64}
// CHECK:         memref.store %[[B1]], %[[T]]
// CHECK-NEXT:    %[[M:.*]] = arith.mulf %[[B1]], %[[B1]]
// CHECK-NEXT:    return %[[M]] : f32
// CHECK-LABEL: func.func private @line_cut_1(
// CHECK-SAME:    %[[M2:[^ ]*]]: f32) -> f32
// CHECK:         %[[T2:.*]] = memref.alloc() {weft.arena_offset = 64 : i64}
// CHECK:         memref.load %[[T2]]
// CHECK-LABEL: func.func private @line_cut_2(
// CHECK:         memref.store
// CHECK-LABEL: func.func @line(
// CHECK-SAME:    %[[X:[^ ]*]]: memref<4xf32>, %[[Y:[^ ]*]]: memref<4xf32>)
// CHECK-NEXT:    %[[B:.*]] = call @line_cut(%[[X]])
// CHECK-NEXT:    %[[M:.*]] = call @line_cut_0(%[[B]])
// CHECK-NEXT:    %[[S:.*]] = call @line_cut_1(%[[M]])
// CHECK-NEXT:    call @line_cut_2(%[[S]], %[[Y]])
// CHECK-NEXT:    return
func.func @line(%x: memref<4xf32>, %y: memref<4xf32>) attributes {weft.arena_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %v = memref.expand_shape %x [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %t = memref.alloc() {weft.arena_offset = 64 : i64} : memref<1xf32>
  %a = memref.load %v[%c0, %c0] : memref<2x2xf32>
  %b = arith.addf %a, %a : f32
  memref.store %b, %t[%c0] : memref<1xf32>
  %m = arith.mulf %b, %b : f32
  %l = memref.load %t[%c0] : memref<1xf32>
  %s = arith.addf %l, %m : f32
  memref.store %s, %y[%c0] : memref<4xf32>
  return
}

// -----

// Memory of unknown size is allocated and freed in one part, however long.
// CHECK-LABEL: func.func private @owned_cut(
// CHECK:         memref.alloc
// CHECK:         memref.dealloc
// CHECK-LABEL: func.func private @owned_cut_0(
// CHECK-LABEL: func.func @owned(
// CHECK-NOT:     memref.alloc
func.func @owned(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %t = memref.alloc(%n) : memref<?xf32>
  %a = memref.load %x[%c0] : memref<4xf32>
  %b = arith.addf %a, %a : f32
  memref.store %b, %t[%c0] : memref<?xf32>
  %l = memref.load %t[%c0] : memref<?xf32>
  memref.store %l, %x[%c0] : memref<4xf32>
  memref.dealloc %t : memref<?xf32>
  %d = arith.addf %a, %l : f32
  memref.store %d, %x[%c0] : memref<4xf32>
  return
}

// -----

// Memory on the stack stays where the parts are called from.
// CHECK-LABEL: func.func private @stack_cut(
// CHECK-NOT:     memref.alloca
// CHECK-LABEL: func.func @stack(
// CHECK-NEXT:    %[[S:.*]] = memref.alloca() : memref<1xf32>
// CHECK-NEXT:    call @stack_cut(%{{.*}}, %[[S]])
// CHECK-NEXT:    call @stack_cut_0(%[[S]], %{{.*}})
func.func @stack(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xf32>
  %s = memref.alloca() : memref<1xf32>
  memref.store %a, %s[%c0] : memref<1xf32>
  %b = memref.load %s[%c0] : memref<1xf32>
  memref.store %b, %x[%c0] : memref<4xf32>
  %c = memref.load %s[%c0] : memref<1xf32>
  memref.store %c, %x[%c0] : memref<4xf32>
  return
}

// -----

// The body of a loop is cut as well, and its parts are given the loop's number.
// CHECK-LABEL: func.func private @looped_cut(
// CHECK-SAME:    %{{.*}}: memref<4xf32>, %{{.*}}: index)
// CHECK-LABEL: func.func @looped(
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK-NEXT:      call @looped_cut(%{{.*}}, %[[I]])
// CHECK-NEXT:      call
func.func @looped(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    memref.store %a, %x[%c0] : memref<4xf32>
    %b = memref.load %x[%i] : memref<4xf32>
    memref.store %b, %x[%c1] : memref<4xf32>
    %c = memref.load %x[%i] : memref<4xf32>
    memref.store %c, %x[%c0] : memref<4xf32>
    %d = memref.load %x[%i] : memref<4xf32>
    memref.store %d, %x[%c1] : memref<4xf32>
  }
  return
}

// -----

// What is short stays whole.
// CHECK-LABEL: func.func @short(
// CHECK-NOT:     call
func.func @short(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xf32>
  memref.store %a, %x[%c0] : memref<4xf32>
  return
}

// -----

// A descriptor of unknown rank is created where it is passed: no part hands one on.
// CHECK-LABEL: func.func private @runtime_cut(
// CHECK-SAME:    -> (memref<?xf32>, f32)
// CHECK-LABEL: func.func private @runtime_cut_0(
// CHECK-SAME:    %[[T:[^ ]*]]: memref<?xf32>)
// CHECK:         %[[U:.*]] = memref.cast %[[T]] : memref<?xf32> to memref<*xf32>
// CHECK-NEXT:    call @weft_rt_host_take(%[[U]])
// CHECK-LABEL: func.func private @runtime_cut_3(
// CHECK-SAME:    %[[T:[^ ]*]]: memref<?xf32>)
// CHECK:         %[[V:.*]] = memref.cast %[[T]] : memref<?xf32> to memref<*xf32>
// CHECK-NEXT:    call @weft_rt_host_take(%[[V]])
// CHECK-LABEL: func.func @runtime(
func.func private @weft_rt_host_take(memref<*xf32>)
func.func @runtime(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %t = memref.alloc(%n) : memref<?xf32>
  %u = memref.cast %t : memref<?xf32> to memref<*xf32>
  %a = arith.addf %x, %x : f32
  func.call @weft_rt_host_take(%u) : (memref<*xf32>) -> ()
  %b = arith.mulf %a, %a : f32
  %c = arith.addf %b, %x : f32
  memref.store %c, %t[%c0] : memref<?xf32>
  %d = arith.mulf %c, %c : f32
  memref.store %d, %t[%c0] : memref<?xf32>
  func.call @weft_rt_host_take(%u) : (memref<*xf32>) -> ()
  return
}
