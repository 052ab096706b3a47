// Branches in reverse: the reverse of an op branches as the op did, adds to the cotangents of what its branches use
// from around them, and gets what it needs of the branches' values as further results of the op.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

// Each branch adds to the cotangent of x; of y, which one branch uses, the other hands on zeros. The maximum, which
// is no elementwise op, is kept; exp is computed again from x, which can be seen.
func.func private @choose(%x: tensor<3xf32>, %y: tensor<3xf32>, %p: i1) -> tensor<3xf32> {
  %0 = scf.if %p -> tensor<3xf32> {
    %1 = weft.exp %x : tensor<3xf32>
    %2 = weft.max %1 {axes = array<i64: 0>, keepdims = true} : (tensor<3xf32>) -> tensor<1xf32>
    %3 = weft.multiply %1, %2 : tensor<3xf32>, tensor<1xf32>
    scf.yield %3 : tensor<3xf32>
  } else {
    %1 = weft.multiply %x, %y : tensor<3xf32>
    scf.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[IF:.*]]:2 = scf.if %[[A2]] -> (tensor<3xf32>, tensor<1xf32>) {
// CHECK-NEXT:       %[[EXP:.*]] = weft.exp %[[A0]] : tensor<3xf32>
// CHECK-NEXT:       %[[MAX:.*]] = weft.max %[[EXP]] {axes = array<i64: 0>, keepdims = true} : (tensor<3xf32>) -> tensor<1xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[EXP]], %[[MAX]] : tensor<3xf32>, tensor<1xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[MAX]] : tensor<3xf32>, tensor<1xf32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[A0]], %[[A1]] : tensor<3xf32>
// CHECK-NEXT:       %[[STACK_EMPTY:.*]] = weft.stack_empty() : tensor<1xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY2]], %[[STACK_EMPTY]] : tensor<3xf32>, tensor<1xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[IF2:.*]]:2 = scf.if %[[A2]] -> (tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT:       %[[EXP2:.*]] = weft.exp %[[A0]] : tensor<3xf32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[A3]], %[[IF]]#1 : tensor<3xf32>, tensor<1xf32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[A3]], %[[EXP2]] : tensor<3xf32>
// CHECK-NEXT:       %[[SUM:.*]] = weft.sum %[[MULTIPLY4]] {axes = array<i64: 0>, keepdims = true} : (tensor<3xf32>) -> tensor<1xf32>
// CHECK-NEXT:       %[[EQUAL:.*]] = weft.equal %[[EXP2]], %[[IF]]#1 : tensor<3xf32>, tensor<1xf32>
// CHECK-NEXT:       %[[CAST:.*]] = weft.cast %[[EQUAL]] to f32 : tensor<3xi1>
// CHECK-NEXT:       %[[SUM2:.*]] = weft.sum %[[CAST]] {axes = array<i64: 0>, keepdims = true} : (tensor<3xf32>) -> tensor<1xf32>
// CHECK-NEXT:       %[[DIVIDE:.*]] = weft.divide %[[SUM]], %[[SUM2]] : tensor<1xf32>
// CHECK-NEXT:       %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[DIVIDE]], %[[CONSTANT]] : tensor<3xi1>, tensor<1xf32>, tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY3]], %[[SELECT]] : tensor<3xf32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[ADD]], %[[EXP2]] : tensor<3xf32>
// CHECK-NEXT:       %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT2]] to [3] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY5]], %[[BROADCAST]] : tensor<3xf32>, tensor<3xf32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %[[MULTIPLY6:.*]] = weft.multiply %[[A3]], %[[A1]] : tensor<3xf32>
// CHECK-NEXT:       %[[MULTIPLY7:.*]] = weft.multiply %[[A3]], %[[A0]] : tensor<3xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY6]], %[[MULTIPLY7]] : tensor<3xf32>, tensor<3xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[IF2]]#0, %[[IF2]]#1 : tensor<3xf32>, tensor<3xf32>
func.func @one_of_two(%x: tensor<3xf32>, %y: tensor<3xf32>, %p: i1, %d: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @choose(%x, %y, %p) cotangents(%d) wrt [0, 1]
      : (tensor<3xf32>, tensor<3xf32>, i1, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<3xf32>, tensor<3xf32>
}

// Values of one type from different cases share a result: only one of them is computed. A case that keeps nothing
// hands on whatever memory holds.
func.func private @cases(%x: tensor<4xf32>, %i: index) -> tensor<f32> {
  %0 = scf.index_switch %i -> tensor<f32>
  case 0 {
    %1 = weft.sum %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %2 = weft.multiply %1, %1 : tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  case 1 {
    %1 = weft.mean %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %2 = weft.sin %1 : tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  default {
    %1 = weft.constant dense<1.0> : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @one_of_many(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[INDEX_SWITCH:.*]]:2 = scf.index_switch %[[A1]] -> tensor<f32>, tensor<f32>
// CHECK-NEXT:     case 0 {
// CHECK-NEXT:       %[[SUM:.*]] = weft.sum %[[A0]] {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[SUM]], %[[SUM]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[SUM]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     case 1 {
// CHECK-NEXT:       %[[MEAN:.*]] = weft.mean %[[A0]] {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:       %[[SIN:.*]] = weft.sin %[[MEAN]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[SIN]], %[[MEAN]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     default {
// CHECK-NEXT:       %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[STACK_EMPTY:.*]] = weft.stack_empty() : tensor<f32>
// CHECK-NEXT:       scf.yield %[[CONSTANT]], %[[STACK_EMPTY]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[INDEX_SWITCH2:.*]] = scf.index_switch %[[A1]] -> tensor<4xf32>
// CHECK-NEXT:     case 0 {
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[CONSTANT2]], %[[INDEX_SWITCH]]#1 : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT2]], %[[INDEX_SWITCH]]#1 : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY2]], %[[MULTIPLY3]] : tensor<f32>
// CHECK-NEXT:       %[[BROADCAST:.*]] = weft.broadcast %[[ADD]] to [4] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:       scf.yield %[[BROADCAST]] : tensor<4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     case 1 {
// CHECK-NEXT:       %[[COS:.*]] = weft.cos %[[INDEX_SWITCH]]#1 : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[CONSTANT2]], %[[COS]] : tensor<f32>
// CHECK-NEXT:       %[[CONSTANT3:.*]] = weft.constant dense<4.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[DIVIDE:.*]] = weft.divide %[[MULTIPLY4]], %[[CONSTANT3]] : tensor<f32>
// CHECK-NEXT:       %[[BROADCAST2:.*]] = weft.broadcast %[[DIVIDE]] to [4] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:       scf.yield %[[BROADCAST2]] : tensor<4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     default {
// CHECK-NEXT:       %[[CONSTANT4:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[BROADCAST3:.*]] = weft.broadcast %[[CONSTANT4]] to [4] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:       scf.yield %[[BROADCAST3]] : tensor<4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[INDEX_SWITCH2]] : tensor<4xf32>
func.func @one_of_many(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %0:2 = weft.gradient @cases(%x, %i) wrt [0] : (tensor<4xf32>, index) -> (tensor<f32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// What the condition chooses is no part of it: an inactive branch has no reverse, nor has a result that nobody uses.
func.func private @inactive(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  %0:2 = scf.if %p -> (tensor<f32>, tensor<i32>) {
    %1 = weft.floor %x : tensor<f32>
    %2 = weft.cast %x to i32 : tensor<f32>
    scf.yield %1, %2 : tensor<f32>, tensor<i32>
  } else {
    %1 = weft.constant dense<2> : tensor<i32>
    %2 = weft.stop_gradient %x : tensor<f32>
    scf.yield %2, %1 : tensor<f32>, tensor<i32>
  }
  %3 = weft.multiply %0#0, %x : tensor<f32>
  return %3 : tensor<f32>
}
// CHECK-LABEL: func.func @nothing_to_reverse(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[IF:.*]]:2 = scf.if %[[A1]] -> (tensor<f32>, tensor<i32>) {
// CHECK-NEXT:       %[[FLOOR:.*]] = weft.floor %[[A0]] : tensor<f32>
// CHECK-NEXT:       %[[CAST:.*]] = weft.cast %[[A0]] to i32 : tensor<f32>
// CHECK-NEXT:       scf.yield %[[FLOOR]], %[[CAST]] : tensor<f32>, tensor<i32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %[[CONSTANT:.*]] = weft.constant dense<2> : tensor<i32>
// CHECK-NEXT:       %[[STOP_GRADIENT:.*]] = weft.stop_gradient %[[A0]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[STOP_GRADIENT]], %[[CONSTANT]] : tensor<f32>, tensor<i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[CONSTANT2]], %[[IF]]#0 : tensor<f32>
// CHECK-NEXT:     return %[[MULTIPLY]] : tensor<f32>
func.func @nothing_to_reverse(%x: tensor<f32>, %p: i1) -> tensor<f32> {
  %0:2 = weft.gradient @inactive(%x, %p) wrt [0] : (tensor<f32>, i1) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
