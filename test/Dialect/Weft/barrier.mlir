// The op barrier: its text, what it says of operands whose result is another type, and that nothing merges what is computed from
// its result with what is computed from its operand.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -canonicalize -cse | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: func.func @barrier
// CHECK: weft.barrier %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<i1>) -> tensor<2x?xf32>
func.func @barrier(%x: tensor<2x?xf32>, %after: tensor<i1>) -> tensor<2x?xf32> {
  %0 = weft.barrier %x, %after : (tensor<2x?xf32>, tensor<i1>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// KEPT-LABEL: func.func @again
// KEPT: weft.exp
// KEPT: weft.exp
func.func @again(%x: tensor<2xf32>, %after: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = weft.exp %x : tensor<2xf32>
  %1 = weft.barrier %x, %after : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %2 = weft.exp %1 : tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @other(%x: tensor<2xf32>, %after: tensor<3xi32>) {
  // expected-error @below {{'weft.barrier' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xi32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = weft.barrier %x, %after : (tensor<2xf32>, tensor<3xi32>) -> tensor<3xi32>
  return
}
