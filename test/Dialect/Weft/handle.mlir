// The op handle: its text, and what it says of a variable that is not there or of another type.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --cse | FileCheck %s --check-prefix=CSE

weft.variable @w : tensor<2x3xf32>
weft.variable @flag : tensor<i1>

// Two handles to one variable are the same value, one that nothing uses is none.
// CHECK-LABEL: func.func @handles
// CSE-LABEL: func.func @handles
func.func @handles() -> (!weft.var<tensor<2x3xf32>>, !weft.var<tensor<2x3xf32>>) {
  // CHECK: weft.handle @w : !weft.var<tensor<2x3xf32>>
  // CSE-NEXT: %[[W:.*]] = weft.handle @w
  %0 = weft.handle @w : !weft.var<tensor<2x3xf32>>
  // CHECK: weft.handle @w {note = "kept"} : !weft.var<tensor<2x3xf32>>
  %1 = weft.handle @w {note = "kept"} : !weft.var<tensor<2x3xf32>>
  // CHECK: weft.handle @w : !weft.var<tensor<2x3xf32>>
  %2 = weft.handle @w : !weft.var<tensor<2x3xf32>>
  // CHECK: weft.handle @flag : !weft.var<tensor<i1>>
  %3 = weft.handle @flag : !weft.var<tensor<i1>>
  // CSE-NEXT: return %[[W]], %[[W]]
  return %0, %2 : !weft.var<tensor<2x3xf32>>, !weft.var<tensor<2x3xf32>>
}

// -----

// A handle is to a variable of its module.
func.func @missing() {
  // expected-error @below {{'weft.handle' op no weft.variable @w in the module}}
  %0 = weft.handle @w : !weft.var<tensor<f32>>
  return
}

// -----

// A function is no variable.
func.func @other() {
  // expected-error @below {{'weft.handle' op no weft.variable @other in the module}}
  %0 = weft.handle @other : !weft.var<tensor<f32>>
  return
}

// -----

// The type of the handle is the variable's.
weft.variable @w : tensor<2xf32>
func.func @type() {
  // expected-error @below {{'weft.handle' op variable @w is of type 'tensor<2xf32>', but the handle of 'tensor<2xf64>'}}
  %0 = weft.handle @w : !weft.var<tensor<2xf64>>
  return
}

// -----

// A handle is of the type var.
weft.variable @w : tensor<2xf32>
func.func @no_var() {
  // expected-error @below {{'weft.handle' op result #0 must be handle to a variable, but got 'tensor<2xf32>'}}
  %0 = weft.handle @w : tensor<2xf32>
  return
}
