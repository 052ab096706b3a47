// Cumulative ops: loops that go along the axis in order.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s

// Lines whose elements are neighbours go four at a time through one loop, which counts where it is in them.
// CHECK-LABEL: func @lines
// CHECK: %[[LINE:.*]] = tensor.collapse_shape %{{.*}} : tensor<5x3xf32> into tensor<15xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[START:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (tensor<15xf32>, index, index, f32, f32, f32, f32)
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]]
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[T]]
// CHECK: %[[X:.*]] = tensor.extract %[[LINE]][%[[AT]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK: %[[NEXT:.*]] = arith.select %[[FIRST]], %[[X]], %[[SUM]]
// CHECK-COUNT-3: arith.addf
// CHECK: tensor.insert %[[NEXT]] into %[[Y]]
// CHECK-COUNT-3: tensor.insert
// CHECK: scf.for %{{.*}} -> (tensor<15xf32>, index, index, f32)
func.func @lines(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = weft.cumsum %x {axis = 1 : i64} : tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// The steps of a single line wait for nothing but the step before.
// CHECK-LABEL: func @line
// CHECK: %[[FIRST:.*]] = tensor.extract %[[X:.*]][
// CHECK: %[[BEGUN:.*]] = tensor.insert %[[FIRST]]
// CHECK: scf.for %{{.*}} iter_args(%[[Y:.*]] = %[[BEGUN]], %[[ACC:.*]] = %[[FIRST]]) -> (tensor<8xf32>, f32)
// CHECK: %[[NEXT:.*]] = arith.addf %[[ACC]]
// CHECK: %[[INTO:.*]] = tensor.insert %[[NEXT]] into %[[Y]]
// CHECK: scf.yield %[[INTO]], %[[NEXT]]
func.func @line(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Across the axis all lines take their step at once; backwards from the last, and with what was before each.
// CHECK-LABEL: func @slices
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (tensor<?x3xf32>, tensor<3xf32>)
// CHECK: %[[AT:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[AT]], 0] [1, 3] [1, 1] : tensor<?x3xf32> to tensor<3xf32>
// CHECK: %[[INTO:.*]] = tensor.insert_slice %[[ACC]] into %[[Y]][%[[AT]], 0]
// CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[ROW]] : tensor<3xf32>) outs(%[[ACC]] : tensor<3xf32>)
// CHECK: arith.mulf
// CHECK: scf.yield %[[INTO]], %[[NEXT]]
func.func @slices(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = weft.cumprod %x {axis = 0 : i64, reverse = true, exclusive = true} : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A shifted factor is that of the step before; sizes that are not known are compared first.
// CHECK-LABEL: func @recurrence
// CHECK-SAME: (%[[A:.*]]: tensor<?xf64>, %[[X:.*]]: tensor<?xf64>)
// CHECK: weft.check_sizes %{{.*}}, "linear_recurrence: a is not of the shape of x: {} meets {} in axis 0"
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}, %[[START:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}})
// CHECK: %[[BEFORE:.*]] = arith.maxsi
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[BEFORE]]
// CHECK: %[[FACTOR:.*]] = tensor.extract %[[A]][%[[AT]]]
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[T]]
// CHECK: tensor.extract %[[X]][%[[AT]]]
// CHECK: arith.mulf %[[FACTOR]], %[[ACC]]
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
// CHECK: scf.for
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
// CHECK-NOT: scf.for
// CHECK: return
func.func @nothing(%x: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0 = weft.cummax %x {axis = 0 : i64} : tensor<2x0xf32>
  return %0 : tensor<2x0xf32>
}

// -----

// A line becomes a tensor of two unknown sizes element by element: expand_shape of a buffer finds out one size at most.
// CHECK-LABEL: func @unknown_sizes
// CHECK: scf.for
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[START:.*]] = arith.muli %[[ROW]]
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[COLUMN]]
// CHECK: tensor.extract %{{.*}}[%[[AT]]]
func.func @unknown_sizes(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = weft.cumsum %x {axis = 1 : i64} : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A loop over slices without elements has no iteration: its axis may be of any size.
// CHECK-LABEL: func @unknown_slices
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[ACROSS:.*]], %{{.*}} : index
// CHECK: %[[TURNS:.*]] = arith.select %[[NONE]], %{{.*}}, %{{.*}} : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TURNS]]
func.func @unknown_slices(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = weft.cumsum %x {axis = 0 : i64} : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
