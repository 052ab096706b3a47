// Integers without a sign: their types, and constants as they are written.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK: weft.constant dense<[255, 1]> : tensor<2xui8>
// CHECK: weft.add %{{.*}}, %{{.*}} : tensor<2xui8>
// CHECK: weft.cast %{{.*}} to ui64 : tensor<2xui8>
func.func @types(%x: tensor<2xui8>) -> tensor<2xui64> {
  %c = weft.constant dense<[255, 1]> : tensor<2xui8>
  %y = weft.add %x, %c : tensor<2xui8>
  %z = weft.cast %y to ui64 : tensor<2xui8>
  return %z : tensor<2xui64>
}

// -----

func.func @mixed(%x: tensor<2xui8>, %y: tensor<2xi8>) {
  // expected-error @below {{'weft.add' op the dtypes differ: lhs is u8 and rhs is i8}}
  %z = weft.add %x, %y : tensor<2xui8>, tensor<2xi8>
  return
}

// -----

func.func @signed(%x: tensor<2xsi8>) {
  // expected-error @below {{'weft.add' op operand of type 'tensor<2xsi8>' is no ranked tensor of}}
  %z = weft.add %x, %x : tensor<2xsi8>
  return
}

// -----

func.func @random(%s: tensor<2xi64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{'weft.draw_uniform' op dtype must be one that is drawn (bool, i32, i64, f32, f64), but it is u8}}
  %z = weft.draw_uniform %s to [3] {dtype = ui8} : (tensor<2xi64>) -> tensor<3xui8>
  return
}
