// A recorded call stands where it is recorded, its effects too, and its reverse where it is pulled: anywhere behind, as often
// as one likes. A variable's cotangent is the sum over its reads.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s
// RUN: weft-run %s --entry=run --arg='dense<2.0> : tensor<f32>' --print | FileCheck %s --check-prefix=VALUE

func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  %0 = weft.multiply %x, %y : tensor<f32>
  weft.print "once {}", %0 : tensor<f32>
  %1 = weft.exp %0 : tensor<f32>
  %2 = weft.constant dense<1> : tensor<i32>
  return %1, %2 : tensor<f32>, tensor<i32>
}
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[ITEM:.*]] = weft.item %[[A3]] : tensor<i1>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[A0]], %[[A1]] : tensor<f32>
// CHECK-NEXT:     weft.print "once {}", %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     %[[EXP:.*]] = weft.exp %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<1> : tensor<i32>
// CHECK-NEXT:     weft.print "between"
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[A2]], %[[EXP]] : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY3:.*]] = weft.multiply %[[MULTIPLY2]], %[[A1]] : tensor<f32>
// CHECK-NEXT:     %[[IF:.*]] = scf.if %[[ITEM]] -> (tensor<f32>) {
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[MULTIPLY3]], %[[EXP]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[MULTIPLY4]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY5]] : tensor<f32>
// CHECK-NEXT:     } else {
// CHECK-NEXT:       scf.yield %[[A2]] : tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[EXP]], %[[CONSTANT]], %[[MULTIPLY3]], %[[IF]] : tensor<f32>, tensor<i32>, tensor<f32>, tensor<f32>
func.func @twice(%x: tensor<f32>, %y: tensor<f32>, %d: tensor<f32>, %q: tensor<i1>) -> (tensor<f32>, tensor<i32>, tensor<f32>, tensor<f32>) {
  %p = weft.item %q : tensor<i1>
  %0:3 = weft.record @f(%x, %y) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>, !weft.record)
  weft.print "between"
  %1 = weft.pull %0#2(%d) : (tensor<f32>) -> tensor<f32>
  %2 = scf.if %p -> tensor<f32> {
    %3 = weft.pull %0#2(%1) : (tensor<f32>) -> tensor<f32>
    scf.yield %3 : tensor<f32>
  } else {
    scf.yield %d : tensor<f32>
  }
  return %0#0, %0#1, %1, %2 : tensor<f32>, tensor<i32>, tensor<f32>, tensor<f32>
}

// One that is never pulled is a call.
// CHECK-LABEL: func.func @never(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[A0]], %[[A1]] : tensor<f32>
// CHECK-NEXT:     weft.print "once {}", %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     %[[EXP:.*]] = weft.exp %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     return %[[EXP]] : tensor<f32>
func.func @never(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0:3 = weft.record @f(%x, %y) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>, !weft.record)
  return %0#0 : tensor<f32>
}

// Reads in a loop, of one variable in two arguments, of which one is differentiated by.
weft.variable @v = dense<3.0> : tensor<f32>
func.func private @reads(%x: tensor<f32>, %v: !weft.var<tensor<f32>>, %w: !weft.var<tensor<f32>>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %other = weft.read %w : tensor<f32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (tensor<f32>) {
    %0 = weft.read %v : tensor<f32>
    %1 = weft.multiply %a, %0 : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  %0 = weft.multiply %r, %other : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @by_a_variable(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[HANDLE:.*]] = weft.handle @v : !weft.var<tensor<f32>>
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 2 : index
// CHECK-NEXT:     %[[READ:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT4:.*]] = arith.constant 2 : index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty() : tensor<2xf32>
// CHECK-NEXT:     %[[STACK_EMPTY2:.*]] = weft.stack_empty() : tensor<2xf32>
// CHECK-NEXT:     %[[FOR:.*]]:3 = scf.for %[[IV:.*]] = %[[CONSTANT]] to %[[CONSTANT3]] step %[[CONSTANT2]] iter_args(%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[STACK_EMPTY]], %[[IN3:.*]] = %[[STACK_EMPTY2]]) -> (tensor<f32>, tensor<2xf32>, tensor<2xf32>) {
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[IN2]][%[[IV]]] : tensor<f32> in tensor<2xf32>
// CHECK-NEXT:       %[[READ2:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:       %[[STACK_STORE2:.*]] = weft.stack_store %[[READ2]] in %[[IN3]][%[[IV]]] : tensor<f32> in tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN]], %[[READ2]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[STACK_STORE]], %[[STACK_STORE2]] : tensor<f32>, tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[A1]], %[[READ]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT5:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT6:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR2:.*]]:2 = scf.for %[[IV2:.*]] = %[[CONSTANT6]] to %[[CONSTANT4]] step %[[CONSTANT7]] iter_args(%[[IN4:.*]] = %[[MULTIPLY2]], %[[IN5:.*]] = %[[CONSTANT5]]) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[CONSTANT4]], %[[CONSTANT7]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV2]] : index
// CHECK-NEXT:       %[[STACK_LOAD:.*]] = weft.stack_load %[[FOR]]#1[%[[SUBI2]]] : tensor<2xf32> to tensor<f32>
// CHECK-NEXT:       %[[STACK_LOAD2:.*]] = weft.stack_load %[[FOR]]#2[%[[SUBI2]]] : tensor<2xf32> to tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[IN4]], %[[STACK_LOAD2]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[IN4]], %[[STACK_LOAD]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[IN5]], %[[MULTIPLY4]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY3]], %[[ADD]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR2]]#0, %[[FOR2]]#1 : tensor<f32>, tensor<f32>
func.func @by_a_variable(%x: tensor<f32>, %d: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %y, %r = weft.record @reads(%x, %v, %v) wrt [0, 1]
      : (tensor<f32>, !weft.var<tensor<f32>>, !weft.var<tensor<f32>>) -> (tensor<f32>, !weft.record)
  %0:2 = weft.pull %r(%d) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// x v v w with x = 2 and v = w = 3: by x it is 27, by v 36, by both v and w 54; and forward the same.
// VALUE: tensor(54,
// VALUE-NEXT: tensor(27,
// VALUE-NEXT: tensor(36,
// VALUE-NEXT: tensor(18,
// VALUE-NEXT: tensor(36,
// CHECK-LABEL: func.func @run(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[HANDLE:.*]] = weft.handle @v : !weft.var<tensor<f32>>
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CALL:.*]]:2 = call @by_a_variable(%[[A0]], %[[CONSTANT]]) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT4:.*]] = arith.constant 2 : index
// CHECK-NEXT:     %[[READ:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:     %[[FOR:.*]] = scf.for %[[IV:.*]] = %[[CONSTANT2]] to %[[CONSTANT4]] step %[[CONSTANT3]] iter_args(%[[IN:.*]] = %[[A0]]) -> (tensor<f32>) {
// CHECK-NEXT:       %[[READ2:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN]], %[[READ2]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[FOR]], %[[READ]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT5:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT5]], %[[FOR]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT6:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT8:.*]] = arith.constant 2 : index
// CHECK-NEXT:     %[[READ3:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT9:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[FOR2:.*]]:2 = scf.for %[[IV2:.*]] = %[[CONSTANT6]] to %[[CONSTANT8]] step %[[CONSTANT7]] iter_args(%[[IN2:.*]] = %[[A0]], %[[IN3:.*]] = %[[CONSTANT9]]) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[READ4:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[IN2]], %[[READ4]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[IN3]], %[[READ4]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY6:.*]] = weft.multiply %[[CONSTANT]], %[[IN2]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY5]], %[[MULTIPLY6]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY4]], %[[ADD]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[MULTIPLY7:.*]] = weft.multiply %[[FOR2]]#1, %[[READ3]] : tensor<f32>
// CHECK-NEXT:     return %[[MULTIPLY2]], %[[CALL]]#0, %[[CALL]]#1, %[[MULTIPLY3]], %[[MULTIPLY7]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
func.func @run(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %0:2 = func.call @by_a_variable(%x, %one) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %1:2 = weft.gradient @reads(%x, %v, %v) wrt [2]
      : (tensor<f32>, !weft.var<tensor<f32>>, !weft.var<tensor<f32>>) -> (tensor<f32>, tensor<f32>)
  %2:2 = weft.jvp @reads(%x, %v, %v) tangents(%one) wrt [1]
      : (tensor<f32>, !weft.var<tensor<f32>>, !weft.var<tensor<f32>>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %1#0, %0#0, %0#1, %1#1, %2#1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
