// Reverse and forward code of reductions and of products of matrices.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- sum ---===//

func.func private @sum(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.sum %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// One cotangent to all elements behind a sum.
// CHECK-LABEL: func.func @sum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[D]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[RESHAPE]] to [2, 3] : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[BROADCAST]] : tensor<2x3xf32>
func.func @sum_vjp(%x: tensor<2x3xf32>, %d: tensor<2xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @sum(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @sum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[DX]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[SUM]] : tensor<2xf32>
func.func @sum_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @sum(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- mean ---===//

func.func private @mean(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.mean %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// As of sum, divided by how many they are.
// CHECK-LABEL: func.func @mean_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[CONSTANT]] : tensor<2xf32>, tensor<f32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[DIVIDE]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[RESHAPE]] to [2, 3] : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[BROADCAST]] : tensor<2x3xf32>
func.func @mean_vjp(%x: tensor<2x3xf32>, %d: tensor<2xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @mean(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @mean_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[MEAN:.*]] = weft.mean %[[DX]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[MEAN]] : tensor<2xf32>
func.func @mean_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @mean(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- prod ---===//

func.func private @prod(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.prod %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// The product of all others, from both sides, so that zeros need no care.
// CHECK-LABEL: func.func @prod_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT: %[[CUMPROD:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT: %[[CUMPROD2:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true, reverse = true} : tensor<4xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[CUMPROD]], %[[CUMPROD2]] : tensor<4xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[MULTIPLY]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT: return %[[MULTIPLY2]] : tensor<4xf32>
func.func @prod_vjp(%x: tensor<4xf32>, %d: tensor<f32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @prod(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @prod_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT: %[[CUMPROD:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT: %[[CUMPROD2:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true, reverse = true} : tensor<4xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[CUMPROD]], %[[CUMPROD2]] : tensor<4xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DX]], %[[MULTIPLY]] : tensor<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[MULTIPLY2]] {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[SUM]] : tensor<f32>
func.func @prod_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<f32> {
  %0:2 = weft.jvp @prod(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

//===--- max ---===//

func.func private @max(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.max %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// Shared by those that are equal to the largest.
// CHECK-LABEL: func.func @max_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[MAX:.*]] = weft.max %[[X]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[MAX]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[RESHAPE2:.*]] = weft.reshape %[[D]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[RESHAPE2]], %[[SUM]] : tensor<2x1xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DIVIDE]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x1xf32>, tensor<f32>
// CHECK-NEXT: return %[[SELECT]] : tensor<2x3xf32>
func.func @max_vjp(%x: tensor<2x3xf32>, %d: tensor<2xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @max(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @max_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[MAX:.*]] = weft.max %[[X]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[MAX]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DX]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[SELECT]], %[[SUM]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[SUM2:.*]] = weft.sum %[[DIVIDE]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[SUM2]] : tensor<2xf32>
func.func @max_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @max(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- min ---===//

func.func private @min(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.min %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// Shared by those that are equal to the smallest.
// CHECK-LABEL: func.func @min_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[MIN:.*]] = weft.min %[[X]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[MIN]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[RESHAPE2:.*]] = weft.reshape %[[D]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[RESHAPE2]], %[[SUM]] : tensor<2x1xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DIVIDE]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x1xf32>, tensor<f32>
// CHECK-NEXT: return %[[SELECT]] : tensor<2x3xf32>
func.func @min_vjp(%x: tensor<2x3xf32>, %d: tensor<2xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @min(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @min_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[MIN:.*]] = weft.min %[[X]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[MIN]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DX]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[SELECT]], %[[SUM]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT: %[[SUM2:.*]] = weft.sum %[[DIVIDE]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[SUM2]] : tensor<2xf32>
func.func @min_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @min(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- matmul ---===//

func.func private @matmul(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>) -> tensor<5x2x4xf32> {
  %0 = weft.matmul %x, %y {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}
// Products of the cotangent and the other matrix, transposed by attributes; summed over the batch that one did not have.
// CHECK-LABEL: func.func @matmul_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<4x3xf32>, %[[D:[a-z0-9]+]]: tensor<5x2x4xf32>
// CHECK-NEXT: %[[MATMUL:.*]] = weft.matmul %[[D]], %[[Y]] : (tensor<5x2x4xf32>, tensor<4x3xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT: %[[MATMUL2:.*]] = weft.matmul %[[D]], %[[X]] {transpose_lhs = true} : (tensor<5x2x4xf32>, tensor<5x2x3xf32>) -> tensor<5x4x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[MATMUL2]] {axes = array<i64: 0>} : (tensor<5x4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[MATMUL]], %[[SUM]] : tensor<5x2x3xf32>, tensor<4x3xf32>
func.func @matmul_vjp(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>, %d: tensor<5x2x4xf32>) -> (tensor<5x2x3xf32>, tensor<4x3xf32>) {
  %0:3 = weft.vjp @matmul(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<5x2x4xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<4x3xf32>)
  return %0#1, %0#2 : tensor<5x2x3xf32>, tensor<4x3xf32>
}
// Of matrices that are too large to be kept for each batch it is one sum over all rows.
func.func private @many(%x: tensor<32x128x512xf32>, %y: tensor<512x2048xf32>) -> tensor<32x128x2048xf32> {
  %0 = weft.matmul %x, %y : (tensor<32x128x512xf32>, tensor<512x2048xf32>) -> tensor<32x128x2048xf32>
  return %0 : tensor<32x128x2048xf32>
}
// CHECK-LABEL: func.func @many_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32x128x512xf32>, %[[Y:[a-z0-9]+]]: tensor<512x2048xf32>, %[[D:[a-z0-9]+]]: tensor<32x128x2048xf32>
// CHECK-NEXT: %[[XS:.*]] = weft.reshape %[[X]] to [4096, 512]
// CHECK-NEXT: %[[DS:.*]] = weft.reshape %[[D]] to [4096, 2048]
// CHECK-NEXT: %[[DY:.*]] = weft.matmul %[[XS]], %[[DS]] {transpose_lhs = true} : (tensor<4096x512xf32>, tensor<4096x2048xf32>) -> tensor<512x2048xf32>
// CHECK-NEXT: return %[[DY]]
func.func @many_vjp(%x: tensor<32x128x512xf32>, %y: tensor<512x2048xf32>, %d: tensor<32x128x2048xf32>) -> tensor<512x2048xf32> {
  %0:2 = weft.vjp @many(%x, %y) cotangents(%d) wrt [1]
      : (tensor<32x128x512xf32>, tensor<512x2048xf32>, tensor<32x128x2048xf32>) -> (tensor<32x128x2048xf32>, tensor<512x2048xf32>)
  return %0#1 : tensor<512x2048xf32>
}

// CHECK-LABEL: func.func @matmul_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<4x3xf32>, %[[DX:[a-z0-9]+]]: tensor<5x2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK-NEXT: %[[MATMUL:.*]] = weft.matmul %[[DX]], %[[Y]] {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT: %[[MATMUL2:.*]] = weft.matmul %[[X]], %[[DY]] {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[MATMUL]], %[[MATMUL2]] : tensor<5x2x4xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<5x2x4xf32>
func.func @matmul_jvp(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>, %dx: tensor<5x2x3xf32>, %dy: tensor<4x3xf32>) -> tensor<5x2x4xf32> {
  %0:2 = weft.jvp @matmul(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<5x2x3xf32>, tensor<4x3xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x4xf32>)
  return %0#1 : tensor<5x2x4xf32>
}
