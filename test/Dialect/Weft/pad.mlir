// The op pad: its text, its sizes, and what it says of padding that makes no tensor.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// low + size + interior between the elements + high, of each axis.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %v: tensor<f32>, %none: tensor<0xi64>, %n: tensor<i64>, %scalar: tensor<i1>) {
  // CHECK: weft.pad %{{.*}}, %{{.*}} low [1, 0] high [3, 0] interior [2, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<8x?xf32>
  %0 = weft.pad %x, %v low [1, 0] high [3, 0] interior [2, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<8x?xf32>
  // Without elements there is nothing between them.
  // CHECK: weft.pad %{{.*}}, %{{.*}} : (tensor<0xi64>, tensor<i64>) -> tensor<3xi64>
  %1 = weft.pad %none, %n low [1] high [2] interior [5] : (tensor<0xi64>, tensor<i64>) -> tensor<3xi64>
  // CHECK: weft.pad %{{.*}}, %{{.*}} : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %2 = weft.pad %scalar, %scalar low [] high [] : (tensor<i1>, tensor<i1>) -> tensor<i1>
  return
}

// -----

// Elements are taken away by slice.
func.func @negative(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{'weft.pad' op padding must not be negative, but low is (-1,), high is (0,) and interior is (0,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pad %x, %v low [-1] high [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// Every axis is given in each of the three lists.
func.func @count(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{'weft.pad' op interior (0, 0) has 2 entries, but x has shape (2,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pad %x, %v low [0] high [0] interior [0, 0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// One value fills every gap.
func.func @value(%x: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error @below {{'weft.pad' op value must be a scalar, but has shape (1,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pad %x, %v low [1] high [0] : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<2xf32>, %v: tensor<i32>) {
  // expected-error @below {{'weft.pad' op the dtypes differ: x is f32 and value is i32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pad %x, %v low [1] high [0] : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

// The padded size is checked as it is summed up.
func.func @overflow(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{'weft.pad' op the padded size of axis 0 exceeds 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.pad %x, %v low [9223372036854775807] high [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
