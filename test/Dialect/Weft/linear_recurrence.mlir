// The op linear_recurrence: its text, its shapes, and what it says of factors that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Sizes that either operand knows are those of the result.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%a: tensor<2x?xf32>, %x: tensor<?x3xf32>) {
  // CHECK: weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %0 = weft.linear_recurrence %a, %x {axis = 1 : i64} : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  // CHECK: weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 0 : i64, reverse = true, shifted = true}
  %1 = weft.linear_recurrence %a, %x {axis = 0 : i64, reverse = true, shifted = true} : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// One factor for all steps would be a broadcast, which is written as such.
func.func @factors(%a: tensor<3xf32>, %x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.linear_recurrence' op a must have the shape of x, (2, 3), but has (3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.linear_recurrence %a, %x {axis = 0 : i64} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Promotion is a cast of its own.
func.func @dtypes(%a: tensor<3xf64>, %x: tensor<3xf32>) {
  // expected-error @below {{'weft.linear_recurrence' op the dtypes differ: a is f64 and x is f32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.linear_recurrence %a, %x {axis = 0 : i64} : (tensor<3xf64>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// x has one axis.
func.func @out_of_range(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.linear_recurrence' op axis -1 is out of range for x of shape (3,) (rank 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.linear_recurrence %x, %x {axis = -1 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// Both move what a step reads or writes by one step.
func.func @flags(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.linear_recurrence' op it is either exclusive or shifted, not both}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.linear_recurrence %x, %x {axis = 0 : i64, exclusive = true, shifted = true} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
