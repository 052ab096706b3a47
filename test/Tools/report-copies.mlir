// What compiled code still copies and allocates, why, and which variables it updates in place.
// RUN: rm -rf %t && split-file %s %t
// RUN: weft-compile %t/in-place.mlir --report=copies --error-on-copy | FileCheck %t/in-place.mlir
// RUN: weft-compile %t/reasons.mlir --report=copies | FileCheck %t/reasons.mlir
// RUN: weft-compile %t/unknown.mlir --report=copies | FileCheck %t/unknown.mlir
// RUN: weft-compile %t/checked.mlir --report=copies | FileCheck %t/checked.mlir

// The report needs no more than buffers; the program is written only where -o says.
// RUN: weft-compile %t/in-place.mlir --report=copies -o %t/out.mlir --compile-to=bufferize | FileCheck %t/in-place.mlir
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/out.mlir
// PROGRAM: func.func @step
// RUN: weft-compile %t/out.mlir --compile-from=bufferize --report=copies | FileCheck %t/in-place.mlir

// RUN: not weft-compile %t/reasons.mlir --error-on-copy -o %t/none.o 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not ls %t/none.o
// ERROR: error: CompileError: unchanged copies 16 B: result 0 is the value of argument 0 (reasons.mlir:{{[0-9]+}})
// RUN: not weft-compile %t/in-place.mlir --report=time 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --report=time: there are copies, saved and kernels
// RUN: not weft-compile %t/in-place.mlir --report=copies --compile-to=linalg 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: --report=copies and --error-on-copy need the phase bufferize between --compile-from and --compile-to

//--- in-place.mlir
weft.variable @w : tensor<4xf32>
weft.variable @n : tensor<i32>

// CHECK: step: 0 copies, 0 allocations, 1 output; 2 of 2 variables updated in place; {{no temporaries|temporaries in one block of .*}}
// CHECK-NEXT: {{^}}  output   4 B  result 0{{$}}
// CHECK-NEXT: {{^}}  update  16 B  @w        in place{{$}}
// CHECK-NEXT: {{^}}  update   4 B  @n        in place{{$}}
// CHECK-NOT: {{.}}
func.func @step(%g: tensor<4xf32>) -> tensor<f32> {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %n = weft.handle @n : !weft.var<tensor<i32>>
  %one = weft.constant dense<1> : tensor<i32>
  %w0 = weft.read %w : tensor<4xf32>
  %w1 = weft.subtract %w0, %g : tensor<4xf32>
  weft.assign %w, %w1 : tensor<4xf32>
  weft.assign_add %n, %one : tensor<i32>
  %s = weft.sum %g {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

//--- reasons.mlir
weft.variable @w : tensor<4xf32>
weft.variable @v : tensor<4xf32>

// CHECK: unchanged: 1 copy, 0 allocations, 1 output; no temporaries
// CHECK-NEXT: output  16 B  result 0
// CHECK-NEXT: copy    16 B  result 0  result 0 is the value of argument 0
func.func @unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK: constant: 1 copy,
// CHECK: copy    16 B  result 0  result 0 is the value of a constant
func.func @constant() -> tensor<4xf32> {
  %c = weft.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK: stored_and_returned: 1 copy,
// CHECK: update  16 B  @w        not in place: @w is given the value of result 0  reasons.mlir:[[#@LINE+6]]
// CHECK: copy    16 B  @w        @w is given the value of result 0                reasons.mlir:[[#@LINE+5]]
func.func @stored_and_returned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %w0 = weft.read %w : tensor<4xf32>
  %w1 = weft.add %w0, %x : tensor<4xf32>
  weft.assign %w, %w1 : tensor<4xf32>
  return %w1 : tensor<4xf32>
}

// CHECK: other_variable: 1 copy,
// CHECK: update  16 B  @v  not in place: @v is given the value of @w  reasons.mlir:[[#@LINE+6]]
// CHECK: copy    16 B  @v  @v is given the value of @w                reasons.mlir:[[#@LINE+5]]
func.func @other_variable() {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %v = weft.handle @v : !weft.var<tensor<4xf32>>
  %w0 = weft.read %w : tensor<4xf32>
  weft.assign %v, %w0 : tensor<4xf32>
  return
}

// CHECK: an_input: 1 copy,
// CHECK: copy    16 B  @w  @w is given the value of argument 0  reasons.mlir:[[#@LINE+3]]
func.func @an_input(%x: tensor<4xf32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  weft.assign %w, %x : tensor<4xf32>
  return
}

// CHECK: old_value_read: 1 copy,
// CHECK: update  16 B  @w        not in place: linalg.generic (reasons.mlir:[[#@LINE+6]]) needs its whole old value to compute the new one  reasons.mlir:[[#@LINE+7]]
// CHECK: copy    16 B  @w        linalg.generic (reasons.mlir:[[#@LINE+5]]) needs its whole old value to compute the new one                reasons.mlir:[[#@LINE+6]]
func.func @old_value_read(%i: tensor<4xi32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %w0 = weft.read %w : tensor<4xf32>
  // Elements come from other positions.
  %w1 = weft.gather %w0, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  weft.assign %w, %w1 : tensor<4xf32>
  return
}

// CHECK: refused: 1 copy,
// CHECK: update  16 B  @w        not in place: its old value is still needed by linalg.generic (reasons.mlir:[[#@LINE+7]]) after the new one is computed
func.func @refused(%x: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %w0 = weft.read %w : tensor<4xf32>
  %w1 = weft.exp %w0 : tensor<4xf32>
  weft.assign %w, %w1 : tensor<4xf32>
  %m = weft.max %w1 {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %p = weft.multiply %w0, %m : tensor<4xf32>, tensor<f32>
  return %p : tensor<4xf32>
}

//--- unknown.mlir
// CHECK: unknown: 0 copies, 1 allocation, 1 output;
// CHECK-NEXT: output                           4 B  result 0
// CHECK-NEXT: allocation  4 * argument 0.size(0) B  linalg.generic (unknown.mlir:{{[0-9]+}})  its size is known only when it runs
func.func @unknown(%x: tensor<?xf32>) -> tensor<f32> {
  %e = weft.exp %x : tensor<?xf32>
  %m = weft.max %e {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %d = weft.subtract %e, %m : tensor<?xf32>, tensor<f32>
  %s = weft.sum %d {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

//--- checked.mlir
weft.variable @w : tensor<4xf32>
weft.variable @v : tensor<4xf32>

// The new value is computed before the assert, which leaves the old one if it fails.
// CHECK: assert_between: 1 copy,
// CHECK: update  16 B  @w  not in place: the call may end before, at checked.mlir:[[#@LINE+8]], and its old value must be there then  checked.mlir:[[#@LINE+9]]
func.func @assert_between(%x: tensor<4xf32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %w0 = weft.read %w : tensor<4xf32>
  %w1 = weft.add %w0, %x : tensor<4xf32>
  %c = weft.greater %w1, %zero : tensor<4xf32>, tensor<f32>
  %w2 = weft.exp %w1 : tensor<4xf32>
  weft.assert %c, "positive", %w2 : tensor<4xi1>, tensor<4xf32>
  weft.assign %w, %w2 : tensor<4xf32>
  return
}

// CHECK: assert_before_and_after: 0 copies,
// CHECK: update  16 B  @w  in place
func.func @assert_before_and_after(%x: tensor<4xf32>, %c: tensor<i1>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  weft.assert %c, "before" : tensor<i1>
  %w0 = weft.read %w : tensor<4xf32>
  %w1 = weft.add %w0, %x : tensor<4xf32>
  weft.assign %w, %w1 : tensor<4xf32>
  weft.assert %c, "after", %w1 : tensor<i1>, tensor<4xf32>
  return
}

// Two variables that trade their values: one has to be set aside.
// CHECK: trade: 3 copies,
// CHECK: copy    16 B  memref.copy  @v is set aside until @w is free
// CHECK: copy    16 B  @v           @v is given the value of @w
// CHECK: copy    16 B  @w           its old value is still needed by memref.copy
func.func @trade() {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %v = weft.handle @v : !weft.var<tensor<4xf32>>
  %w0 = weft.read %w : tensor<4xf32>
  %v0 = weft.read %v : tensor<4xf32>
  weft.assign %w, %v0 : tensor<4xf32>
  weft.assign %v, %w0 : tensor<4xf32>
  return
}

// A loop works in the variable's buffer, also one in another.
// CHECK: nested_loops: 0 copies,
// CHECK: update  16 B  @w  in place
func.func @nested_loops(%x: tensor<4xf32>) {
  %w = weft.handle @w : !weft.var<tensor<4xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    scf.for %j = %c0 to %c9 step %c1 {
      %w0 = weft.read %w : tensor<4xf32>
      %w1 = weft.add %w0, %x : tensor<4xf32>
      weft.assign %w, %w1 : tensor<4xf32>
    }
  }
  return
}
