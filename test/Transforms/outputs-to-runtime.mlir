// Results of unknown size are allocated by the runtime, numbered among themselves.
// RUN: weft-opt %s --weft-outputs-to-runtime --split-input-file --verify-diagnostics | FileCheck %s

// The first result is stored already. The second is the buffer that the function made; the third,
// an argument, is copied.
// CHECK-LABEL: func @outputs(
// CHECK-NOT: ->
// CHECK: memref.alloc(%{{.*}}) {weft.output = 0 : i64}
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}) {weft.output = 1 : i64}
// CHECK: memref.copy %{{.*}}, %[[COPY]]
// CHECK: return{{$}}
func.func @outputs(%n: index, %x: memref<?xf32>, %out: memref<4xf32> {weft.output = 0 : i64})
    -> (memref<4xf32>, memref<?xf32>, memref<?xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  return %out, %a, %x : memref<4xf32>, memref<?xf32>, memref<?xf32>
}

// -----

// expected-error@below {{result 0 is stored nowhere: run weft-bind-results first}}
func.func @unbound(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

// expected-error@below {{result 0 is no tensor: only tensors can be returned}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}
