// What bufferization could not put where it belongs is copied there.
// RUN: weft-opt %s --weft-materialize-destinations --split-input-file --verify-diagnostics | FileCheck %s

// Results of unknown size are allocated by the runtime, numbered among themselves. The first result
// is stored already. The second is the buffer that the function allocated; the third,
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

// expected-error@below {{result 0 has no place: run weft-destination-passing first}}
func.func @unbound(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

// expected-error@below {{result 0 is no tensor: only tensors can be returned}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

// Variables that are swapped are set aside before either is overwritten. Both are marked as updated.
// CHECK-LABEL: func @swap
// CHECK-SAME: (%[[A:.*]]: memref<4xf32> {weft.updated, weft.variable = @a}, %[[B:.*]]: memref<4xf32> {weft.updated, weft.variable = @b}
// CHECK: memref.copy %[[B]], %[[B2:[^ ]*]] {weft.reason = "values trade places and are set aside first"} :
// CHECK: memref.copy %[[A]], %[[A2:[^ ]*]] {weft.reason = "values trade places and are set aside first"} :
// CHECK: memref.copy %[[B2]], %[[A]]
// CHECK: memref.copy %[[A2]], %[[B]]
func.func @swap(%a: memref<4xf32> {weft.variable = @a}, %b: memref<4xf32> {weft.variable = @b})
    -> (memref<4xf32> {weft.variable = @a}, memref<4xf32> {weft.variable = @b}) {
  return %b, %a : memref<4xf32>, memref<4xf32>
}

// -----

// The state of a loop stays in one buffer; what an iteration computed elsewhere is copied there.
// CHECK-LABEL: func @loop
// CHECK-SAME: %[[X:[^ ]*]]: memref<4xf32>
// CHECK: %[[STATE:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[X]], %[[STATE]] {weft.reason = "the loop changes it from iteration to iteration"}
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[STATE]], %[[NEXT]]
// CHECK: memref.copy %[[NEXT]], %[[STATE]] {weft.reason = "the next iteration of the loop starts from it"}
// CHECK: memref.copy %[[STATE]], %{{.*}}
func.func @loop(%n: index, %x: memref<4xf32>, %out: memref<4xf32> {weft.output = 0 : i64}) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> memref<4xf32> {
    %next = memref.alloc() : memref<4xf32>
    memref.copy %s, %next : memref<4xf32> to memref<4xf32>
    scf.yield %next : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A cast may know more of the sizes as well, which calls want.
// CHECK-LABEL: func @known_rows
// CHECK: %[[ROWS:.*]] = memref.alloc
// CHECK: %[[KNOWN:.*]] = memref.cast %[[ROWS]] : memref<?x?xf32> to memref<4x?xf32>
// CHECK: call @rows(%[[KNOWN]])
func.func private @rows(memref<4x?xf32>)
func.func @known_rows(%x: memref<?x?xf32>, %n: index, %m: index) {
  %view = memref.subview %x[0, 0] [%n, %m] [2, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %cast = memref.cast %view : memref<?x?xf32, strided<[?, 1]>> to memref<4x?xf32>
  call @rows(%cast) : (memref<4x?xf32>) -> ()
  return
}

// -----

// Bufferization takes views of unknown strides for row-major memory where functions meet: a copy reads
// the view as it is, and who needs the elements in a row gets them so.
// CHECK-LABEL: func @strided
// CHECK-SAME: %[[X:[^ ]*]]: memref<?x?xf32>
// CHECK: %[[VIEW:.*]] = memref.subview %[[X]]
// CHECK: %[[ROW:.*]] = memref.alloc
// CHECK: memref.copy %[[VIEW]], %[[ROW]] {weft.reason = "the elements of a view are needed one behind the other"}
// CHECK: call @other(%[[ROW]])
// CHECK: %[[OUT:.*]] = memref.alloc
// CHECK: memref.copy %[[VIEW]], %[[OUT]]
// CHECK-NOT: memref.cast
func.func private @other(memref<?x?xf32>)
func.func @strided(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %view = memref.subview %x[0, 0] [%n, %m] [2, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %cast = memref.cast %view : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  call @other(%cast) : (memref<?x?xf32>) -> ()
  return %cast : memref<?x?xf32>
}

// -----

// What is made two functions of keeps its results until then.
// expected-error @below {{'func.func' op has a 'weft.split', by which weft-split-derivative makes two functions of it before}}
func.func @split(%x: memref<?xf32>) -> memref<?xf32> attributes {weft.split = {inputs = 1 : i64, results = 1 : i64}} {
  return %x : memref<?xf32>
}
