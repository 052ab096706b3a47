// The op slice: its text, its sizes, and what it says of bounds that x does not have.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// A size is the number of starts[i], starts[i] + strides[i], ... before limits[i].
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<5x4xf32>, %some: tensor<?xi64>, %scalar: tensor<i1>) {
  // CHECK: weft.slice %{{.*}} from [0, 2] to [5, 2] by [2, 1] : (tensor<5x4xf32>) -> tensor<3x0xf32>
  %0 = weft.slice %x from [0, 2] to [5, 2] by [2, 1] : (tensor<5x4xf32>) -> tensor<3x0xf32>
  // The longest stride there is takes the first element only.
  // CHECK: weft.slice %{{.*}} -> tensor<1x1xf32>
  %1 = weft.slice %x from [1, 0] to [5, 4] by [9223372036854775807, 9223372036854775807] : (tensor<5x4xf32>) -> tensor<1x1xf32>
  // -1 is the end of an axis whose size is unknown; a limit that is given gives the size.
  // CHECK: weft.slice %{{.*}} from [{{.*}}] to [-1] {{.*}}: (tensor<?xi64>) -> tensor<?xi64>
  %2 = weft.slice %some from [1] to [-1] : (tensor<?xi64>) -> tensor<?xi64>
  // CHECK: weft.slice %{{.*}} from [{{.*}}] to [3] {{.*}}: (tensor<?xi64>) -> tensor<2xi64>
  %3 = weft.slice %some from [1] to [3] : (tensor<?xi64>) -> tensor<2xi64>
  // CHECK: weft.slice %{{.*}} from [] to [] : (tensor<i1>) -> tensor<i1>
  %4 = weft.slice %scalar from [] to [] : (tensor<i1>) -> tensor<i1>
  return
}

// -----

// There is no element 5.
func.func @limit(%x: tensor<5xf32>) {
  // expected-error @below {{'weft.slice' op the slice 0:6 is out of range for axis 0 of x, which has shape (5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [0] to [6] : (tensor<5xf32>) -> tensor<6xf32>
  return
}

// -----

// In the text elements do not count from the end.
func.func @start(%x: tensor<5xf32>) {
  // expected-error @below {{'weft.slice' op the slice -1:5 is out of range for axis 0 of x, which has shape (5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [-1] to [5] : (tensor<5xf32>) -> tensor<1xf32>
  return
}

// -----

// A slice ends where it starts or later.
func.func @order(%x: tensor<5xf32>) {
  // expected-error @below {{'weft.slice' op the slice 3:2 is out of range for axis 0 of x, which has shape (5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [3] to [2] : (tensor<5xf32>) -> tensor<0xf32>
  return
}

// -----

// Backwards goes reverse.
func.func @stride(%x: tensor<5xf32>) {
  // expected-error @below {{'weft.slice' op stride -1 of axis 0 is not positive}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [0] to [5] by [-1] : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

// Every axis is given in each of the three lists.
func.func @count(%x: tensor<5xf32>) {
  // expected-error @below {{'weft.slice' op limits (5, 1) has 2 entries, but x has shape (5,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.slice %x from [0] to [5, 1] : (tensor<5xf32>) -> tensor<5xf32>
  return
}
