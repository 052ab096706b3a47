// Reverse and forward code of ops of every kind.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- tanh ---===//

func.func private @tanh(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.tanh %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @tanh_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[TANH:.*]] = weft.tanh %[[A0]] : tensor<3xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<3xf32>
// CHECK-NEXT:   %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[MULTIPLY]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[A1]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT:   return %[[MULTIPLY2]] : tensor<3xf32>
func.func @tanh_vjp(%x: tensor<3xf32>, %dr: tensor<3xf32>) -> (tensor<3xf32>) {
  %0:2 = weft.vjp @tanh(%x) cotangents(%dr) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @tanh_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[TANH:.*]] = weft.tanh %[[A0]] : tensor<3xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<3xf32>
// CHECK-NEXT:   %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[MULTIPLY]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[A1]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT:   return %[[MULTIPLY2]] : tensor<3xf32>
func.func @tanh_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @tanh(%x) tangents(%dx) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- divide ---===//

func.func private @divide(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.divide %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @divide_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[A0]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[DIVIDE2:.*]] = weft.divide %[[A2]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[A2]], %[[DIVIDE]] : tensor<2x3xf32>
// CHECK-NEXT:   %[[DIVIDE3:.*]] = weft.divide %[[MULTIPLY]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[NEGATE:.*]] = weft.negate %[[DIVIDE3]] : tensor<2x3xf32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[NEGATE]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT:   return %[[DIVIDE2]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @divide_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dr: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @divide(%x, %y) cotangents(%dr) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @divide_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[A0]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[DIVIDE2:.*]] = weft.divide %[[A2]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[A3]], %[[DIVIDE]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT:   %[[DIVIDE3:.*]] = weft.divide %[[MULTIPLY]], %[[A1]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT:   %[[NEGATE:.*]] = weft.negate %[[DIVIDE3]] : tensor<2x3xf32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[DIVIDE2]], %[[NEGATE]] : tensor<2x3xf32>
// CHECK-NEXT:   return %[[ADD]] : tensor<2x3xf32>
func.func @divide_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @divide(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- select ---===//

func.func private @select(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<f32>) -> tensor<3xf32> {
  %0 = weft.select %p, %x, %y : tensor<3xi1>, tensor<3xf32>, tensor<f32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @select_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[A0]], %[[A3]], %[[CONSTANT]] : tensor<3xi1>, tensor<3xf32>, tensor<f32>
// CHECK-NEXT:   %[[SELECT2:.*]] = weft.select %[[A0]], %[[CONSTANT]], %[[A3]] : tensor<3xi1>, tensor<f32>, tensor<3xf32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[SELECT2]] {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
// CHECK-NEXT:   return %[[SELECT]], %[[SUM]] : tensor<3xf32>, tensor<f32>
func.func @select_vjp(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<f32>, %dr: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %0:3 = weft.vjp @select(%p, %x, %y) cotangents(%dr) wrt [1, 2]
      : (tensor<3xi1>, tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>)
  return %0#1, %0#2 : tensor<3xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @select_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}, %[[A4:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[A0]], %[[A3]], %[[CONSTANT]] : tensor<3xi1>, tensor<3xf32>, tensor<f32>
// CHECK-NEXT:   %[[SELECT2:.*]] = weft.select %[[A0]], %[[CONSTANT]], %[[A4]] : tensor<3xi1>, tensor<f32>, tensor<f32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[SELECT]], %[[SELECT2]] : tensor<3xf32>
// CHECK-NEXT:   return %[[ADD]] : tensor<3xf32>
func.func @select_jvp(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<f32>, %dx: tensor<3xf32>, %dy: tensor<f32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @select(%p, %x, %y) tangents(%dx, %dy) wrt [1, 2]
      : (tensor<3xi1>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- sum ---===//

func.func private @sum(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.sum %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func @sum_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[RESHAPE:.*]] = weft.reshape %[[A1]] {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[RESHAPE]] {shape = array<i64: 2, 3>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   return %[[BROADCAST]] : tensor<2x3xf32>
func.func @sum_vjp(%x: tensor<2x3xf32>, %dr: tensor<2xf32>) -> (tensor<2x3xf32>) {
  %0:2 = weft.vjp @sum(%x) cotangents(%dr) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @sum_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[A1]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return %[[SUM]] : tensor<2xf32>
func.func @sum_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @sum(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- max ---===//

func.func private @max(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = weft.max %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func @max_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[MAX:.*]] = weft.max %[[A0]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[RESHAPE:.*]] = weft.reshape %[[MAX]] {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[EQUAL:.*]] = weft.equal %[[A0]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT:   %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[RESHAPE2:.*]] = weft.reshape %[[A1]] {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[RESHAPE2]], %[[SUM]] : tensor<2x1xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DIVIDE]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x1xf32>, tensor<f32>
// CHECK-NEXT:   return %[[SELECT]] : tensor<2x3xf32>
func.func @max_vjp(%x: tensor<2x3xf32>, %dr: tensor<2xf32>) -> (tensor<2x3xf32>) {
  %0:2 = weft.vjp @max(%x) cotangents(%dr) wrt [0]
      : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @max_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[MAX:.*]] = weft.max %[[A0]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[RESHAPE:.*]] = weft.reshape %[[MAX]] {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[EQUAL:.*]] = weft.equal %[[A0]], %[[RESHAPE]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT:   %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<2x3xi1>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[CAST]] {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[A1]], %[[CONSTANT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[SELECT]], %[[SUM]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK-NEXT:   %[[SUM2:.*]] = weft.sum %[[DIVIDE]] {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return %[[SUM2]] : tensor<2xf32>
func.func @max_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @max(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- prod ---===//

func.func private @prod(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.prod %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @prod_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[BEFORE:.*]] = weft.cumprod %[[A0]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT:   %[[BEHIND:.*]] = weft.cumprod %[[A0]] {axis = 0 : i64, exclusive = true, reverse = true} : tensor<4xf32>
// CHECK-NEXT:   %[[OTHERS:.*]] = weft.multiply %[[BEFORE]], %[[BEHIND]] : tensor<4xf32>
// CHECK-NEXT:   %[[MULTIPLY4:.*]] = weft.multiply %[[A1]], %[[OTHERS]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:   return %[[MULTIPLY4]] : tensor<4xf32>
func.func @prod_vjp(%x: tensor<4xf32>, %dr: tensor<f32>) -> (tensor<4xf32>) {
  %0:2 = weft.vjp @prod(%x) cotangents(%dr) wrt [0]
      : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @prod_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[BEFORE:.*]] = weft.cumprod %[[A0]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT:   %[[BEHIND:.*]] = weft.cumprod %[[A0]] {axis = 0 : i64, exclusive = true, reverse = true} : tensor<4xf32>
// CHECK-NEXT:   %[[OTHERS:.*]] = weft.multiply %[[BEFORE]], %[[BEHIND]] : tensor<4xf32>
// CHECK-NEXT:   %[[MULTIPLY4:.*]] = weft.multiply %[[A1]], %[[OTHERS]] : tensor<4xf32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[MULTIPLY4]] {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:   return %[[SUM]] : tensor<f32>
func.func @prod_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<f32> {
  %0:2 = weft.jvp @prod(%x) tangents(%dx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

//===--- matmul ---===//

func.func private @matmul(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>) -> tensor<5x2x4xf32> {
  %0 = weft.matmul %x, %y {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}
// CHECK-LABEL: func.func @matmul_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[MATMUL:.*]] = weft.matmul %[[A2]], %[[A1]] : (tensor<5x2x4xf32>, tensor<4x3xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT:   %[[MATMUL2:.*]] = weft.matmul %[[A2]], %[[A0]] {transpose_lhs = true} : (tensor<5x2x4xf32>, tensor<5x2x3xf32>) -> tensor<5x4x3xf32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[MATMUL2]] {axes = array<i64: 0>} : (tensor<5x4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:   return %[[MATMUL]], %[[SUM]] : tensor<5x2x3xf32>, tensor<4x3xf32>
func.func @matmul_vjp(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>, %dr: tensor<5x2x4xf32>) -> (tensor<5x2x3xf32>, tensor<4x3xf32>) {
  %0:3 = weft.vjp @matmul(%x, %y) cotangents(%dr) wrt [0, 1]
      : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<5x2x4xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<4x3xf32>)
  return %0#1, %0#2 : tensor<5x2x3xf32>, tensor<4x3xf32>
}
// CHECK-LABEL: func.func @matmul_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[MATMUL:.*]] = weft.matmul %[[A2]], %[[A1]] {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   %[[MATMUL2:.*]] = weft.matmul %[[A0]], %[[A3]] {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[MATMUL]], %[[MATMUL2]] : tensor<5x2x4xf32>
// CHECK-NEXT:   return %[[ADD]] : tensor<5x2x4xf32>
func.func @matmul_jvp(%x: tensor<5x2x3xf32>, %y: tensor<4x3xf32>, %dx: tensor<5x2x3xf32>, %dy: tensor<4x3xf32>) -> tensor<5x2x4xf32> {
  %0:2 = weft.jvp @matmul(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<5x2x3xf32>, tensor<4x3xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x4xf32>)
  return %0#1 : tensor<5x2x4xf32>
}

//===--- broadcast ---===//

func.func private @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = weft.broadcast %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// CHECK-LABEL: func.func @broadcast_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[A1]] {axes = array<i64: 0>} : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:   %[[SUM2:.*]] = weft.sum %[[SUM]] {axes = array<i64: 1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:   return %[[SUM2]] : tensor<3x1xf32>
func.func @broadcast_vjp(%x: tensor<3x1xf32>, %dr: tensor<2x3x4xf32>) -> (tensor<3x1xf32>) {
  %0:2 = weft.vjp @broadcast(%x) cotangents(%dr) wrt [0]
      : (tensor<3x1xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x1xf32>)
  return %0#1 : tensor<3x1xf32>
}
// CHECK-LABEL: func.func @broadcast_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[A1]] {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:   return %[[BROADCAST]] : tensor<2x3x4xf32>
func.func @broadcast_jvp(%x: tensor<3x1xf32>, %dx: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0:2 = weft.jvp @broadcast(%x) tangents(%dx) wrt [0]
      : (tensor<3x1xf32>, tensor<3x1xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return %0#1 : tensor<2x3x4xf32>
}

//===--- slice ---===//

func.func private @slice(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = weft.slice %x {starts = array<i64: 1>, limits = array<i64: 6>, strides = array<i64: 3>} : (tensor<8xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func @slice_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[PAD:.*]] = weft.pad %[[A1]], %[[CONSTANT]] {high = array<i64: 3>, interior = array<i64: 2>, low = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT:   return %[[PAD]] : tensor<8xf32>
func.func @slice_vjp(%x: tensor<8xf32>, %dr: tensor<2xf32>) -> (tensor<8xf32>) {
  %0:2 = weft.vjp @slice(%x) cotangents(%dr) wrt [0]
      : (tensor<8xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}
// CHECK-LABEL: func.func @slice_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SLICE:.*]] = weft.slice %[[A1]] {limits = array<i64: 6>, starts = array<i64: 1>, strides = array<i64: 3>} : (tensor<8xf32>) -> tensor<2xf32>
// CHECK-NEXT:   return %[[SLICE]] : tensor<2xf32>
func.func @slice_jvp(%x: tensor<8xf32>, %dx: tensor<8xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @slice(%x) tangents(%dx) wrt [0]
      : (tensor<8xf32>, tensor<8xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- concatenate ---===//

func.func private @concatenate(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// CHECK-LABEL: func.func @concatenate_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SLICE:.*]] = weft.slice %[[A2]] {limits = array<i64: 2>, starts = array<i64: 0>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[SLICE2:.*]] = weft.slice %[[A2]] {limits = array<i64: 5>, starts = array<i64: 2>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<3xf32>
// CHECK-NEXT:   return %[[SLICE]], %[[SLICE2]] : tensor<2xf32>, tensor<3xf32>
func.func @concatenate_vjp(%x: tensor<2xf32>, %y: tensor<3xf32>, %dr: tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @concatenate(%x, %y) cotangents(%dr) wrt [0, 1]
      : (tensor<2xf32>, tensor<3xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<2xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @concatenate_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONCATENATE:.*]] = weft.concatenate %[[A2]], %[[A3]] {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:   return %[[CONCATENATE]] : tensor<5xf32>
func.func @concatenate_jvp(%x: tensor<2xf32>, %y: tensor<3xf32>, %dx: tensor<2xf32>, %dy: tensor<3xf32>) -> tensor<5xf32> {
  %0:2 = weft.jvp @concatenate(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %0#1 : tensor<5xf32>
}

//===--- pad ---===//

func.func private @pad(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<6xf32> {
  %0 = weft.pad %x, %y {low = array<i64: 1>, high = array<i64: 2>, interior = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// CHECK-LABEL: func.func @pad_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SLICE:.*]] = weft.slice %[[A2]] {limits = array<i64: 4>, starts = array<i64: 1>, strides = array<i64: 2>} : (tensor<6xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<false> : tensor<i1>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] {shape = array<i64: 2>} : (tensor<i1>) -> tensor<2xi1>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<true> : tensor<i1>
// CHECK-NEXT:   %[[PAD:.*]] = weft.pad %[[BROADCAST]], %[[CONSTANT2]] {high = array<i64: 2>, interior = array<i64: 1>, low = array<i64: 1>} : (tensor<2xi1>, tensor<i1>) -> tensor<6xi1>
// CHECK-NEXT:   %[[CONSTANT3:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[SELECT:.*]] = weft.select %[[PAD]], %[[A2]], %[[CONSTANT3]] : tensor<6xi1>, tensor<6xf32>, tensor<f32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[SELECT]] {axes = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
// CHECK-NEXT:   return %[[SLICE]], %[[SUM]] : tensor<2xf32>, tensor<f32>
func.func @pad_vjp(%x: tensor<2xf32>, %y: tensor<f32>, %dr: tensor<6xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %0:3 = weft.vjp @pad(%x, %y) cotangents(%dr) wrt [0, 1]
      : (tensor<2xf32>, tensor<f32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<2xf32>, tensor<f32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @pad_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[PAD:.*]] = weft.pad %[[A2]], %[[A3]] {high = array<i64: 2>, interior = array<i64: 1>, low = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT:   return %[[PAD]] : tensor<6xf32>
func.func @pad_jvp(%x: tensor<2xf32>, %y: tensor<f32>, %dx: tensor<2xf32>, %dy: tensor<f32>) -> tensor<6xf32> {
  %0:2 = weft.jvp @pad(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %0#1 : tensor<6xf32>
}

//===--- gather ---===//

func.func private @gather(%x: tensor<3x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// CHECK-LABEL: func.func @gather_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] {shape = array<i64: 3, 2>} : (tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT:   %[[SCATTER_ADD:.*]] = weft.scatter_add %[[BROADCAST]], %[[A1]], %[[A2]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   return %[[SCATTER_ADD]] : tensor<3x2xf32>
func.func @gather_vjp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %dr: tensor<4x2xf32>) -> (tensor<3x2xf32>) {
  %0:2 = weft.vjp @gather(%x, %i) cotangents(%dr) wrt [0]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>)
  return %0#1 : tensor<3x2xf32>
}
// CHECK-LABEL: func.func @gather_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[GATHER:.*]] = weft.gather %[[A2]], %[[A1]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
// CHECK-NEXT:   return %[[GATHER]] : tensor<4x2xf32>
func.func @gather_jvp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %dx: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %0:2 = weft.jvp @gather(%x, %i) tangents(%dx) wrt [0]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<3x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  return %0#1 : tensor<4x2xf32>
}

//===--- cast ---===//

func.func private @cast(%x: tensor<2xf32>) -> tensor<2xf64> {
  %0 = weft.cast %x to f64 : tensor<2xf32>
  return %0 : tensor<2xf64>
}
// CHECK-LABEL: func.func @cast_vjp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CAST:.*]] = weft.cast %[[A1]] to f32 : tensor<2xf64>
// CHECK-NEXT:   return %[[CAST]] : tensor<2xf32>
func.func @cast_vjp(%x: tensor<2xf32>, %dr: tensor<2xf64>) -> (tensor<2xf32>) {
  %0:2 = weft.vjp @cast(%x) cotangents(%dr) wrt [0]
      : (tensor<2xf32>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
// CHECK-LABEL: func.func @cast_jvp(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CAST:.*]] = weft.cast %[[A1]] to f64 : tensor<2xf32>
// CHECK-NEXT:   return %[[CAST]] : tensor<2xf64>
func.func @cast_jvp(%x: tensor<2xf32>, %dx: tensor<2xf32>) -> tensor<2xf64> {
  %0:2 = weft.jvp @cast(%x) tangents(%dx) wrt [0]
      : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf64>, tensor<2xf64>)
  return %0#1 : tensor<2xf64>
}

