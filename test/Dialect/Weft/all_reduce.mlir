// The ops all_reduce_sum, all_reduce_max and all_reduce_min: their text, their types, and what they say of replicas and means.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Each rank has a tensor of the type of the result; replicas stand along an axis, which goes.
// CHECK-LABEL: func.func @types
func.func @types(%x: tensor<2x?xf32>, %n: tensor<i32>, %c: tensor<3xcomplex<f64>>, %p: tensor<4xi1>) {
  // CHECK: weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 3 : i64, replicas = 0 : i64} : (tensor<i32>) -> tensor<i32>
  %1 = weft.all_reduce_sum %n {axes = array<i64>, group = 3 : i64, replicas = 0 : i64} : (tensor<i32>) -> tensor<i32>
  // CHECK: weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 0 : i64, mean = true, replicas = 0 : i64} : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  %2 = weft.all_reduce_sum %c {axes = array<i64>, group = 0 : i64, mean = true, replicas = 0 : i64} : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  // CHECK: weft.all_reduce_sum %{{.*}} {axes = array<i64: 1>, group = 0 : i64, replicas = 8 : i64} : (tensor<2x?xf32>) -> tensor<2xf32>
  %3 = weft.all_reduce_sum %x {axes = array<i64: 1>, group = 0 : i64, replicas = 8 : i64} : (tensor<2x?xf32>) -> tensor<2xf32>
  // CHECK: weft.all_reduce_max %{{.*}} {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xi1>) -> tensor<4xi1>
  %4 = weft.all_reduce_max %p {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: weft.all_reduce_min %{{.*}} {axes = array<i64: 0>, group = 0 : i64, replicas = 5 : i64} : (tensor<2x?xf32>) -> tensor<?xf32>
  %5 = weft.all_reduce_min %x {axes = array<i64: 0>, group = 0 : i64, replicas = 5 : i64} : (tensor<2x?xf32>) -> tensor<?xf32>
  return
}

// -----

// Of the axes there is no third.
func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.all_reduce_sum' op axis 2 is out of range for x of shape (2, 3) (rank 2)}}
  %0 = weft.all_reduce_sum %x {axes = array<i64: 2>, group = 0 : i64, replicas = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Replicas that stand nowhere.
func.func @no_axis(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.all_reduce_max' op there are 4 replicas, and no axis along which this rank's stand}}
  %0 = weft.all_reduce_max %x {axes = array<i64>, group = 0 : i64, replicas = 4 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// An axis of none.
func.func @no_replicas(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.all_reduce_sum' op there are 0 replicas: at least one is wanted}}
  %0 = weft.all_reduce_sum %x {axes = array<i64: 0>, group = 0 : i64, replicas = 0 : i64} : (tensor<2xf32>) -> tensor<f32>
  return
}

// -----

// They stand along one.
func.func @two_axes(%x: tensor<2x2xf32>) {
  // expected-error @below {{'weft.all_reduce_sum' op replicas stand along one axis, and there are 2}}
  %0 = weft.all_reduce_sum %x {axes = array<i64: 0, 1>, group = 0 : i64, replicas = 4 : i64} : (tensor<2x2xf32>) -> tensor<f32>
  return
}

// -----

// Whole numbers have no mean among them.
func.func @mean(%x: tensor<2xi32>) {
  // expected-error @below {{'weft.all_reduce_sum' op a mean wants floating-point numbers, not i32}}
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, mean = true, replicas = 0 : i64} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// Complex numbers have no largest.
func.func @order(%x: tensor<2xcomplex<f32>>) {
  // expected-error @below {{'weft.all_reduce_max' op x must be a real number or bool}}
  %0 = weft.all_reduce_max %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

// The result has the type of the operand.
func.func @type(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.all_reduce_sum' op gives 'tensor<2xf32>', but the result is of type 'tensor<3xf32>'}}
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<2xf32>) -> tensor<3xf32>
  return
}
