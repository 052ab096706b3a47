// The op call_into: its text, and the routines that there are.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @call
func.func @call(%x: tensor<2x9x1xf32>, %k: tensor<3x1x1xf32>, %into: tensor<2x7x1xf32>, %n: index) {
  // CHECK: weft.call_into "convolution"(%{{.*}}, %{{.*}}) numbers(%{{.*}}) into %{{.*}} : (tensor<2x9x1xf32>, tensor<3x1x1xf32>) into tensor<2x7x1xf32>
  %0 = weft.call_into "convolution"(%x, %k) numbers(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) into %into : (tensor<2x9x1xf32>, tensor<3x1x1xf32>) into tensor<2x7x1xf32>
  return
}

// -----

// Cumulative ops are routines of their names, and argmax gives indices.
// CHECK-LABEL: func.func @lines
func.func @lines(%x: tensor<2x9xf32>, %into: tensor<2xi64>, %n: index) {
  // CHECK: weft.call_into "cumsum"(%{{.*}}) numbers(%{{.*}}) into %{{.*}} : (tensor<2x9xf32>) into tensor<2x9xf32>
  %0 = weft.call_into "cumsum"(%x) numbers(%n, %n, %n, %n) into %x : (tensor<2x9xf32>) into tensor<2x9xf32>
  // CHECK: weft.call_into "argmax"(%{{.*}}) numbers(%{{.*}}) into %{{.*}} : (tensor<2x9xf32>) into tensor<2xi64>
  %1 = weft.call_into "argmax"(%x) numbers(%n, %n, %n) into %into : (tensor<2x9xf32>) into tensor<2xi64>
  return
}

// -----

func.func @unknown(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op the library has no routine 'convolve'}}
  %0 = weft.call_into "convolve"(%x) numbers() into %x : (tensor<2xf32>) into tensor<2xf32>
  return
}

// -----

func.func @numbers(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op 'convolution' takes 2 tensors and 22 numbers, but is given 1 and 0}}
  %0 = weft.call_into "convolution"(%x) numbers() into %x : (tensor<2xf32>) into tensor<2xf32>
  return
}

// -----

func.func @dtypes(%x: tensor<2xf32>, %i: tensor<2xi32>, %n: index) {
  // expected-error @below {{'weft.call_into' op 'convolution' takes tensors of one dtype, but 'tensor<2xf32>' meets 'tensor<2xi32>'}}
  %0 = weft.call_into "convolution"(%x, %i) numbers(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) into %x : (tensor<2xf32>, tensor<2xi32>) into tensor<2xf32>
  return
}

// -----

// An op that is not cumulative is no routine.
func.func @other_op(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op the library has no routine 'exp'}}
  %0 = weft.call_into "exp"(%x) numbers() into %x : (tensor<2xf32>) into tensor<2xf32>
  return
}

// -----

func.func @places_of_argmax(%x: tensor<2xf32>, %into: tensor<f32>, %n: index) {
  // expected-error @below {{'weft.call_into' op 'argmax' has places of i64, but is given 'tensor<f32>'}}
  %0 = weft.call_into "argmax"(%x) numbers(%n, %n, %n) into %into : (tensor<2xf32>) into tensor<f32>
  return
}

// -----

func.func @bools(%x: tensor<2xi1>, %n: index) {
  // expected-error @below {{'weft.call_into' op 'cumsum' takes numbers, but is given 'tensor<2xi1>'}}
  %0 = weft.call_into "cumsum"(%x) numbers(%n, %n, %n, %n) into %x : (tensor<2xi1>) into tensor<2xi1>
  return
}

// -----

// Positions in windows are i32, whatever the other tensors are.
func.func @places(%x: tensor<1x4x1xf32>, %p: tensor<1x3x1xi64>, %into: tensor<1x3x1xf32>, %n: index) {
  // expected-error @below {{'weft.call_into' op 'window_take' has places of i32, but is given 'tensor<1x3x1xi64>'}}
  %0 = weft.call_into "window_take"(%x, %p) numbers(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) into %into : (tensor<1x4x1xf32>, tensor<1x3x1xi64>) into tensor<1x3x1xf32>
  return
}

// -----

// Ops of kind routine: attributes as integers, and a destination of the type that the op gives.
// CHECK-LABEL: func.func @routines
func.func @routines(%indices: tensor<2x?xi64>, %values: tensor<2x9xf32>, %x: tensor<2x9xf32>) {
  // CHECK: weft.call_into "argsort"(%{{.*}}) numbers() into %{{.*}} {attrs = array<i64: 1, 0, -1>} : (tensor<2x9xf32>) into tensor<2x?xi64>
  %0 = weft.call_into "argsort"(%x) numbers() into %indices {attrs = array<i64: 1, 0, -1>} : (tensor<2x9xf32>) into tensor<2x?xi64>
  // CHECK: weft.call_into "sort"
  %1 = weft.call_into "sort"(%x) numbers() into %values {attrs = array<i64: 0, 1>} : (tensor<2x9xf32>) into tensor<2x9xf32>
  return
}

// -----

func.func @attributes(%x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op 'sort' takes 1 tensors and 2 attributes, but is given 1 and 0}}
  %0 = weft.call_into "sort"(%x) numbers() into %x : (tensor<2xf32>) into tensor<2xf32>
  return
}

// -----

// There are not more indices than elements.
func.func @longer(%into: tensor<3xi64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op 'argsort' gives 'tensor<2xi64>', but is to write over 'tensor<3xi64>'}}
  %0 = weft.call_into "argsort"(%x) numbers() into %into {attrs = array<i64: 0, 0, -1>} : (tensor<2xf32>) into tensor<3xi64>
  return
}

// -----

// Values are of x's dtype.
func.func @dtype(%into: tensor<2xf64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op 'sort' gives 'tensor<2xf32>', but is to write over 'tensor<2xf64>'}}
  %0 = weft.call_into "sort"(%x) numbers() into %into {attrs = array<i64: 0, 0>} : (tensor<2xf32>) into tensor<2xf64>
  return
}

// -----

func.func @axis(%into: tensor<2xi64>, %x: tensor<2xf32>) {
  // expected-error @below {{'weft.call_into' op 'argsort': axis 1 is out of range for x of shape (2,) (rank 1)}}
  %0 = weft.call_into "argsort"(%x) numbers() into %into {attrs = array<i64: 1, 0, -1>} : (tensor<2xf32>) into tensor<2xi64>
  return
}

// -----

// One that may throw says what variables hold then.
// CHECK-LABEL: func.func @leaving
func.func @leaving(%x: tensor<3x3xf32>, %into: tensor<3x3xf32>, %w: tensor<4xf32>, %n: tensor<i32>) {
  // CHECK: weft.call_into "cholesky"(%{{.*}}) numbers() into %{{.*}} {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w, @n] = %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
  %0 = weft.call_into "cholesky"(%x) numbers() into %into {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w, @n] = %w, %n : tensor<4xf32>, tensor<i32>
  return
}

// -----

func.func @one_value_each(%x: tensor<3x3xf32>, %into: tensor<3x3xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{'weft.call_into' op wants one value for each variable}}
  %0 = weft.call_into "cholesky"(%x) numbers() into %into {attrs = array<i64>} : (tensor<3x3xf32>) into tensor<3x3xf32> leaving [@w, @n] = %w : tensor<4xf32>
  return
}

// -----

// What is no op of kind routine only computes.
func.func @throws_nothing(%x: tensor<2x9xf32>, %w: tensor<4xf32>, %n: index) {
  // expected-error @below {{'weft.call_into' op 'cumsum' does not throw, so nobody asks what variables hold then}}
  %0 = weft.call_into "cumsum"(%x) numbers(%n, %n, %n, %n) into %x : (tensor<2x9xf32>) into tensor<2x9xf32> leaving [@w] = %w : tensor<4xf32>
  return
}

// -----

// Two results of one type may be written as pairs.
// CHECK-LABEL: func.func @pairs
func.func @pairs(%x: tensor<4xf32>, %into: tensor<4x2xf32>) {
  // CHECK: weft.call_into "fft"(%{{.*}}, %{{.*}}) numbers() into %{{.*}} {attrs = array<i64: 0, 0, 0>, into_pairs} : (tensor<4xf32>, tensor<4xf32>) into tensor<4x2xf32>
  %0 = weft.call_into "fft"(%x, %x) numbers() into %into {attrs = array<i64: 0, 0, 0>, into_pairs} : (tensor<4xf32>, tensor<4xf32>) into tensor<4x2xf32>
  return
}

// -----

func.func @no_pairs(%x: tensor<3x3xf32>, %into: tensor<3x3x2xf32>) {
  // expected-error @below {{'weft.call_into' op 'lu' gives 'tensor<3x3xf32>', 'tensor<3xi64>', 'tensor<3xi64>', of which no pairs can be made}}
  %0 = weft.call_into "lu"(%x) numbers() into %into {attrs = array<i64>, into_pairs} : (tensor<3x3xf32>) into tensor<3x3x2xf32>
  return
}

// -----

func.func @wrong_pairs(%x: tensor<4xf32>, %into: tensor<4x3xf32>) {
  // expected-error @below {{'weft.call_into' op 'fft' gives 'tensor<4x2xf32>', but is to write over 'tensor<4x3xf32>'}}
  %0 = weft.call_into "fft"(%x, %x) numbers() into %into {attrs = array<i64: 0, 0, 0>, into_pairs} : (tensor<4xf32>, tensor<4xf32>) into tensor<4x3xf32>
  return
}
