// Counted loops in reverse: as many iterations, from the last to the first, that carry the cotangents of the state and of what
// the body uses from around it. What the reverse needs of an iteration it finds in stacks, at the number of the iteration.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s

// A step of a recurrent network. The state and the product are kept; tanh is computed again. The number of iterations is
// known, so the stacks are of known size.
func.func private @recurrence(%h: tensor<2xf32>, %w: tensor<2x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %h) -> (tensor<2xf32>) {
    %0 = weft.matmul %w, %a : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = weft.tanh %0 : tensor<2xf32>
    %2 = weft.multiply %1, %1 : tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
// CHECK-LABEL: func.func @known_iterations(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 5 : index
// CHECK-NEXT:     %[[CONSTANT4:.*]] = arith.constant 5 : index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty() : tensor<5x2xf32>
// CHECK-NEXT:     %[[STACK_EMPTY2:.*]] = weft.stack_empty() : tensor<5x2xf32>
// CHECK-NEXT:     %[[FOR:.*]]:3 = scf.for %[[IV:.*]] = %[[CONSTANT]] to %[[CONSTANT3]] step %[[CONSTANT2]] iter_args(%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[STACK_EMPTY]], %[[IN3:.*]] = %[[STACK_EMPTY2]]) -> (tensor<2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) {
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[IN2]][%[[IV]]] : tensor<2xf32> in tensor<5x2xf32>
// CHECK-NEXT:       %[[MATMUL:.*]] = weft.matmul %[[A1]], %[[IN]] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:       %[[TANH:.*]] = weft.tanh %[[MATMUL]] : tensor<2xf32>
// CHECK-NEXT:       %[[STACK_STORE2:.*]] = weft.stack_store %[[TANH]] in %[[IN3]][%[[IV]]] : tensor<2xf32> in tensor<5x2xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<2xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]], %[[STACK_STORE]], %[[STACK_STORE2]] : tensor<2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT5:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT5]] to [2, 2] : (tensor<f32>) -> tensor<2x2xf32>
// CHECK-NEXT:     %[[CONSTANT6:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR2:.*]]:2 = scf.for %[[IV2:.*]] = %[[CONSTANT6]] to %[[CONSTANT4]] step %[[CONSTANT7]] iter_args(%[[IN4:.*]] = %[[A2]], %[[IN5:.*]] = %[[BROADCAST]]) -> (tensor<2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[CONSTANT4]], %[[CONSTANT7]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV2]] : index
// CHECK-NEXT:       %[[STACK_LOAD:.*]] = weft.stack_load %[[FOR]]#1[%[[SUBI2]]] : tensor<5x2xf32> to tensor<2xf32>
// CHECK-NEXT:       %[[STACK_LOAD2:.*]] = weft.stack_load %[[FOR]]#2[%[[SUBI2]]] : tensor<5x2xf32> to tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[IN4]], %[[STACK_LOAD2]] : tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[IN4]], %[[STACK_LOAD2]] : tensor<2xf32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY2]], %[[MULTIPLY3]] : tensor<2xf32>
// CHECK-NEXT:       %[[CONSTANT8:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[STACK_LOAD2]], %[[STACK_LOAD2]] : tensor<2xf32>
// CHECK-NEXT:       %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT8]], %[[MULTIPLY4]] : tensor<f32>, tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[ADD]], %[[SUBTRACT]] : tensor<2xf32>
// CHECK-NEXT:       %[[RESHAPE:.*]] = weft.reshape %[[STACK_LOAD]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:       %[[RESHAPE2:.*]] = weft.reshape %[[MULTIPLY5]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:       %[[MATMUL2:.*]] = weft.matmul %[[RESHAPE2]], %[[RESHAPE]] {transpose_rhs = true} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:       %[[RESHAPE3:.*]] = weft.reshape %[[MULTIPLY5]] to [2, 1] : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:       %[[MATMUL3:.*]] = weft.matmul %[[A1]], %[[RESHAPE3]] {transpose_lhs = true} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:       %[[RESHAPE4:.*]] = weft.reshape %[[MATMUL3]] to [2] : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT:       %[[ADD2:.*]] = weft.add %[[IN5]], %[[MATMUL2]] : tensor<2x2xf32>
// CHECK-NEXT:       scf.yield %[[RESHAPE4]], %[[ADD2]] : tensor<2xf32>, tensor<2x2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR2]]#0, %[[FOR2]]#1 : tensor<2xf32>, tensor<2x2xf32>
func.func @known_iterations(%h: tensor<2xf32>, %w: tensor<2x2xf32>, %d: tensor<2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>) {
  %0:3 = weft.vjp @recurrence(%h, %w) cotangents(%d) wrt [0, 1]
      : (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<2x2xf32>
}

// Bounds and step that only run time knows, and integers that count: the number of an iteration is found from what the loop
// counts with, and the other way round in reverse, where the body's use of it asks for it.
func.func private @powers(%x: tensor<f32>, %low: i64, %high: i64, %step: i64) -> tensor<f32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  %r = scf.for %i = %low to %high step %step iter_args(%a = %one) -> (tensor<f32>) : i64 {
    %n = tensor.from_elements %i : tensor<i64>
    %q = weft.cast %n to f32 : tensor<i64>
    %0 = weft.multiply %x, %q : tensor<f32>
    %1 = weft.multiply %a, %0 : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}
// CHECK-LABEL: func.func @unknown_iterations(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[SUBI:.*]] = arith.subi %[[A2]], %[[A1]] : i64
// CHECK-NEXT:     %[[CEILDIVUI:.*]] = arith.ceildivui %[[SUBI]], %[[A3]] : i64
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 0 : i64
// CHECK-NEXT:     %[[CMPI:.*]] = arith.cmpi slt, %[[A1]], %[[A2]] : i64
// CHECK-NEXT:     %[[SELECT:.*]] = arith.select %[[CMPI]], %[[CEILDIVUI]], %[[CONSTANT2]] : i64
// CHECK-NEXT:     %[[INDEX_CASTUI:.*]] = arith.index_castui %[[SELECT]] : i64 to index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[INDEX_CASTUI]]) : tensor<?xf32>
// CHECK-NEXT:     %[[FOR:.*]]:2 = scf.for %[[IV:.*]] = %[[A1]] to %[[A2]] step %[[A3]] iter_args(%[[IN:.*]] = %[[CONSTANT]], %[[IN2:.*]] = %[[STACK_EMPTY]]) -> (tensor<f32>, tensor<?xf32>)  : i64 {
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[IV]], %[[A1]] : i64
// CHECK-NEXT:       %[[DIVUI:.*]] = arith.divui %[[SUBI2]], %[[A3]] : i64
// CHECK-NEXT:       %[[INDEX_CASTUI2:.*]] = arith.index_castui %[[DIVUI]] : i64 to index
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[IN2]][%[[INDEX_CASTUI2]]] : tensor<f32> in tensor<?xf32>
// CHECK-NEXT:       %[[FROM_ELEMENTS:.*]] = tensor.from_elements %[[IV]] : tensor<i64>
// CHECK-NEXT:       %[[CAST:.*]] = weft.cast %[[FROM_ELEMENTS]] to f32 : tensor<i64>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[A0]], %[[CAST]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[IN]], %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY2]], %[[STACK_STORE]] : tensor<f32>, tensor<?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT3:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT4:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT5:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT6:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR2:.*]]:2 = scf.for %[[IV2:.*]] = %[[CONSTANT5]] to %[[INDEX_CASTUI]] step %[[CONSTANT6]] iter_args(%[[IN3:.*]] = %[[CONSTANT3]], %[[IN4:.*]] = %[[CONSTANT4]]) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:       %[[SUBI3:.*]] = arith.subi %[[INDEX_CASTUI]], %[[CONSTANT6]] : index
// CHECK-NEXT:       %[[SUBI4:.*]] = arith.subi %[[SUBI3]], %[[IV2]] : index
// CHECK-NEXT:       %[[INDEX_CASTUI3:.*]] = arith.index_castui %[[SUBI4]] : index to i64
// CHECK-NEXT:       %[[MULI:.*]] = arith.muli %[[INDEX_CASTUI3]], %[[A3]] : i64
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[MULI]], %[[A1]] : i64
// CHECK-NEXT:       %[[STACK_LOAD:.*]] = weft.stack_load %[[FOR]]#1[%[[SUBI4]]] : tensor<?xf32> to tensor<f32>
// CHECK-NEXT:       %[[FROM_ELEMENTS2:.*]] = tensor.from_elements %[[ADDI]] : tensor<i64>
// CHECK-NEXT:       %[[CAST2:.*]] = weft.cast %[[FROM_ELEMENTS2]] to f32 : tensor<i64>
// CHECK-NEXT:       %[[MULTIPLY3:.*]] = weft.multiply %[[A0]], %[[CAST2]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY4:.*]] = weft.multiply %[[IN3]], %[[MULTIPLY3]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY5:.*]] = weft.multiply %[[IN3]], %[[STACK_LOAD]] : tensor<f32>
// CHECK-NEXT:       %[[MULTIPLY6:.*]] = weft.multiply %[[MULTIPLY5]], %[[CAST2]] : tensor<f32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[IN4]], %[[MULTIPLY6]] : tensor<f32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY4]], %[[ADD]] : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR2]]#1 : tensor<f32>
func.func @unknown_iterations(%x: tensor<f32>, %low: i64, %high: i64, %step: i64) -> tensor<f32> {
  %0:2 = weft.gradient @powers(%x, %low, %high, %step) wrt [0] : (tensor<f32>, i64, i64, i64) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// Of what a scan reads, the slice's cotangent is added to the sum in its place, and the slice is read again: nothing of
// the size of all slices is created in an iteration. State that is not differentiated is not carried.
func.func private @scan(%xs: tensor<8x2xf32>) -> (tensor<2xf32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %none = weft.constant dense<0.0> : tensor<2xf32>
  %count = weft.constant dense<0> : tensor<i64>
  %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %none, %n = %count) -> (tensor<2xf32>, tensor<i64>) {
    %j = arith.index_cast %i : index to i64
    %at = tensor.from_elements %j : tensor<i64>
    %x = weft.gather %xs, %at {axis = 0 : i64} : (tensor<8x2xf32>, tensor<i64>) -> tensor<2xf32>
    %0 = weft.multiply %x, %x : tensor<2xf32>
    %1 = weft.add %a, %0 : tensor<2xf32>
    %m = weft.add %n, %at : tensor<i64>
    scf.yield %1, %m : tensor<2xf32>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<i64>
}
// CHECK-LABEL: func.func @reads_slices(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 8 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT2]] to [8, 2] : (tensor<f32>) -> tensor<8x2xf32>
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT4:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR:.*]] = scf.for %[[IV:.*]] = %[[CONSTANT3]] to %[[CONSTANT]] step %[[CONSTANT4]] iter_args(%[[IN:.*]] = %[[BROADCAST]]) -> (tensor<8x2xf32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[CONSTANT]], %[[CONSTANT4]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV]] : index
// CHECK-NEXT:       %[[INDEX_CAST:.*]] = arith.index_cast %[[SUBI2]] : index to i64
// CHECK-NEXT:       %[[FROM_ELEMENTS:.*]] = tensor.from_elements %[[INDEX_CAST]] : tensor<i64>
// CHECK-NEXT:       %[[GATHER:.*]] = weft.gather %[[A0]], %[[FROM_ELEMENTS]] {axis = 0 : i64} : (tensor<8x2xf32>, tensor<i64>) -> tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[A1]], %[[GATHER]] : tensor<2xf32>
// CHECK-NEXT:       %[[MULTIPLY2:.*]] = weft.multiply %[[A1]], %[[GATHER]] : tensor<2xf32>
// CHECK-NEXT:       %[[ADD:.*]] = weft.add %[[MULTIPLY]], %[[MULTIPLY2]] : tensor<2xf32>
// CHECK-NEXT:       %[[SCATTER_ADD:.*]] = weft.scatter_add %[[IN]], %[[FROM_ELEMENTS]], %[[ADD]] {axis = 0 : i64} : (tensor<8x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT:       scf.yield %[[SCATTER_ADD]] : tensor<8x2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR]] : tensor<8x2xf32>
func.func @reads_slices(%xs: tensor<8x2xf32>, %d: tensor<2xf32>) -> tensor<8x2xf32> {
  %0:3 = weft.vjp @scan(%xs) cotangents(%d) wrt [0]
      : (tensor<8x2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i64>, tensor<8x2xf32>)
  return %0#2 : tensor<8x2xf32>
}

// Values of unknown sizes lie behind each other in a stack that grows, and another one says where and of what sizes.
func.func private @unknown(%x: tensor<?x2xf32>, %n: index) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?x2xf32>) {
    %0 = weft.sin %a : tensor<?x2xf32>
    scf.yield %0 : tensor<?x2xf32>
  }
  return %r : tensor<?x2xf32>
}
// CHECK-LABEL: func.func @sizes_of_a_iteration(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT2:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[CONSTANT3:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CMPI:.*]] = arith.cmpi slt, %[[CONSTANT]], %[[A1]] : index
// CHECK-NEXT:     %[[SELECT:.*]] = arith.select %[[CMPI]], %[[A1]], %[[CONSTANT3]] : index
// CHECK-NEXT:     %[[CONSTANT4:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[STACK_EMPTY:.*]] = weft.stack_empty(%[[CONSTANT4]]) : tensor<?xf32>
// CHECK-NEXT:     %[[STACK_EMPTY2:.*]] = weft.stack_empty(%[[SELECT]]) : tensor<?x2xi64>
// CHECK-NEXT:     %[[FOR:.*]]:4 = scf.for %[[IV:.*]] = %[[CONSTANT]] to %[[A1]] step %[[CONSTANT2]] iter_args(%[[IN:.*]] = %[[A0]], %[[IN2:.*]] = %[[STACK_EMPTY]], %[[IN3:.*]] = %[[CONSTANT4]], %[[IN4:.*]] = %[[STACK_EMPTY2]]) -> (tensor<?x2xf32>, tensor<?xf32>, index, tensor<?x2xi64>) {
// CHECK-NEXT:       %[[INDEX_CAST:.*]] = arith.index_cast %[[IN3]] : index to i64
// CHECK-NEXT:       %[[CONSTANT5:.*]] = arith.constant 0 : index
// CHECK-NEXT:       %[[DIM:.*]] = tensor.dim %[[IN]], %[[CONSTANT5]] : tensor<?x2xf32>
// CHECK-NEXT:       %[[INDEX_CAST2:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK-NEXT:       %[[CONSTANT6:.*]] = arith.constant 2 : index
// CHECK-NEXT:       %[[MULI:.*]] = arith.muli %[[DIM]], %[[CONSTANT6]] : index
// CHECK-NEXT:       %[[ADDI:.*]] = arith.addi %[[IN3]], %[[MULI]] : index
// CHECK-NEXT:       %[[STACK_RESERVE:.*]] = weft.stack_reserve %[[IN2]] for %[[ADDI]] : tensor<?xf32>
// CHECK-NEXT:       %[[STACK_STORE:.*]] = weft.stack_store %[[IN]] in %[[STACK_RESERVE]][%[[IN3]]] : tensor<?x2xf32> in tensor<?xf32>
// CHECK-NEXT:       %[[FROM_ELEMENTS:.*]] = tensor.from_elements %[[INDEX_CAST]], %[[INDEX_CAST2]] : tensor<2xi64>
// CHECK-NEXT:       %[[STACK_STORE2:.*]] = weft.stack_store %[[FROM_ELEMENTS]] in %[[IN4]][%[[IV]]] : tensor<2xi64> in tensor<?x2xi64>
// CHECK-NEXT:       %[[SIN:.*]] = weft.sin %[[IN]] : tensor<?x2xf32>
// CHECK-NEXT:       scf.yield %[[SIN]], %[[STACK_STORE]], %[[ADDI]], %[[STACK_STORE2]] : tensor<?x2xf32>, tensor<?xf32>, index, tensor<?x2xi64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CONSTANT7:.*]] = arith.constant 0 : index
// CHECK-NEXT:     %[[CONSTANT8:.*]] = arith.constant 1 : index
// CHECK-NEXT:     %[[FOR2:.*]] = scf.for %[[IV2:.*]] = %[[CONSTANT7]] to %[[SELECT]] step %[[CONSTANT8]] iter_args(%[[IN5:.*]] = %[[A2]]) -> (tensor<?x2xf32>) {
// CHECK-NEXT:       %[[SUBI:.*]] = arith.subi %[[SELECT]], %[[CONSTANT8]] : index
// CHECK-NEXT:       %[[SUBI2:.*]] = arith.subi %[[SUBI]], %[[IV2]] : index
// CHECK-NEXT:       %[[STACK_LOAD:.*]] = weft.stack_load %[[FOR]]#3[%[[SUBI2]]] : tensor<?x2xi64> to tensor<2xi64>
// CHECK-NEXT:       %[[CONSTANT9:.*]] = arith.constant 0 : index
// CHECK-NEXT:       %[[EXTRACT:.*]] = tensor.extract %[[STACK_LOAD]][%[[CONSTANT9]]] : tensor<2xi64>
// CHECK-NEXT:       %[[INDEX_CAST3:.*]] = arith.index_cast %[[EXTRACT]] : i64 to index
// CHECK-NEXT:       %[[CONSTANT10:.*]] = arith.constant 1 : index
// CHECK-NEXT:       %[[EXTRACT2:.*]] = tensor.extract %[[STACK_LOAD]][%[[CONSTANT10]]] : tensor<2xi64>
// CHECK-NEXT:       %[[INDEX_CAST4:.*]] = arith.index_cast %[[EXTRACT2]] : i64 to index
// CHECK-NEXT:       %[[STACK_LOAD2:.*]] = weft.stack_load %[[FOR]]#1[%[[INDEX_CAST3]]] sizes(%[[INDEX_CAST4]]) : tensor<?xf32> to tensor<?x2xf32>
// CHECK-NEXT:       %[[COS:.*]] = weft.cos %[[STACK_LOAD2]] : tensor<?x2xf32>
// CHECK-NEXT:       %[[MULTIPLY:.*]] = weft.multiply %[[IN5]], %[[COS]] : tensor<?x2xf32>
// CHECK-NEXT:       scf.yield %[[MULTIPLY]] : tensor<?x2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     return %[[FOR2]] : tensor<?x2xf32>
func.func @sizes_of_a_iteration(%x: tensor<?x2xf32>, %n: index, %d: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0:2 = weft.vjp @unknown(%x, %n) cotangents(%d) wrt [0]
      : (tensor<?x2xf32>, index, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  return %0#1 : tensor<?x2xf32>
}
