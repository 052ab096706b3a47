// The op bitwise_invert: its text, of integers and bools, and what it says of an operand it does not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @text
func.func @text(%x: tensor<2x?xi64>, %b: tensor<3xi1>) {
  // CHECK: weft.bitwise_invert %{{.*}} : tensor<2x?xi64>
  %0 = weft.bitwise_invert %x : tensor<2x?xi64>
  // CHECK: weft.bitwise_invert %{{.*}} : tensor<3xi1>
  %1 = weft.bitwise_invert %b : tensor<3xi1>
  return
}

// -----

func.func @floating(%x: tensor<2xf32>) {
  // expected-error @+1 {{'weft.bitwise_invert' op x must be an integer or bool (bool, i8, i16, i32, i64, u8, u16, u32, u64), but it is f32(2,)}}
  %0 = weft.bitwise_invert %x : tensor<2xf32>
  return
}
