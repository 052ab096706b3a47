// The op sort_into: its text, and what fits.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// Indices or values of all of a line or of its first elements.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%places: tensor<2x?xi64>, %values: tensor<2x9xf32>, %x: tensor<2x9xf32>) {
  // CHECK: weft.sort_into %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<2x?xi64>, tensor<2x9xf32>
  %0 = weft.sort_into %places, %x {axis = 1 : i64} : tensor<2x?xi64>, tensor<2x9xf32>
  // CHECK: weft.sort_into %{{.*}}, %{{.*}} {axis = 0 : i64, descending, values} : tensor<2x9xf32>, tensor<2x9xf32>
  %1 = weft.sort_into %values, %x {axis = 0 : i64, descending, values} : tensor<2x9xf32>, tensor<2x9xf32>
  return
}

// -----

// There are not more indices than elements.
func.func @longer(%into: tensor<3xi64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.sort_into' op cannot sort 'tensor<2xf32>' along axis 0 into 'tensor<3xi64>'}}
  %0 = weft.sort_into %into, %x {axis = 0 : i64} : tensor<3xi64>, tensor<2xf32>
  return
}

// -----

// Only the axis may be shorter.
func.func @across(%into: tensor<2x1xi64>, %x: tensor<2x3xf32>) {
  // expected-error @below {{'weft.sort_into' op cannot sort 'tensor<2x3xf32>' along axis 0 into 'tensor<2x1xi64>'}}
  %0 = weft.sort_into %into, %x {axis = 0 : i64} : tensor<2x1xi64>, tensor<2x3xf32>
  return
}

// -----

// Values are of x's dtype, indices i64.
func.func @dtype(%into: tensor<2xf64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.sort_into' op cannot sort 'tensor<2xf32>' along axis 0 into 'tensor<2xf64>'}}
  %0 = weft.sort_into %into, %x {axis = 0 : i64, values} : tensor<2xf64>, tensor<2xf32>
  return
}

// -----

func.func @axis(%into: tensor<2xi64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.sort_into' op cannot sort 'tensor<2xf32>' along axis 1 into 'tensor<2xi64>'}}
  %0 = weft.sort_into %into, %x {axis = 1 : i64} : tensor<2xi64>, tensor<2xf32>
  return
}
