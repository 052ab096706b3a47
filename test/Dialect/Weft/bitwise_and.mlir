// The op bitwise_and: its text, of integers and bools, how operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @text
func.func @text(%x: tensor<2x?xi32>, %y: tensor<?xi32>, %b: tensor<3xi1>) {
  // CHECK: weft.bitwise_and %{{.*}}, %{{.*}} : tensor<2x?xi32>, tensor<?xi32>
  %0 = weft.bitwise_and %x, %y : tensor<2x?xi32>, tensor<?xi32>
  // CHECK: weft.bitwise_and %{{.*}}, %{{.*}} : tensor<3xi1>
  %1 = weft.bitwise_and %b, %b : tensor<3xi1>
  return
}

// -----

func.func @floating(%x: tensor<2xf32>) {
  // expected-error @+1 {{'weft.bitwise_and' op lhs must be an integer or bool (bool, i8, i16, i32, i64, u8, u16, u32, u64), but it is f32(2,)}}
  %0 = weft.bitwise_and %x, %x : tensor<2xf32>
  return
}
