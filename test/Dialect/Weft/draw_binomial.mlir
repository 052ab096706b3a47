// The op draw_binomial: its text, its result, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%n: tensor<2x?xf32>, %p: tensor<?x3xf32>, %state: tensor<2xi64>) {
  // CHECK: weft.draw_binomial %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<?x3xf32>, tensor<2xi64>) -> tensor<2x?xi64>
  %0 = weft.draw_binomial %n, %p, %state : (tensor<2x?xf32>, tensor<?x3xf32>, tensor<2xi64>) -> tensor<2x?xi64>
  return
}

// -----

func.func @sizes(%n: tensor<5xf32>, %p: tensor<4xf32>, %state: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_binomial' op p must have the shape of n: n has (5,), and p (4,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_binomial %n, %p, %state : (tensor<5xf32>, tensor<4xf32>, tensor<2xi64>) -> tensor<5xi64>
  return
}

// -----

func.func @dtypes(%n: tensor<5xf32>, %p: tensor<5xf64>, %state: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_binomial' op the dtypes}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_binomial %n, %p, %state : (tensor<5xf32>, tensor<5xf64>, tensor<2xi64>) -> tensor<5xi64>
  return
}
