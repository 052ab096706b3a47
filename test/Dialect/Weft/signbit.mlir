// The op signbit: its text, its result, and what it says of an operand it does not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @text
// CHECK-SAME: -> tensor<2x?xi1>
func.func @text(%x: tensor<2x?xf32>) -> tensor<2x?xi1> {
  // CHECK: weft.signbit %{{.*}} : tensor<2x?xf32>
  %0 = weft.signbit %x : tensor<2x?xf32>
  return %0 : tensor<2x?xi1>
}

// -----

func.func @bools(%x: tensor<2xi1>) {
  // expected-error @+1 {{'weft.signbit' op x must be a real number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64), but it is bool(2,)}}
  %0 = weft.signbit %x : tensor<2xi1>
  return
}
