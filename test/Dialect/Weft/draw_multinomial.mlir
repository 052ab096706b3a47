// The op draw_multinomial: its text, its result, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%n: tensor<2x?xf32>, %p: tensor<?x3x?xf32>, %states: tensor<2x2xi64>) {
  // CHECK: weft.draw_multinomial %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<?x3x?xf32>, tensor<2x2xi64>) -> tensor<?x3x?xi64>
  %0 = weft.draw_multinomial %n, %p, %states : (tensor<2x?xf32>, tensor<?x3x?xf32>, tensor<2x2xi64>) -> tensor<?x3x?xi64>
  return
}

// -----

func.func @axes(%n: tensor<5xf32>, %p: tensor<5xf32>, %state: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_multinomial' op pvals must have the shape of n and one axis more: n has (5,), and pvals (5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_multinomial %n, %p, %state : (tensor<5xf32>, tensor<5xf32>, tensor<2xi64>) -> tensor<5xi64>
  return
}
