// The op assign_add: its text, that it is never dropped, and what it says of a value that the variable cannot take.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// An add is kept although nothing reads the variable, and two adds are two.
// CHECK-LABEL: func.func @effects
func.func @effects(%w: !weft.var<tensor<2x3xf32>>, %x: tensor<2x3xf32>, %n: !weft.var<tensor<0xi64>>, %none: tensor<0xi64>) {
  // CHECK: weft.assign_add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weft.assign_add %w, %x : tensor<2x3xf32>
  // CHECK: weft.assign_add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  weft.assign_add %w, %x : tensor<2x3xf32>
  // CHECK: weft.assign_add %{{.*}}, %{{.*}} {note = "kept"} : tensor<0xi64>
  weft.assign_add %n, %none {note = "kept"} : tensor<0xi64>
  return
}

// -----

// Nothing broadcasts into a variable.
func.func @shape(%w: !weft.var<tensor<2xf32>>, %x: tensor<1xf32>) {
  // expected-error @below {{'weft.assign_add' op failed to verify that the value is of the variable's type}}
  "weft.assign_add"(%w, %x) : (!weft.var<tensor<2xf32>>, tensor<1xf32>) -> ()
  return
}

// -----

// A value of another dtype needs a cast.
func.func @dtype(%w: !weft.var<tensor<2xf32>>, %x: tensor<2xf64>) {
  // expected-error @below {{'weft.assign_add' op failed to verify that the value is of the variable's type}}
  "weft.assign_add"(%w, %x) : (!weft.var<tensor<2xf32>>, tensor<2xf64>) -> ()
  return
}

// -----

// In the text one type stands for both.
func.func @text(%w: !weft.var<tensor<2xf32>>, %x: tensor<3xf32>) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%w' expects different type than prior uses: '!weft.var<tensor<3xf32>>' vs '!weft.var<tensor<2xf32>>'}}
  weft.assign_add %w, %x : tensor<3xf32>
  return
}

// -----

// Bools have no sum.
func.func @bool(%w: !weft.var<tensor<2xi1>>, %x: tensor<2xi1>) {
  // expected-error @below {{'weft.assign_add' op value must be a number, but it is bool(2,)}}
  weft.assign_add %w, %x : tensor<2xi1>
  return
}
