// The op abs: its text, its types, and what it says of operands it does not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result has the type of the operand, so one type says both; unknown sizes stay unknown.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0x3xf64>, %scalar: tensor<i32>) {
  // CHECK: weft.abs %{{.*}} : tensor<2x?xf32>
  %0 = weft.abs %x : tensor<2x?xf32>
  // Without elements, and without axes.
  // CHECK: weft.abs %{{.*}} : tensor<0x3xf64>
  %1 = weft.abs %none : tensor<0x3xf64>
  // CHECK: weft.abs %{{.*}} : tensor<i32>
  %2 = weft.abs %scalar : tensor<i32>
  return
}

// -----

// Of bools there is no arithmetic: a program casts them first.
func.func @dtype(%x: tensor<2xi1>) {
  // expected-error @below {{'weft.abs' op x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool(2,)}}
  %0 = weft.abs %x : tensor<2xi1>
  return
}

// -----

// The generic form can claim another result, which the operand contradicts.
func.func @result(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.abs' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{'weft.abs' op failed to infer returned types}}
  %0 = "weft.abs"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
