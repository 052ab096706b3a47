// The op draw_log_gamma: its text, its derivatives, which are at a fixed share of the distribution, and what it says of a state that is none.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%a: tensor<2x?xf32>, %scalar: tensor<f64>, %state: tensor<2xi64>, %states: tensor<?x2xi64>) {
  // CHECK: weft.draw_log_gamma %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  %0 = weft.draw_log_gamma %a, %state : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  // CHECK: weft.draw_log_gamma %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<?x2xi64>) -> tensor<2x?xf32>
  %1 = weft.draw_log_gamma %a, %states : (tensor<2x?xf32>, tensor<?x2xi64>) -> tensor<2x?xf32>
  // CHECK: weft.draw_log_gamma %{{.*}}, %{{.*}} : (tensor<f64>, tensor<2xi64>) -> tensor<f64>
  %2 = weft.draw_log_gamma %scalar, %state : (tensor<f64>, tensor<2xi64>) -> tensor<f64>
  return
}

// AD-LABEL: func.func @draw_log_gamma_vjp(
// AD-SAME: %[[A:[a-z0-9]+]]: tensor<5xf64>
// AD: %[[Y:.*]] = weft.draw_log_gamma %[[A]]
// AD: weft.gammainc_da
// AD: %[[DA:.*]] = weft.multiply %{{.*}}, %{{.*}} : tensor<5xf64>
// AD: return %[[DA]]
func.func @draw_log_gamma_vjp(%a: tensor<5xf64>, %state: tensor<2xi64>, %d: tensor<5xf64>) -> tensor<5xf64> {
  %0:2 = weft.vjp @drawn(%a, %state) cotangents(%d) wrt [0] : (tensor<5xf64>, tensor<2xi64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  return %0#1 : tensor<5xf64>
}
// AD-LABEL: func.func @draw_log_gamma_jvp(
// AD: weft.gammainc_da
// AD: %[[DY:.*]] = weft.multiply %{{.*}}, %{{.*}} : tensor<5xf64>
// AD: return %[[DY]]
func.func @draw_log_gamma_jvp(%a: tensor<5xf64>, %state: tensor<2xi64>, %d: tensor<5xf64>) -> tensor<5xf64> {
  %0:2 = weft.jvp @drawn(%a, %state) tangents(%d) wrt [0] : (tensor<5xf64>, tensor<2xi64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>)
  return %0#1 : tensor<5xf64>
}
func.func @drawn(%a: tensor<5xf64>, %state: tensor<2xi64>) -> tensor<5xf64> {
  %0 = weft.draw_log_gamma %a, %state : (tensor<5xf64>, tensor<2xi64>) -> tensor<5xf64>
  return %0 : tensor<5xf64>
}

// -----

func.func @words(%a: tensor<5xf32>, %state: tensor<3xi64>) {
  // expected-error @below {{'weft.draw_log_gamma' op state must be a seed and the number of a stream, of shape (2,), or such a pair for each place in the first axes of a, which has shape (5,), but has (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_log_gamma %a, %state : (tensor<5xf32>, tensor<3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @batches(%a: tensor<5x3xf32>, %state: tensor<4x2xi64>) {
  // expected-error @below {{'weft.draw_log_gamma' op state must be a seed and the number of a stream, of shape (2,), or such a pair for each place in the first axes of a, which has shape (5, 3), but has (4, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_log_gamma %a, %state : (tensor<5x3xf32>, tensor<4x2xi64>) -> tensor<5x3xf32>
  return
}

// -----

func.func @integer(%a: tensor<5xi64>, %state: tensor<2xi64>) {
  // expected-error @below {{'weft.draw_log_gamma' op a must be floating (f16, bf16, f32, f64), but it is i64(5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.draw_log_gamma %a, %state : (tensor<5xi64>, tensor<2xi64>) -> tensor<5xi64>
  return
}
