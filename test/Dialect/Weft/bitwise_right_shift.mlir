// The op bitwise_right_shift: its text, how operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @text
func.func @text(%x: tensor<2x?xi32>, %y: tensor<?xi32>) {
  // CHECK: weft.bitwise_right_shift %{{.*}}, %{{.*}} : tensor<2x?xi32>, tensor<?xi32>
  %0 = weft.bitwise_right_shift %x, %y : tensor<2x?xi32>, tensor<?xi32>
  return
}

// -----

func.func @bools(%x: tensor<2xi1>) {
  // expected-error @+1 {{'weft.bitwise_right_shift' op lhs must be an integer (i8, i16, i32, i64, u8, u16, u32, u64), but it is bool(2,)}}
  %0 = weft.bitwise_right_shift %x, %x : tensor<2xi1>
  return
}
