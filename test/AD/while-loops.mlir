// Other loops in reverse: the forward part counts its iterations, and the reverse is a counted loop. Stacks grow.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

// The condition hands its state on as it is, so the last time that it is computed has no reverse.
func.func private @until(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %0 = weft.less %a, %limit : tensor<f32>
    %c = weft.item %0 : tensor<i1>
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %0 = weft.multiply %a, %a : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}
// CHECK-LABEL: func.func @square_until(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 4 : index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[CONSTANT2]]) : tensor<?xf32>
// CHECK-NEXT:     %[[WHILE:.*]]:3 = scf.while (%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[CONSTANT]], %[[IN3:.*]] = %[[STACK_EMPTY]]) : (tensor<f32>, index, tensor<?xf32>) -> (tensor<f32>, index, tensor<?xf32>) {
// CHECK-NEXT:       %[[CONSTANT3:.*]] = arith.constant 1 : index
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[IN2]], %[[CONSTANT3]] : index
// CHECK-NEXT:       %[[STACK_RESERVE:.*]] = weft.stack_reserve %[[IN3]] for %[[ADDI]] : tensor<?xf32>
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[STACK_RESERVE]][%[[IN2]]] : tensor<f32> in tensor<?xf32>
// CHECK-NEXT:       %[[LESS:.*]] = weft.less %[[IN]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       %[[ITEM:.*]] = weft.item %[[LESS]] : tensor<i1>
// CHECK-NEXT:       scf.condition(%[[ITEM]]) %[[IN]], %[[IN2]], %[[STACK_STORE]] : tensor<f32>, index, tensor<?xf32>
// CHECK-NEXT:     } do {
// CHECK-NEXT:     ^bb{{[0-9]+}}(%[[IN4:.*]]: tensor<f32>, %[[IN5:.*]]: index, %[[IN6:.*]]: tensor<?xf32>):
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN4]], %[[IN4]] : tensor<f32>
// CHECK-NEXT:       %[[CONSTANT4:.*]] = arith.constant 1 : index
// CHECK-NEXT:       %[[ADDI2:.*]] = arith.addi %[[IN5]], %[[CONSTANT4]] : index
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[ADDI2]], %[[IN6]] : tensor<f32>, index, tensor<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT5:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT6:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR:.*]] = scf.for %[[IV:.*]] = %[[CONSTANT6]] to %[[WHILE]]#1 step %[[CONSTANT7]] iter_args(%[[IN7:.*]] = %[[CONSTANT5]]) -> (tensor<f32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[WHILE]]#1, %[[CONSTANT7]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV]] : index
// CHECK-NEXT:       %[[STACK_LOAD:.*]] = weft.stack_load %[[WHILE]]#2[%[[SUBI2]]] : tensor<?xf32> to tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[IN7]], %[[STACK_LOAD]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[IN7]], %[[STACK_LOAD]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY2]], %[[MULTIPLY3]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[ADD]] : tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR]] : tensor<f32>
func.func @square_until(%x: tensor<f32>, %limit: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @until(%x, %limit) wrt [0] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// The condition works on what it hands on, once more than the body iterations: the reverse of its last time comes first. Its
// effects stay where they were.
func.func private @working(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %limit = weft.constant dense<9.0> : tensor<f32>
  %r = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %0 = weft.multiply %a, %w : tensor<f32>
    weft.print "now {}", %0 : tensor<f32>
    %1 = weft.less %0, %limit : tensor<f32>
    %c = weft.item %1 : tensor<i1>
    scf.condition(%c) %0 : tensor<f32>
  } do {
  ^bb0(%b: tensor<f32>):
    %0 = weft.exp %b : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}
// CHECK-LABEL: func.func @work_in_condition(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<9.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 4 : index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[CONSTANT3]]) : tensor<?xf32>
// CHECK-NEXT:     %[[WHILE:.*]]:3 = scf.while (%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[CONSTANT2]], %[[IN3:.*]] = %[[STACK_EMPTY]]) : (tensor<f32>, index, tensor<?xf32>) -> (tensor<f32>, index, tensor<?xf32>) {
// CHECK-NEXT:       %[[CONSTANT4:.*]] = arith.constant 1 : index
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[IN2]], %[[CONSTANT4]] : index
// CHECK-NEXT:       %[[STACK_RESERVE:.*]] = weft.stack_reserve %[[IN3]] for %[[ADDI]] : tensor<?xf32>
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[STACK_RESERVE]][%[[IN2]]] : tensor<f32> in tensor<?xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       weft.print "now {}", %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:       %[[LESS:.*]] = weft.less %[[MULTIPLY]], %[[CONSTANT]] : tensor<f32>
// CHECK-NEXT:       %[[ITEM:.*]] = weft.item %[[LESS]] : tensor<i1>
// CHECK-NEXT:       scf.condition(%[[ITEM]]) %[[MULTIPLY]], %[[IN2]], %[[STACK_STORE]] : tensor<f32>, index, tensor<?xf32>
// CHECK-NEXT:     } do {
// CHECK-NEXT:     ^bb{{[0-9]+}}(%[[IN4:.*]]: tensor<f32>, %[[IN5:.*]]: index, %[[IN6:.*]]: tensor<?xf32>):
// CHECK-NEXT:       %[[EXP:.*]] = weft.exp %[[IN4]] : tensor<f32>
// CHECK-NEXT:       %[[CONSTANT5:.*]] = arith.constant 1 : index
// CHECK-NEXT:       %[[ADDI2:.*]] = arith.addi %[[IN5]], %[[CONSTANT5]] : index
// CHECK-NEXT:       scf.yield %[[EXP]], %[[ADDI2]], %[[IN6]] : tensor<f32>, index, tensor<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT6:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[STACK_LOAD:.*]] = weft.stack_load %[[WHILE]]#2[%[[WHILE]]#1] : tensor<?xf32> to tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[CONSTANT6]], %[[A1]] : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT6]], %[[STACK_LOAD]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT8:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR:.*]]:2 = scf.for %[[IV:.*]] = %[[CONSTANT7]] to %[[WHILE]]#1 step %[[CONSTANT8]] iter_args(%[[IN7:.*]] = %[[MULTIPLY2]], %[[IN8:.*]] = %[[MULTIPLY3]]) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[WHILE]]#1, %[[CONSTANT8]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV]] : index
// CHECK-NEXT:       %[[STACK_LOAD2:.*]] = weft.stack_load %[[WHILE]]#2[%[[SUBI2]]] : tensor<?xf32> to tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[STACK_LOAD2]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       %[[EXP2:.*]] = weft.exp %[[MULTIPLY4]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[IN7]], %[[EXP2]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY6:.*]] = weft.multiply %[[MULTIPLY5]], %[[A1]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY7:.*]] = weft.multiply %[[MULTIPLY5]], %[[STACK_LOAD2]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[IN8]], %[[MULTIPLY7]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY6]], %[[ADD]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR]]#1 : tensor<f32>
func.func @work_in_condition(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @working(%x, %w) wrt [1] : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
