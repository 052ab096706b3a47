// The op print: its text, that no print is dropped or moved, and what it says of a text that does not fit its values.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// Values of any dtype and shape, or none; the same line twice is two lines.
// CHECK-LABEL: func.func @lines
func.func @lines(%x: tensor<2x?xf32>, %p: tensor<i1>) {
  // CHECK: weft.print "x is {} and p {}", %{{.*}}, %{{.*}} : tensor<2x?xf32>, tensor<i1>
  weft.print "x is {} and p {}", %x, %p : tensor<2x?xf32>, tensor<i1>
  // CHECK: weft.print "done"{{$}}
  weft.print "done"
  // CHECK: weft.print "done" {note = "kept"}
  weft.print "done" {note = "kept"}
  // CHECK: weft.print ""{{$}}
  weft.print ""
  return
}

// -----

// Each {} takes a value.
func.func @too_few(%x: tensor<f32>) {
  // expected-error @below {{'weft.print' op the format has 2 {} for 1 values}}
  weft.print "{} and {}", %x : tensor<f32>
  return
}

// -----

// Each value takes a {}.
func.func @too_many(%x: tensor<f32>) {
  // expected-error @below {{'weft.print' op the format has 0 {} for 1 values}}
  weft.print "x", %x : tensor<f32>
  return
}

// -----

// There is no tensor of the library with these elements.
func.func @no_dtype(%x: tensor<f80>) {
  // expected-error @below {{'weft.print' op operand #0 must be variadic of ranked tensor of a dtype, but got 'tensor<f80>'}}
  weft.print "{}", %x : tensor<f80>
  return
}
