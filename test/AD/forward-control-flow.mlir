// Forward mode through regions: tangents beside the results of branches and beside the state of loops, where they are
// active. Nothing is kept.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

func.func private @choose(%x: tensor<2xf32>, %p: i1) -> tensor<2xf32> {
  %0 = weft.exp %x : tensor<2xf32>
  %1:2 = scf.if %p -> (tensor<2xf32>, tensor<i32>) {
    %2 = weft.sin %0 : tensor<2xf32>
    %3 = weft.constant dense<1> : tensor<i32>
    scf.yield %2, %3 : tensor<2xf32>, tensor<i32>
  } else {
    %2 = weft.constant dense<3.0> : tensor<2xf32>
    %3 = weft.constant dense<2> : tensor<i32>
    scf.yield %2, %3 : tensor<2xf32>, tensor<i32>
  }
  %2 = weft.negate %1#0 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[EXP:.*]] = weft.exp %[[A0]] : tensor<2xf32>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[A2]], %[[EXP]] : tensor<2xf32>
// CHECK-NEXT:     %[[IF:.*]]:3 = scf.if %[[A1]] -> (tensor<2xf32>, tensor<i32>, tensor<2xf32>) {
// CHECK-NEXT:       %[[SIN:.*]] = weft.sin %[[EXP]] : tensor<2xf32>
// CHECK-NEXT:       %[[CONSTANT:.*]] = weft.constant dense<1> : tensor<i32>
// CHECK-NEXT:       %[[COS:.*]] = weft.cos %[[EXP]] : tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[MULTIPLY]], %[[COS]] : tensor<2xf32>
// CHECK-NEXT:       scf.yield %[[SIN]], %[[CONSTANT]], %[[MULTIPLY2]] : tensor<2xf32>, tensor<i32>, tensor<2xf32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       %[[CONSTANT2:.*]] = weft.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK-NEXT:       %[[CONSTANT3:.*]] = weft.constant dense<2> : tensor<i32>
// CHECK-NEXT:       %[[CONSTANT4:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT4]] to [2] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:       scf.yield %[[CONSTANT2]], %[[CONSTANT3]], %[[BROADCAST]] : tensor<2xf32>, tensor<i32>, tensor<2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[NEGATE:.*]] = weft.negate %[[IF]]#2 : tensor<2xf32>
// CHECK-NEXT:     return %[[NEGATE]] : tensor<2xf32>
func.func @branches(%x: tensor<2xf32>, %p: i1, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @choose(%x, %p) tangents(%d) wrt [0]
      : (tensor<2xf32>, i1, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// The second state depends on nothing that is differentiated, the third only through the first.
func.func private @count(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = weft.constant dense<1.0> : tensor<f32>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %one, %c = %one) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %0 = weft.multiply %a, %b : tensor<f32>
    %1 = weft.add %b, %one : tensor<f32>
    %2 = weft.sin %a : tensor<f32>
    scf.yield %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %r#2 : tensor<f32>
}
// CHECK-LABEL: func.func @counted(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT4:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[FOR:.*]]:5 = scf.for %[[IV:.*]] = %[[CONSTANT]] to %[[A1]] step %[[CONSTANT2]] iter_args(%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[CONSTANT3]], %[[IN3:.*]] = %[[CONSTANT3]], %[[IN4:.*]] = %[[A2]], %[[IN5:.*]] = %[[CONSTANT4]]) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN]], %[[IN2]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[IN2]], %[[CONSTANT3]] : tensor<f32>
// CHECK-NEXT:       %[[SIN:.*]] = weft.sin %[[IN]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[IN4]], %[[IN2]] : tensor<f32>
// CHECK-NEXT:       %[[COS:.*]] = weft.cos %[[IN]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[IN4]], %[[COS]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[ADD]], %[[SIN]], %[[MULTIPLY2]], %[[MULTIPLY3]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR]]#4 : tensor<f32>
func.func @counted(%x: tensor<f32>, %n: index, %d: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.jvp @count(%x, %n) tangents(%d) wrt [0]
      : (tensor<f32>, index, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

func.func private @until(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %0 = weft.sin %a : tensor<f32>
    %1 = weft.less %0, %limit : tensor<f32>
    %c = weft.item %1 : tensor<i1>
    scf.condition(%c) %0 : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %0 = weft.exp %a : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[WHILE:.*]]:2 = scf.while (%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[A2]]) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[SIN:.*]] = weft.sin %[[IN]] : tensor<f32>
// CHECK-NEXT:       %[[LESS:.*]] = weft.less %[[SIN]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       %[[ITEM:.*]] = weft.item %[[LESS]] : tensor<i1>
// CHECK-NEXT:       %[[COS:.*]] = weft.cos %[[IN]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN2]], %[[COS]] : tensor<f32>
// CHECK-NEXT:       scf.condition(%[[ITEM]]) %[[SIN]], %[[MULTIPLY]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     } do {
// CHECK-NEXT:     ^bb{{[0-9]+}}(%[[IN3:.*]]: tensor<f32>, %[[IN4:.*]]: tensor<f32>):
// CHECK-NEXT:       %[[EXP:.*]] = weft.exp %[[IN3]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[IN4]], %[[EXP]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[EXP]], %[[MULTIPLY2]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[WHILE]]#1 : tensor<f32>
func.func @other(%x: tensor<f32>, %limit: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.jvp @until(%x, %limit) tangents(%d) wrt [0]
      : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
