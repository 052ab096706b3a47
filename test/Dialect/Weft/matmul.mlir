// The op matmul: its text, its shapes, and what it says of operands without a product.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Vectors lack the dimension of the result, batches broadcast, and an inner size of 0 sums nothing.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%m: tensor<2x3xf32>, %v: tensor<3xf32>, %b: tensor<5x1x3x?xf32>, %c: tensor<4x?x7xf32>,
                  %left: tensor<2x0xi64>, %right: tensor<0x3xi64>) {
  // CHECK: weft.matmul %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %0 = weft.matmul %m, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %1 = weft.matmul %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} {transpose_rhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %2 = weft.matmul %m, %m {transpose_rhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %3 = weft.matmul %m, %m {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} : (tensor<5x1x3x?xf32>, tensor<4x?x7xf32>) -> tensor<5x4x3x7xf32>
  %4 = weft.matmul %b, %c : (tensor<5x1x3x?xf32>, tensor<4x?x7xf32>) -> tensor<5x4x3x7xf32>
  // CHECK: weft.matmul %{{.*}}, %{{.*}} : (tensor<2x0xi64>, tensor<0x3xi64>) -> tensor<2x3xi64>
  %5 = weft.matmul %left, %right : (tensor<2x0xi64>, tensor<0x3xi64>) -> tensor<2x3xi64>
  return
}

// -----

// A row of lhs is as long as a column of rhs.
func.func @inner(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error @below {{'weft.matmul' op the inner dimensions differ: lhs is (2, 3) and rhs is (4, 5), so 3 meets 4}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

// The words say which operand is transposed, since the shapes alone would fit.
func.func @inner_transposed(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @below {{'weft.matmul' op the inner dimensions differ: lhs is (2, 3) transposed and rhs is (3, 5), so 2 meets 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y {transpose_lhs = true} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// Batches of 2 and of 3 have no common size.
func.func @batches(%x: tensor<2x4x4xf32>, %y: tensor<3x4x4xf32>) {
  // expected-error @below {{'weft.matmul' op the batch dimensions do not broadcast: lhs is (2, 4, 4) and rhs is (3, 4, 4)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

// A scalar has no dimension to sum over; multiply takes it.
func.func @scalar(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error @below {{'weft.matmul' op rhs is a scalar, but a matrix product needs rank 1 or more}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

// A vector has no two dimensions to swap.
func.func @transposed_vector(%x: tensor<3xf32>, %y: tensor<3x2xf32>) {
  // expected-error @below {{'weft.matmul' op lhs has rank 1 and cannot be transposed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y {transpose_lhs = true} : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

// Promotion is a cast that stands in the text.
func.func @dtypes_differ(%x: tensor<2x3xf32>, %y: tensor<3xf64>) {
  // expected-error @below {{'weft.matmul' op the dtypes differ: lhs is f32 and rhs is f64}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2xf32>
  return
}

// -----

// Of bools there are no sums.
func.func @dtype(%x: tensor<3xi1>) {
  // expected-error @below {{'weft.matmul' op lhs must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128), but it is bool(3,)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %x : (tensor<3xi1>, tensor<3xi1>) -> tensor<i1>
  return
}

// -----

// The product of two operands of ordinary size may be no tensor at all.
func.func @too_large(%x: tensor<4294967296x1xf32>, %y: tensor<1x4294967296xf32>) {
  // expected-error @below {{'weft.matmul' op a tensor of shape (4294967296, 4294967296) has more bytes than 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = weft.matmul %x, %y : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}
