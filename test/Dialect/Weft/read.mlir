// The op read: its text, what order and use make of it, and what it says of another type than the variable's.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --cse | FileCheck %s --check-prefix=CSE

// The handle's type follows from the value's.
// CHECK-LABEL: func.func @reads
func.func @reads(%w: !weft.var<tensor<2x0xf32>>, %flag: !weft.var<tensor<i1>>) -> (tensor<2x0xf32>, tensor<i1>) {
  // CHECK: weft.read %{{.*}} : tensor<2x0xf32>
  %0 = weft.read %w : tensor<2x0xf32>
  // CHECK: weft.read %{{.*}} {note = "kept"} : tensor<i1>
  %1 = weft.read %flag {note = "kept"} : tensor<i1>
  return %0, %1 : tensor<2x0xf32>, tensor<i1>
}

// -----

// Two reads with no write between them are one, and one that nothing uses is none.
// CSE-LABEL: func.func @twice
func.func @twice(%w: !weft.var<tensor<f32>>) -> (tensor<f32>, tensor<f32>) {
  // CSE-NEXT: %[[W:.*]] = weft.read
  %0 = weft.read %w : tensor<f32>
  %1 = weft.read %w : tensor<f32>
  %2 = weft.read %w : tensor<f32>
  // CSE-NEXT: return %[[W]], %[[W]]
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

// A write between two reads makes them two.
// CSE-LABEL: func.func @written
func.func @written(%w: !weft.var<tensor<f32>>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CSE: %[[OLD:.*]] = weft.read
  %0 = weft.read %w : tensor<f32>
  weft.assign %w, %x : tensor<f32>
  // CSE: %[[NEW:.*]] = weft.read
  %1 = weft.read %w : tensor<f32>
  // CSE: return %[[OLD]], %[[NEW]]
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

// A tensor has no present value, it is one.
func.func @tensor(%x: tensor<f32>) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%x' expects different type than prior uses: '!weft.var<tensor<f32>>' vs 'tensor<f32>'}}
  %0 = weft.read %x : tensor<f32>
  return
}

// -----

// The value has the variable's type.
func.func @type(%w: !weft.var<tensor<2xf32>>) {
  // expected-error @below {{'weft.read' op failed to verify that the result is the variable's value}}
  %0 = "weft.read"(%w) : (!weft.var<tensor<2xf32>>) -> tensor<3xf32>
  return
}
