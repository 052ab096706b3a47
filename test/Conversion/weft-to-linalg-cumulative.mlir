// Cumulative ops: calls of the library, or where that cannot be a loop along the axis over slices.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg=without-library --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=LOOPS

// The numbers are what stands before the axis, its size, what stands behind it, and the way to go: backwards is 1. Without the library a line is slices of one element.
// CHECK-LABEL: func @lines
// CHECK: %[[OUTER:.*]] = arith.constant 5 : index
// CHECK: %[[SIZE:.*]] = arith.constant 3 : index
// CHECK: %[[INNER:.*]] = arith.constant 1 : index
// CHECK: %[[BACKWARDS:.*]] = arith.constant 1 : index
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<5x3xf32>
// CHECK: weft.call_into "cumsum"(%{{.*}}) numbers(%[[OUTER]], %[[SIZE]], %[[INNER]], %[[BACKWARDS]]) into %[[INTO]] : (tensor<5x3xf32>) into tensor<5x3xf32>
// LOOPS-LABEL: func @lines
// LOOPS: scf.for
// LOOPS: tensor.extract_slice %{{.*}}[0, %{{.*}}] [5, 1] [1, 1] : tensor<5x3xf32> to tensor<5x1xf32>
func.func @lines(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = weft.cumsum %x {axis = 1 : i64, reverse = true} : tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// The result of a line alone is carried as a scalar tensor.
// LOOPS-LABEL: func @line
// LOOPS: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<8xf32>, tensor<f32>)
func.func @line(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Across the axis all lines take their step at once; backwards from the last, and with what was before each.
// LOOPS-LABEL: func @slices
// LOOPS-SAME: (%[[X:.*]]: tensor<?x3xf32>)
// LOOPS: scf.for %[[I:.*]] = {{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (tensor<?x3xf32>, tensor<3xf32>)
// LOOPS: %[[AT:.*]] = arith.subi %{{.*}}, %[[I]]
// LOOPS: %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[AT]], 0] [1, 3] [1, 1] : tensor<?x3xf32> to tensor<3xf32>
// LOOPS: %[[INTO:.*]] = tensor.insert_slice %[[ACC]] into %[[Y]][%[[AT]], 0]
// LOOPS: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[ROW]] : tensor<3xf32>) outs(%[[ACC]] : tensor<3xf32>)
// LOOPS: arith.mulf
// LOOPS: scf.yield %[[INTO]], %[[NEXT]]
func.func @slices(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = weft.cumprod %x {axis = 0 : i64, reverse = true, exclusive = true} : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A recurrence has two operands, whose sizes are compared first; shifted is 4. Without the library a shifted factor is that of the step before.
// CHECK-LABEL: func @recurrence
// CHECK-SAME: (%[[A:.*]]: tensor<?xf64>, %[[X:.*]]: tensor<?xf64>)
// CHECK: weft.check_sizes %{{.*}}, "linear_recurrence: a is not of the shape of x: {} meets {} in axis 0"
// CHECK: %[[SHIFTED:.*]] = arith.constant 4 : index
// CHECK: weft.call_into "linear_recurrence"(%[[A]], %[[X]]) numbers(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHIFTED]])
// LOOPS-LABEL: func @recurrence
// LOOPS-SAME: (%[[A:.*]]: tensor<?xf64>, %[[X:.*]]: tensor<?xf64>)
// LOOPS: weft.check_sizes
// LOOPS: scf.for %[[STEP:[a-z0-9]*]] =
// LOOPS: %[[LAST:.*]] = arith.subi %[[STEP]]
// LOOPS: %[[BEFORE:.*]] = arith.maxsi %[[LAST]]
// LOOPS: tensor.extract_slice %[[A]][%[[BEFORE]]]
// LOOPS: tensor.extract_slice %[[X]][%[[STEP]]]
// LOOPS: arith.mulf
func.func @recurrence(%a: tensor<?xf64>, %x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = weft.linear_recurrence %a, %x {axis = 0 : i64, shifted = true} : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %0 : tensor<?xf64>
}

// -----

// The size that an operand has inside of a loop, where it is compared, is not its size outside.
// CHECK-LABEL: func @recurrence_in_loop
// CHECK-SAME: (%[[A:.*]]: tensor<?xf64>,
// CHECK: %[[SIZE:.*]] = tensor.dim %[[A]]
// CHECK: scf.for
// CHECK: weft.call_into
// CHECK: tensor.empty(%[[SIZE]]) : tensor<?xf64>
func.func @recurrence_in_loop(%a: tensor<?xf64>, %x: tensor<4x?xf64>, %n: index, %i: tensor<i64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %t = %c0 to %n step %c1 iter_args(%y = %a) -> tensor<?xf64> {
    %1 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4x?xf64>, tensor<i64>) -> tensor<?xf64>
    %2 = weft.exp %1 : tensor<?xf64>
    %3 = weft.linear_recurrence %a, %2 {axis = 0 : i64} : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    scf.yield %3 : tensor<?xf64>
  }
  %1 = weft.exp %a : tensor<?xf64>
  return %0, %1 : tensor<?xf64>, tensor<?xf64>
}

// -----

// Of nothing there is no step.
// CHECK-LABEL: func @nothing
// CHECK-NOT: weft.call_into
// CHECK: return
func.func @nothing(%x: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0 = weft.cummax %x {axis = 0 : i64} : tensor<2x0xf32>
  return %0 : tensor<2x0xf32>
}

// -----

// A loop over slices without elements has no iteration: its axis may be of any size.
// LOOPS-LABEL: func @unknown_slices
// LOOPS: %[[NONE:.*]] = arith.cmpi eq, %[[ACROSS:.*]], %{{.*}} : index
// LOOPS: %[[TURNS:.*]] = arith.select %[[NONE]], %{{.*}}, %{{.*}} : index
// LOOPS: scf.for %{{.*}} = %{{.*}} to %[[TURNS]]
func.func @unknown_slices(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
