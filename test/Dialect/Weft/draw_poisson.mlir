// The op draw_poisson: its text, its result, and what it says of a state that is none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%rate: tensor<2x?xf32>, %state: tensor<2xi64>, %states: tensor<2x2xi64>) {
  // CHECK: weft.draw_poisson %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<2x?xi64>
  %0 = weft.draw_poisson %rate, %state : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<2x?xi64>
  // CHECK: weft.draw_poisson %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<2x2xi64>) -> tensor<2x?xi64>
  %1 = weft.draw_poisson %rate, %states : (tensor<2x?xf32>, tensor<2x2xi64>) -> tensor<2x?xi64>
  return
}

// -----

func.func @more_axes(%rate: tensor<f32>, %state: tensor<1x2xi64>) {
  // expected-error @below {{'weft.draw_poisson' op state must be a seed and the number of a stream, of shape (2,), or such a pair for each place in the first axes of rate, which has shape (), but has (1, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_poisson %rate, %state : (tensor<f32>, tensor<1x2xi64>) -> tensor<i64>
  return
}
