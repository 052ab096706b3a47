// The op logical_not: its text, its types, and what it says of operands it does not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result has the type of the operand, so one type says both; unknown sizes stay unknown.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xi1>, %none: tensor<0x3xi1>, %scalar: tensor<i1>) {
  // CHECK: weft.logical_not %{{.*}} : tensor<2x?xi1>
  %0 = weft.logical_not %x : tensor<2x?xi1>
  // Without elements, and without axes.
  // CHECK: weft.logical_not %{{.*}} : tensor<0x3xi1>
  %1 = weft.logical_not %none : tensor<0x3xi1>
  // CHECK: weft.logical_not %{{.*}} : tensor<i1>
  %2 = weft.logical_not %scalar : tensor<i1>
  return
}

// -----

// Numbers are compared with 0 first, which says what is meant by true.
func.func @dtype(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.logical_not' op x must be bool (bool), but it is f32(2,)}}
  %0 = weft.logical_not %x : tensor<2xf32>
  return
}

// -----

// The generic form can claim another result, which the operand contradicts.
func.func @result(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.logical_not' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  // expected-error @below {{'weft.logical_not' op failed to infer returned types}}
  %0 = "weft.logical_not"(%x) : (tensor<2xi1>) -> tensor<3xi1>
  return
}
