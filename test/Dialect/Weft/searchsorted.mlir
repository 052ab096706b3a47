// The op searchsorted: its text, its result, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%a: tensor<?xf32>, %rows: tensor<2x5xf32>, %v: tensor<2x?x3xf32>) {
  // CHECK: weft.searchsorted %{{.*}}, %{{.*}} : (tensor<?xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xi64>
  %0 = weft.searchsorted %a, %v : (tensor<?xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xi64>
  // CHECK: weft.searchsorted %{{.*}}, %{{.*}} {right = true} : (tensor<2x5xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xi64>
  %1 = weft.searchsorted %rows, %v {right = true} : (tensor<2x5xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xi64>
  return
}

// -----

func.func @scalar(%a: tensor<f32>, %v: tensor<3xf32>) {
  // expected-error @+2 {{'weft.searchsorted' op failed to infer returned types}}
  // expected-error @+1 {{'weft.searchsorted' op a is a scalar: a sorted vector is wanted}}
  %0 = weft.searchsorted %a, %v : (tensor<f32>, tensor<3xf32>) -> tensor<3xi64>
  return
}

// -----

func.func @batches(%a: tensor<2x5xf32>, %v: tensor<3x4xf32>) {
  // expected-error @+2 {{'weft.searchsorted' op failed to infer returned types}}
  // expected-error @+1 {{'weft.searchsorted' op v must begin with the batch of a, which has shape (2, 5), but has shape (3, 4)}}
  %0 = weft.searchsorted %a, %v : (tensor<2x5xf32>, tensor<3x4xf32>) -> tensor<3x4xi64>
  return
}

// -----

func.func @dtypes(%a: tensor<5xf32>, %v: tensor<3xf64>) {
  // expected-error @+2 {{'weft.searchsorted' op failed to infer returned types}}
  // expected-error @+1 {{'weft.searchsorted' op the dtypes}}
  %0 = weft.searchsorted %a, %v : (tensor<5xf32>, tensor<3xf64>) -> tensor<3xi64>
  return
}
