// The op select: its text, how its three operands broadcast, and what it says of operands that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Each operand has its type, unless all agree, which only bools can.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%p: tensor<4x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>, %n: tensor<?x0xf32>)
    -> (tensor<4x3xf32>, tensor<4x1xi1>, tensor<4x0xf32>) {
  // CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<3xf32>, tensor<f32>
  %0 = weft.select %p, %a, %b : tensor<4x1xi1>, tensor<3xf32>, tensor<f32>
  // CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x1xi1>{{$}}
  %1 = weft.select %p, %p, %p : tensor<4x1xi1>
  // CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<?x0xf32>, tensor<f32>
  %2 = weft.select %p, %n, %b : tensor<4x1xi1>, tensor<?x0xf32>, tensor<f32>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<4x1xi1>, tensor<4x0xf32>
}

// -----

// A number is not a choice.
func.func @pred(%p: tensor<2xi32>, %a: tensor<2xf32>) {
  // expected-error @below {{'weft.select' op pred must be bool (bool), but it is i32(2,)}}
  %0 = weft.select %p, %a, %a : tensor<2xi32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

// The dtype of the result must not depend on the choice.
func.func @dtypes_differ(%p: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @below {{'weft.select' op the dtypes differ: on_true is f32 and on_false is i32}}
  %0 = weft.select %p, %a, %b : tensor<2xi1>, tensor<2xf32>, tensor<2xi32>
  return
}

// -----

// All three shapes are named, since any two of them may be at odds.
func.func @shapes_differ(%p: tensor<2xi1>, %a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error @below {{'weft.select' op the shapes do not broadcast: pred is (2,), on_true is (3,) and on_false is ()}}
  %0 = weft.select %p, %a, %b : tensor<2xi1>, tensor<3xf32>, tensor<f32>
  return
}
