// A small model: the forward part once, with its print and its check, then adjoints from the last op to the first,
// for the arguments asked for. The call of @model is inlined.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

func.func private @model(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>, %b: tensor<2xf32>) -> tensor<8x2xf32> {
  %0 = weft.matmul %x, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = weft.add %0, %b : tensor<8x2xf32>, tensor<2xf32>
  %2 = weft.tanh %1 : tensor<8x2xf32>
  return %2 : tensor<8x2xf32>
}
func.func private @loss(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>, %b: tensor<2xf32>) -> tensor<f32> {
  %0 = func.call @model(%x, %w, %b) : (tensor<8x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  weft.print "activations {}", %0 : tensor<8x2xf32>
  %1 = weft.mean %0 {axes = array<i64: 0, 1>} : (tensor<8x2xf32>) -> tensor<f32>
  %2 = weft.equal %1, %1 : tensor<f32>
  weft.assert %2, "the loss is a number" : tensor<i1>
  return %1 : tensor<f32>
}
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[MATMUL:.*]] = weft.matmul %[[A0]], %[[A1]] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[MATMUL]], %[[A2]] : tensor<8x2xf32>, tensor<2xf32>
// CHECK-NEXT:   %[[TANH:.*]] = weft.tanh %[[ADD]] : tensor<8x2xf32>
// CHECK-NEXT:   weft.print "activations {}", %[[TANH]] : tensor<8x2xf32>
// CHECK-NEXT:   %[[MEAN:.*]] = weft.mean %[[TANH]] {axes = array<i64: 0, 1>} : (tensor<8x2xf32>) -> tensor<f32>
// CHECK-NEXT:   %[[EQUAL:.*]] = weft.equal %[[MEAN]], %[[MEAN]] : tensor<f32>
// CHECK-NEXT:   weft.assert %[[EQUAL]], "the loss is a number" : tensor<i1>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<1.600000e+01> : tensor<f32>
// CHECK-NEXT:   %[[DIVIDE:.*]] = weft.divide %[[CONSTANT]], %[[CONSTANT2]] : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[DIVIDE]] to [8, 2] : (tensor<f32>) -> tensor<8x2xf32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<8x2xf32>
// CHECK-NEXT:   %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[MULTIPLY]] : tensor<f32>, tensor<8x2xf32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[BROADCAST]], %[[SUBTRACT]] : tensor<8x2xf32>
// CHECK-NEXT:   %[[SUM:.*]] = weft.sum %[[MULTIPLY2]] {axes = array<i64: 0>} : (tensor<8x2xf32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[MATMUL2:.*]] = weft.matmul %[[A0]], %[[MULTIPLY2]] {transpose_lhs = true} : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:   return %[[MEAN]], %[[MATMUL2]], %[[SUM]] : tensor<f32>, tensor<4x2xf32>, tensor<2xf32>
func.func @train(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>, %b: tensor<2xf32>)
    -> (tensor<f32>, tensor<4x2xf32>, tensor<2xf32>) {
  %0:3 = weft.gradient @loss(%x, %w, %b) wrt [1, 2]
      : (tensor<8x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<4x2xf32>, tensor<2xf32>)
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<4x2xf32>, tensor<2xf32>
}
