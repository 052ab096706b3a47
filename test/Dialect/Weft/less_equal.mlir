// The op less_equal: its text, how operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// The result is bool, whatever the operands are; their type is written once if they agree.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3xf32>, %scalar: tensor<i64>) -> (tensor<2x3xi1>, tensor<i1>) {
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<2x3xf32>{{$}}
  %0 = weft.less_equal %x, %x : tensor<2x3xf32>
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<i64>{{$}}
  %1 = weft.less_equal %scalar, %scalar : tensor<i64>
  return %0, %1 : tensor<2x3xi1>, tensor<i1>
}

// -----

// Axes align at the right and sizes 1 stretch; an unknown size gives way to a known one that is not 1. The
// types of the results are what the return needs, so that this also tests the inference.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4x1xf32>, %row: tensor<3xf32>, %scalar: tensor<f32>, %some: tensor<?x?xf32>, %none: tensor<0xf32>)
    -> (tensor<4x3xi1>, tensor<4x1xi1>, tensor<4x?xi1>, tensor<?x3xi1>, tensor<4x0xi1>) {
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<3xf32>
  %0 = weft.less_equal %x, %row : tensor<4x1xf32>, tensor<3xf32>
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<f32>
  %1 = weft.less_equal %x, %scalar : tensor<4x1xf32>, tensor<f32>
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<?x?xf32>
  %2 = weft.less_equal %x, %some : tensor<4x1xf32>, tensor<?x?xf32>
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<3xf32>
  %3 = weft.less_equal %some, %row : tensor<?x?xf32>, tensor<3xf32>
  // CHECK: weft.less_equal %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<0xf32>
  %4 = weft.less_equal %x, %none : tensor<4x1xf32>, tensor<0xf32>
  return %0, %1, %2, %3, %4 : tensor<4x3xi1>, tensor<4x1xi1>, tensor<4x?xi1>, tensor<?x3xi1>, tensor<4x0xi1>
}

// -----

// 3 and 2 are no sizes of one axis, and neither of them is 1.
func.func @shapes_differ(%x: tensor<4x3xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{'weft.less_equal' op the shapes do not broadcast: lhs is (4, 3) and rhs is (2,)}}
  %0 = weft.less_equal %x, %y : tensor<4x3xf32>, tensor<2xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @below {{'weft.less_equal' op the dtypes differ: lhs is f32 and rhs is f64}}
  %0 = weft.less_equal %x, %y : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

// Types that no tensor of the library has are refused before their shapes are looked at.
func.func @no_dtype(%x: tensor<2xf80>) {
  // expected-error @below {{'weft.less_equal' op operand of type 'tensor<2xf80>' is no ranked tensor of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2}}
  %0 = weft.less_equal %x, %x : tensor<2xf80>
  return
}
