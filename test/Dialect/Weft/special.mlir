// The scalar code of special functions: its text, and how many operands each has; the text of an op, what it says of an operand that it
// does not admit, and the code of derivatives.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @scalar
// CHECK: weft.special lgamma(%{{.*}}) : f64
// CHECK: weft.special zeta(%{{.*}}, %{{.*}}) : vector<4xf32>
func.func @scalar(%x: f64, %s: vector<4xf32>) -> (f64, vector<4xf32>) {
  %y = weft.special lgamma(%x) : f64
  %z = weft.special zeta(%s, %s) : vector<4xf32>
  return %y, %z : f64, vector<4xf32>
}

// CHECK-LABEL: func.func @lgamma
// CHECK: weft.lgamma %{{.*}} : tensor<2x?xf32>
func.func @lgamma(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %y = weft.lgamma %x : tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// AD-LABEL: func.func @lgamma_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<2x?xf32>, %[[D:[a-z0-9]+]]: tensor<2x?xf32>
// AD: %[[SLOPE:.*]] = weft.digamma %[[X]]
// AD: %[[DX:.*]] = weft.multiply %[[D]], %[[SLOPE]]
// AD: return %[[DX]]
func.func @lgamma_vjp(%x: tensor<2x?xf32>, %d: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0:2 = weft.vjp @lgamma(%x) cotangents(%d) wrt [0] : (tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
  return %0#1 : tensor<2x?xf32>
}

// -----

func.func @operands(%x: f64) -> f64 {
  // expected-error @+1 {{zeta is of 2 operands, but there are 1}}
  %y = weft.special zeta(%x) : f64
  return %y : f64
}

// -----

func.func @integer(%x: tensor<2xi32>) {
  // expected-error @+1 {{'weft.lgamma' op x must be floating (f16, bf16, f32, f64), but it is i32(2,)}}
  %y = weft.lgamma %x : tensor<2xi32>
  return
}
