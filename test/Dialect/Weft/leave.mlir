// What may be the end of a call, and what variables hold then.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt | FileCheck %s

// CHECK-LABEL: func @all
// CHECK: weft.on_stop [@w, @n] = %arg0, %arg1 : tensor<4xf32>, tensor<i32>
// CHECK: weft.outside %arg2 below %arg3 : tensor<5xi64>
// CHECK: weft.leave assertion "no", %arg0 : tensor<4xf32> leaving [@w, @n] = %arg0, %arg1 : tensor<4xf32>, tensor<i32>
// CHECK: weft.leave index "gather", %arg2, %arg3 : tensor<5xi64>, index
// CHECK: weft.leave shape "the sizes differ"
// CHECK: weft.leave value "{} is too many", %arg3 : index
// CHECK: weft.leave bounds "{} is outside", %arg3 : index
// CHECK: weft.check_sizes %{{.*}}, "{} is even", %arg3{{$}}
// CHECK: weft.check_sizes %{{.*}}, "{} is inside", %arg3 as bounds
// CHECK: weft.leave print "text" leaving [@n] = %arg1 : tensor<i32>
func.func @all(%w: tensor<4xf32>, %n: tensor<i32>, %i: tensor<5xi64>, %size: index) -> i1 {
  weft.on_stop [@w, @n] = %w, %n : tensor<4xf32>, tensor<i32>
  %0 = weft.outside %i below %size : tensor<5xi64>
  weft.leave assertion "no", %w : tensor<4xf32> leaving [@w, @n] = %w, %n : tensor<4xf32>, tensor<i32>
  weft.leave index "gather", %i, %size : tensor<5xi64>, index
  weft.leave shape "the sizes differ"
  weft.leave value "{} is too many", %size : index
  weft.leave bounds "{} is outside", %size : index
  weft.check_sizes %0, "{} is even", %size
  weft.check_sizes %0, "{} is inside", %size as bounds
  weft.leave print "text" leaving [@n] = %n : tensor<i32>
  return %0 : i1
}

// -----

func.func @counts(%w: tensor<4xf32>) {
  // expected-error@below {{'weft.on_stop' op wants one value for each variable}}
  weft.on_stop [@w, @n] = %w : tensor<4xf32>
  return
}

// -----

func.func @counts(%w: tensor<4xf32>) {
  // expected-error@below {{'weft.leave' op wants one value for each variable}}
  weft.leave print "text" leaving [@w, @n] = %w : tensor<4xf32>
  return
}

// -----

func.func @indices(%i: tensor<4xi32>) {
  // expected-error@below {{'weft.leave' op of kind index wants the indices and the size of the axis}}
  weft.leave index "gather", %i : tensor<4xi32>
  return
}

// -----

func.func @shape(%w: tensor<4xf32>) {
  // expected-error@below {{'weft.leave' op of kind shape takes sizes alone}}
  weft.leave shape "no", %w : tensor<4xf32>
  return
}

// -----

func.func @interrupt(%w: tensor<4xf32>) {
  // expected-error@below {{'weft.leave' op of kind interrupt takes no values}}
  weft.leave interrupt "", %w : tensor<4xf32>
  return
}

// -----

func.func @kind() {
  // expected-error@below {{expected}}
  weft.leave nowhere "no"
  return
}

// -----

// CHECK-LABEL: func @host
// CHECK: weft.leave host "norm", %arg0 : tensor<4xf32> gives [tensor<?xf32>, tensor<i1>] leaving [@w] = %arg0 : tensor<4xf32>
// CHECK: weft.host_result 1 : tensor<i1>
// CHECK: weft.leave host "log" gives []{{$}}
func.func @host(%x: tensor<4xf32>) -> tensor<i1> {
  weft.leave host "norm", %x : tensor<4xf32> gives [tensor<?xf32>, tensor<i1>] leaving [@w] = %x : tensor<4xf32>
  %0 = weft.host_result 1 : tensor<i1>
  weft.leave host "log" gives []
  return %0 : tensor<i1>
}

// -----

func.func @gives_nothing() {
  // expected-error@below {{'weft.leave' op of kind host, and no other, says what types it gives}}
  weft.leave host "norm"
  return
}

// -----

func.func @print_gives() {
  // expected-error@below {{'weft.leave' op of kind host, and no other, says what types it gives}}
  weft.leave print "x" gives [tensor<f32>]
  return
}

// -----

func.func @no_tensor() {
  // expected-error@below {{'weft.leave' op gives 'index', which is no tensor}}
  weft.leave host "norm" gives [index]
  return
}

// -----

// A routine has an array of numbers, then buffers that it reads and those that it writes.
// CHECK-LABEL: func @routine
// CHECK: weft.leave routine "cholesky_f32", %arg0, %arg1, %arg2 : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32> leaving [@w] = %arg3 : memref<4xf32>
func.func @routine(%numbers: memref<10xi64>, %x: memref<3x3xf32>, %y: memref<3x3xf32>, %w: memref<4xf32>) {
  weft.leave routine "cholesky_f32", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32> leaving [@w] = %w : memref<4xf32>
  return
}

// -----

func.func @no_routine(%numbers: memref<10xi64>, %x: memref<3x3xf32>, %y: memref<3x3xf32>) {
  // expected-error@below {{'weft.leave' op of kind routine names an op with a dtype, but the library has no routine 'exp_f32'}}
  weft.leave routine "exp_f32", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32>
  return
}

// -----

func.func @no_dtype(%numbers: memref<10xi64>, %x: memref<3x3xf32>, %y: memref<3x3xf32>) {
  // expected-error@below {{names an op with a dtype, but the library has no routine 'cholesky'}}
  weft.leave routine "cholesky", %numbers, %x, %y : memref<10xi64>, memref<3x3xf32>, memref<3x3xf32>
  return
}

// -----

func.func @buffers(%numbers: memref<10xi64>, %x: memref<3x3xf32>) {
  // expected-error@below {{of kind routine takes an array of numbers and 1 buffers that 'cholesky' reads, then 1 that it writes}}
  weft.leave routine "cholesky_f32", %numbers, %x : memref<10xi64>, memref<3x3xf32>
  return
}

// -----

// Tensors have no place that it could write to.
func.func @on_tensors(%numbers: memref<10xi64>, %x: tensor<3x3xf32>) {
  // expected-error@below {{of kind routine takes an array of numbers}}
  weft.leave routine "cholesky_f32", %numbers, %x, %x : memref<10xi64>, tensor<3x3xf32>, tensor<3x3xf32>
  return
}
