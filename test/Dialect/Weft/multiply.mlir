// The op multiply: its text, how operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// One type says that operands and result agree.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3xf32>, %scalar: tensor<i64>) -> (tensor<2x3xf32>, tensor<i64>) {
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<2x3xf32>{{$}}
  %0 = weft.multiply %x, %x : tensor<2x3xf32>
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<i64>{{$}}
  %1 = weft.multiply %scalar, %scalar : tensor<i64>
  return %0, %1 : tensor<2x3xf32>, tensor<i64>
}

// -----

// Axes align at the right and sizes 1 stretch; an unknown size gives way to a known one that is not 1. The
// types of the results are what the return needs, so that this also tests the inference.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4x1xf32>, %row: tensor<3xf32>, %scalar: tensor<f32>, %some: tensor<?x?xf32>, %none: tensor<0xf32>)
    -> (tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x?xf32>, tensor<?x3xf32>, tensor<4x0xf32>) {
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<3xf32>
  %0 = weft.multiply %x, %row : tensor<4x1xf32>, tensor<3xf32>
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<f32>
  %1 = weft.multiply %x, %scalar : tensor<4x1xf32>, tensor<f32>
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<?x?xf32>
  %2 = weft.multiply %x, %some : tensor<4x1xf32>, tensor<?x?xf32>
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<3xf32>
  %3 = weft.multiply %some, %row : tensor<?x?xf32>, tensor<3xf32>
  // CHECK: weft.multiply %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<0xf32>
  %4 = weft.multiply %x, %none : tensor<4x1xf32>, tensor<0xf32>
  return %0, %1, %2, %3, %4 : tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x?xf32>, tensor<?x3xf32>, tensor<4x0xf32>
}

// -----

// 3 and 2 are no sizes of one axis, and neither of them is 1.
func.func @shapes_differ(%x: tensor<4x3xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{'weft.multiply' op the shapes do not broadcast: lhs is (4, 3) and rhs is (2,)}}
  %0 = weft.multiply %x, %y : tensor<4x3xf32>, tensor<2xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @below {{'weft.multiply' op the dtypes differ: lhs is f32 and rhs is f64}}
  %0 = weft.multiply %x, %y : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

// Of bools there is no arithmetic: a program casts them first.
func.func @dtype(%x: tensor<i1>, %y: tensor<2xi1>) {
  // expected-error @below {{'weft.multiply' op lhs must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool()}}
  %0 = weft.multiply %x, %y : tensor<i1>, tensor<2xi1>
  return
}
