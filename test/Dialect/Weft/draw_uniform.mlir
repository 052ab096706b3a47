// The op draw_uniform: its text, and what it says of a state that is none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @types
func.func @types(%s: tensor<2xi64>, %x: tensor<3x?xi1>) {
  // CHECK: weft.draw_uniform %{{.*}}, %{{.*}} {dtype = f32} : (tensor<2xi64>, tensor<3x?xi1>) -> tensor<3x?xf32>
  %0 = weft.draw_uniform %s, %x {dtype = f32} : (tensor<2xi64>, tensor<3x?xi1>) -> tensor<3x?xf32>
  // CHECK: weft.draw_uniform %{{.*}}, %{{.*}} {dtype = i1} : (tensor<2xi64>, tensor<3x?xi1>) -> tensor<3x?xi1>
  %1 = weft.draw_uniform %s, %x {dtype = i1} : (tensor<2xi64>, tensor<3x?xi1>) -> tensor<3x?xi1>
  return
}

// -----

// One number is no state.
func.func @scalar(%s: tensor<i64>, %x: tensor<3xi1>) {
  // expected-error @below {{'weft.draw_uniform' op state must be a seed and the number of a stream, of shape (2,), but has ()}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_uniform %s, %x {dtype = f32} : (tensor<i64>, tensor<3xi1>) -> tensor<3xf32>
  return
}

// -----

// The words of the state have 64 bits.
func.func @dtype(%s: tensor<2xi32>, %x: tensor<3xi1>) {
  // expected-error @below {{'weft.draw_uniform' op state must be an integer of 64 bits (i64), but it is i32(2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_uniform %s, %x {dtype = f32} : (tensor<2xi32>, tensor<3xi1>) -> tensor<3xf32>
  return
}

// -----

// The size is checked before memory is asked for.
func.func @too_large(%s: tensor<2xi64>, %x: tensor<4611686018427387904xi1>) {
  // expected-error @below {{'weft.draw_uniform' op a tensor of shape (4611686018427387904,) has more bytes than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_uniform %s, %x {dtype = f32} : (tensor<2xi64>, tensor<4611686018427387904xi1>) -> tensor<4611686018427387904xf32>
  return
}
