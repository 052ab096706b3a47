// Derivatives of the ops on stacks, which make derivatives of derivatives: a load adds to the cotangent of the entry, a
// store gives the value the entry's cotangent, and a larger stack's cotangent serves the smaller one.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

func.func private @known(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %0 = weft.stack_empty(%n) : tensor<?x4xf32>
  %1 = weft.stack_reserve %0 for %n : tensor<?x4xf32>
  %2 = weft.stack_store %x in %1[%n] : tensor<4xf32> in tensor<?x4xf32>
  %3 = weft.stack_load %2[%n] : tensor<?x4xf32> to tensor<4xf32>
  %4 = weft.stack_load %2[%n] : tensor<?x4xf32> to tensor<4xf32>
  %5 = weft.multiply %3, %4 : tensor<4xf32>
  return %5 : tensor<4xf32>
}
// CHECK-LABEL: func.func @reverse(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[A1]]) : tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_RESERVE:.*]] = weft.stack_reserve %[[STACK_EMPTY]] for %[[A1]] : tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_STORE:.*]] = weft.stack_store %[[A0]] in %[[STACK_RESERVE]][%[[A1]]] : tensor<4xf32> in tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_LOAD:.*]] = weft.stack_load %[[STACK_STORE]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[STACK_LOAD2:.*]] = weft.stack_load %[[STACK_STORE]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[A2]], %[[STACK_LOAD2]] : tensor<4xf32>
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[A2]], %[[STACK_LOAD]] : tensor<4xf32>
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[SIZE:.*]] = weft.size %[[STACK_STORE]] {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<i64>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [%[[SIZE]], 4] : (tensor<f32>) -> tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_ADD:.*]] = weft.stack_add %[[MULTIPLY2]] to %[[BROADCAST]][%[[A1]]] : tensor<4xf32> to tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_ADD2:.*]] = weft.stack_add %[[MULTIPLY]] to %[[STACK_ADD]][%[[A1]]] : tensor<4xf32> to tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_LOAD3:.*]] = weft.stack_load %[[STACK_ADD2]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     return %[[STACK_LOAD3]] : tensor<4xf32>
func.func @reverse(%x: tensor<4xf32>, %n: index, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @known(%x, %n) cotangents(%d) wrt [0] : (tensor<4xf32>, index, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[A1]]) : tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_RESERVE:.*]] = weft.stack_reserve %[[STACK_EMPTY]] for %[[A1]] : tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_STORE:.*]] = weft.stack_store %[[A0]] in %[[STACK_RESERVE]][%[[A1]]] : tensor<4xf32> in tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_LOAD:.*]] = weft.stack_load %[[STACK_STORE]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[STACK_LOAD2:.*]] = weft.stack_load %[[STACK_STORE]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[SIZE:.*]] = weft.size %[[STACK_RESERVE]] {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<i64>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [%[[SIZE]], 4] : (tensor<f32>) -> tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_STORE2:.*]] = weft.stack_store %[[A2]] in %[[BROADCAST]][%[[A1]]] : tensor<4xf32> in tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_LOAD3:.*]] = weft.stack_load %[[STACK_STORE2]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[STACK_LOAD4:.*]] = weft.stack_load %[[STACK_STORE2]][%[[A1]]] : tensor<?x4xf32> to tensor<4xf32>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[STACK_LOAD3]], %[[STACK_LOAD2]] : tensor<4xf32>
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[STACK_LOAD4]], %[[STACK_LOAD]] : tensor<4xf32>
// CHECK-NEXT:     %[[ADD:.*]] = weft.add %[[MULTIPLY]], %[[MULTIPLY2]] : tensor<4xf32>
// CHECK-NEXT:     return %[[ADD]] : tensor<4xf32>
func.func @forward(%x: tensor<4xf32>, %n: index, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @known(%x, %n) tangents(%d) wrt [0] : (tensor<4xf32>, index, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// Of unknown sizes, and added to.
func.func private @unknown(%x: tensor<?x4xf32>, %s: tensor<?xf32>, %at: index, %n: index) -> tensor<?x4xf32> {
  %0 = weft.stack_add %x to %s[%at] : tensor<?x4xf32> to tensor<?xf32>
  %1 = weft.stack_load %0[%at] sizes(%n) : tensor<?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func @unknown_reverse(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}, %[[A4:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[STACK_ADD:.*]] = weft.stack_add %[[A0]] to %[[A1]][%[[A2]]] : tensor<?x4xf32> to tensor<?xf32>
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[SIZE:.*]] = weft.size %[[STACK_ADD]] {axis = 0 : i64} : (tensor<?xf32>) -> tensor<i64>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [%[[SIZE]]] : (tensor<f32>) -> tensor<?xf32>
// CHECK-NEXT:     %[[STACK_ADD2:.*]] = weft.stack_add %[[A4]] to %[[BROADCAST]][%[[A2]]] : tensor<?x4xf32> to tensor<?xf32>
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[DIM:.*]] = tensor.dim %[[A0]], %[[CONSTANT2]] : tensor<?x4xf32>
// CHECK-NEXT:     %[[STACK_LOAD:.*]] = weft.stack_load %[[STACK_ADD2]][%[[A2]]] sizes(%[[DIM]]) : tensor<?xf32> to tensor<?x4xf32>
// CHECK-NEXT:     return %[[STACK_LOAD]], %[[STACK_ADD2]] : tensor<?x4xf32>, tensor<?xf32>
func.func @unknown_reverse(%x: tensor<?x4xf32>, %s: tensor<?xf32>, %at: index, %n: index, %d: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %0:3 = weft.vjp @unknown(%x, %s, %at, %n) cotangents(%d) wrt [0, 1]
      : (tensor<?x4xf32>, tensor<?xf32>, index, index, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?xf32>)
  return %0#1, %0#2 : tensor<?x4xf32>, tensor<?xf32>
}
// CHECK-LABEL: func.func @unknown_forward(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}, %[[A4:[a-z0-9]+]]: {{[^,)]*}}, %[[A5:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[STACK_ADD:.*]] = weft.stack_add %[[A4]] to %[[A5]][%[[A2]]] : tensor<?x4xf32> to tensor<?xf32>
// CHECK-NEXT:     %[[STACK_LOAD:.*]] = weft.stack_load %[[STACK_ADD]][%[[A2]]] sizes(%[[A3]]) : tensor<?xf32> to tensor<?x4xf32>
// CHECK-NEXT:     return %[[STACK_LOAD]] : tensor<?x4xf32>
func.func @unknown_forward(%x: tensor<?x4xf32>, %s: tensor<?xf32>, %at: index, %n: index, %d: tensor<?x4xf32>, %t: tensor<?xf32>) -> tensor<?x4xf32> {
  %0:2 = weft.jvp @unknown(%x, %s, %at, %n) tangents(%d, %t) wrt [0, 1]
      : (tensor<?x4xf32>, tensor<?xf32>, index, index, tensor<?x4xf32>, tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %0#1 : tensor<?x4xf32>
}
