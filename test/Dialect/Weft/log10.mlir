// The op log10: its text, its types, and what it says of operands it does not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result has the type of the operand, so one type says both; unknown sizes stay unknown.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0x3xf64>, %scalar: tensor<f32>) {
  // CHECK: weft.log10 %{{.*}} : tensor<2x?xf32>
  %0 = weft.log10 %x : tensor<2x?xf32>
  // Without elements, and without axes.
  // CHECK: weft.log10 %{{.*}} : tensor<0x3xf64>
  %1 = weft.log10 %none : tensor<0x3xf64>
  // CHECK: weft.log10 %{{.*}} : tensor<f32>
  %2 = weft.log10 %scalar : tensor<f32>
  return
}

// -----

// An integer operand is cast by the C++ call; in the text the cast is written.
func.func @dtype(%x: tensor<2xi32>) {
  // expected-error @below {{'weft.log10' op x must be floating or complex (f16, bf16, f32, f64, c64, c128), but it is i32(2,)}}
  %0 = weft.log10 %x : tensor<2xi32>
  return
}

// -----

// The generic form can claim another result, which the operand contradicts.
func.func @result(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.log10' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{'weft.log10' op failed to infer returned types}}
  %0 = "weft.log10"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
