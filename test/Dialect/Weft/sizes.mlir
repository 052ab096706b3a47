// Sizes that are operands: their text, what becomes of those that are known, and what is said of lists that do not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @texts
func.func @texts(%x: tensor<4x?xf32>, %line: tensor<?xi64>, %v: tensor<f32>, %n: tensor<i64>, %m: tensor<i64>) {
  // CHECK: weft.reshape %{{.*}} to [%[[N:.*]], 2, -1] : (tensor<4x?xf32>) -> tensor<?x2x?xf32>
  %0 = weft.reshape %x to [%n, 2, -1] : (tensor<4x?xf32>) -> tensor<?x2x?xf32>
  // CHECK: weft.reshape %{{.*}} to [%[[N]], %[[N]]] : (tensor<4x?xf32>) -> tensor<?x?xf32>
  %1 = weft.reshape %x to [%n, %n] : (tensor<4x?xf32>) -> tensor<?x?xf32>
  // CHECK: weft.broadcast %{{.*}} to [%[[M:.*]], 4, %[[N]]] : (tensor<4x?xf32>) -> tensor<?x4x?xf32>
  %2 = weft.broadcast %x to [%m, 4, %n] : (tensor<4x?xf32>) -> tensor<?x4x?xf32>
  // A written type may know a size.
  // CHECK: weft.broadcast %{{.*}} to [%[[N]]] : (tensor<f32>) -> tensor<3xf32>
  %3 = weft.broadcast %v to [%n] : (tensor<f32>) -> tensor<3xf32>
  // CHECK: weft.iota [%[[N]], 3] {axis = 0 : i64, dtype = i64} : tensor<?x3xi64>
  %4 = weft.iota [%n, 3] {axis = 0 : i64, dtype = i64} : tensor<?x3xi64>
  // CHECK: weft.slice %{{.*}} from [1, %[[N]]] to [%[[M]], -1] by [2, 1] : (tensor<4x?xf32>) -> tensor<?x?xf32>
  %5 = weft.slice %x from [1, %n] to [%m, -1] by [2, 1] : (tensor<4x?xf32>) -> tensor<?x?xf32>
  // CHECK: weft.slice %{{.*}} from [%[[N]]] to [5] : (tensor<?xi64>) -> tensor<?xi64>
  %6 = weft.slice %line from [%n] to [5] : (tensor<?xi64>) -> tensor<?xi64>
  // CHECK: weft.pad %{{.*}}, %{{.*}} low [%[[M]], 0] high [1, %[[N]]] interior [0, 1] : (tensor<4x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %7 = weft.pad %x, %v low [%m, 0] high [1, %n] interior [0, 1] : (tensor<4x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// -----

// A size that is known becomes a number of the list; the written type may know less. A negative one is left to fail
// when it runs, and so is one that does not fit.
// FOLD-LABEL: func.func @known
// FOLD-SAME: %[[X:.*]]: tensor<3xf32>, %[[N:.*]]: tensor<i64>
// FOLD-DAG: %[[LESS:.*]] = weft.constant dense<-1> : tensor<i64>
// FOLD-DAG: %[[Y:.*]] = weft.broadcast %[[X]] to [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
// FOLD-DAG: %[[W:.*]] = weft.widen %[[Y]] : tensor<2x3xf32> to tensor<?x3xf32>
// FOLD-DAG: %[[SOME:.*]] = weft.broadcast %[[X]] to [%[[N]], 2, 3] : (tensor<3xf32>) -> tensor<?x2x3xf32>
// FOLD-DAG: %[[BAD:.*]] = weft.broadcast %[[X]] to [%[[LESS]], 3]
// FOLD-DAG: %[[WRONG:.*]] = weft.reshape %[[X]] to [%{{.*}}] : (tensor<3xf32>) -> tensor<?xf32>
// FOLD-DAG: %[[PART:.*]] = weft.slice %[[X]] from [1] to [2] : (tensor<3xf32>) -> tensor<1xf32>
// FOLD-DAG: weft.pad %[[X]], %{{.*}} low [2] high [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// FOLD-DAG: weft.iota [2] {axis = 0 : i64, dtype = i32} : tensor<2xi32>
func.func @known(%x: tensor<3xf32>, %n: tensor<i64>) -> (tensor<?x3xf32>, tensor<?x?x3xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>, tensor<5xf32>, tensor<?xi32>) {
  %two = weft.constant dense<2> : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %0 = weft.broadcast %x to [%two, 3] : (tensor<3xf32>) -> tensor<?x3xf32>
  %1 = weft.broadcast %x to [%n, %two, 3] : (tensor<3xf32>) -> tensor<?x?x3xf32>
  %less = weft.constant dense<-1> : tensor<i64>
  %2 = weft.broadcast %x to [%less, 3] : (tensor<3xf32>) -> tensor<?x3xf32>
  %3 = weft.reshape %x to [%two] : (tensor<3xf32>) -> tensor<?xf32>
  %4 = weft.slice %x from [%one] to [%two] : (tensor<3xf32>) -> tensor<?xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %5 = weft.pad %x, %zero low [%two] high [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %6 = weft.iota [%two] {axis = 0 : i64, dtype = i32} : tensor<?xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?x3xf32>, tensor<?x?x3xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>, tensor<5xf32>, tensor<?xi32>
}

// -----

// The size of what was given sizes is what was given.
// FOLD-LABEL: func.func @given
// FOLD-SAME: %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: tensor<i64>, %[[M:.*]]: tensor<i64>
// FOLD: return %[[M]], %[[N]], %[[M]]
func.func @given(%x: tensor<?xf32>, %n: tensor<i64>, %m: tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>) {
  %0 = weft.reshape %x to [%n, 3, %m] : (tensor<?xf32>) -> tensor<?x3x?xf32>
  %1 = weft.size %0 {axis = 2 : i64} : (tensor<?x3x?xf32>) -> tensor<i64>
  %2 = weft.broadcast %x to [%n, %m] : (tensor<?xf32>) -> tensor<?x?xf32>
  %3 = weft.size %2 {axis = 0 : i64} : (tensor<?x?xf32>) -> tensor<i64>
  %4 = weft.iota [%m] {axis = 0 : i64, dtype = i64} : tensor<?xi64>
  %5 = weft.size %4 {axis = 0 : i64} : (tensor<?xi64>) -> tensor<i64>
  return %1, %3, %5 : tensor<i64>, tensor<i64>, tensor<i64>
}

// -----

func.func @several_follow(%x: tensor<?x4xf32>, %n: tensor<i64>) {
  // expected-error @below {{'weft.reshape' op only one size may be -1 beside sizes that are values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [%n, -1, -1] : (tensor<?x4xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

// 4 elements are no rows of 3, however many there are.
func.func @does_not_fill(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @below {{'weft.reshape' op x of shape (4,) has 4 elements, which do not fill the shape (?, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.reshape %x to [%n, 3] : (tensor<4xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @beyond(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @below {{'weft.slice' op the slice ?:5 is out of range for axis 0 of x, which has shape (4,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [%n] to [5] : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @too_few(%x: tensor<f32>) {
  // expected-error @below {{'weft.broadcast' op a size is -9223372036854775808, which is negative}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "weft.broadcast"(%x) {shape = array<i64: -9223372036854775808>} : (tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @too_many(%x: tensor<f32>, %n: tensor<i64>) {
  // expected-error @below {{'weft.broadcast' op its lists have 1 sizes that are operands, but there are 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "weft.broadcast"(%x, %n, %n) {shape = array<i64: -9223372036854775808>} : (tensor<f32>, tensor<i64>, tensor<i64>) -> tensor<?xf32>
  return
}

// -----

func.func @dtype(%x: tensor<f32>, %n: tensor<i32>) {
  // expected-error @below {{'weft.broadcast' op sizes must be an integer of 64 bits (i64), but it is i32()}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "weft.broadcast"(%x, %n) {shape = array<i64: -9223372036854775808>} : (tensor<f32>, tensor<i32>) -> tensor<?xf32>
  return
}

// -----

func.func @no_scalar(%x: tensor<f32>, %n: tensor<1xi64>) {
  // expected-error @below {{'weft.broadcast' op a size must be a scalar, but is i64(1,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "weft.broadcast"(%x, %n) {shape = array<i64: -9223372036854775808>} : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @numbers(%x: tensor<4xf32>, %n: tensor<i64>) {
  // expected-error @below {{'by' has numbers alone}}
  %0 = weft.slice %x from [0] to [4] by [%n] : (tensor<4xf32>) -> tensor<?xf32>
  return
}
