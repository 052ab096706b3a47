// The op logical_or: its text, how operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// One type says that operands and result agree.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x3xi1>, %scalar: tensor<i1>) -> (tensor<2x3xi1>, tensor<i1>) {
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<2x3xi1>{{$}}
  %0 = weft.logical_or %x, %x : tensor<2x3xi1>
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<i1>{{$}}
  %1 = weft.logical_or %scalar, %scalar : tensor<i1>
  return %0, %1 : tensor<2x3xi1>, tensor<i1>
}

// -----

// Axes align at the right and sizes 1 stretch; an unknown size gives way to a known one that is not 1. The
// types of the results are what the return needs, so that this also tests the inference.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4x1xi1>, %row: tensor<3xi1>, %scalar: tensor<i1>, %some: tensor<?x?xi1>, %none: tensor<0xi1>)
    -> (tensor<4x3xi1>, tensor<4x1xi1>, tensor<4x?xi1>, tensor<?x3xi1>, tensor<4x0xi1>) {
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<3xi1>
  %0 = weft.logical_or %x, %row : tensor<4x1xi1>, tensor<3xi1>
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<i1>
  %1 = weft.logical_or %x, %scalar : tensor<4x1xi1>, tensor<i1>
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<?x?xi1>
  %2 = weft.logical_or %x, %some : tensor<4x1xi1>, tensor<?x?xi1>
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<?x?xi1>, tensor<3xi1>
  %3 = weft.logical_or %some, %row : tensor<?x?xi1>, tensor<3xi1>
  // CHECK: weft.logical_or %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<0xi1>
  %4 = weft.logical_or %x, %none : tensor<4x1xi1>, tensor<0xi1>
  return %0, %1, %2, %3, %4 : tensor<4x3xi1>, tensor<4x1xi1>, tensor<4x?xi1>, tensor<?x3xi1>, tensor<4x0xi1>
}

// -----

// 3 and 2 are no sizes of one axis, and neither of them is 1.
func.func @shapes_differ(%x: tensor<4x3xi1>, %y: tensor<2xi1>) {
  // expected-error @below {{'weft.logical_or' op the shapes do not broadcast: lhs is (4, 3) and rhs is (2,)}}
  %0 = weft.logical_or %x, %y : tensor<4x3xi1>, tensor<2xi1>
  return
}

// -----

// Numbers are compared with 0 first, which says what is meant by true.
func.func @dtype(%x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error @below {{'weft.logical_or' op lhs must be bool (bool), but it is f32()}}
  %0 = weft.logical_or %x, %y : tensor<f32>, tensor<2xf32>
  return
}
