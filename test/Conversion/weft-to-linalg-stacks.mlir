// Stacks are tensors of which slices are taken and put in; to reserve is left to bufferization.
// RUN: weft-opt %s --weft-to-linalg --mlir-print-local-scope | FileCheck %s

// A stack begins as memory of any contents, also one that grows from a known size, which must not look known later.
// CHECK-LABEL: func @empty
// CHECK-DAG: tensor.empty() : tensor<8x4xf32>
// CHECK-DAG: tensor.empty(%{{.*}}) : tensor<?x4xf32>
// CHECK-DAG: %[[FOUR:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-DAG: weft.widen %[[FOUR]] : tensor<4xf32> to tensor<?xf32>
func.func @empty(%n: index) -> (tensor<8x4xf32>, tensor<?x4xf32>, tensor<?xf32>) {
  %four = arith.constant 4 : index
  %0 = weft.stack_empty() : tensor<8x4xf32>
  %1 = weft.stack_empty(%n) : tensor<?x4xf32>
  %2 = weft.stack_empty(%four) : tensor<?xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<?x4xf32>, tensor<?xf32>
}

// Each use of an empty stack begins a stack of its own, also where CSE merged two values: bufferization would take what
// nothing wrote for memory that two may have.
// CHECK-LABEL: func @uses
// CHECK-DAG: %[[ONE:.*]] = tensor.empty(%[[N:.*]]) : tensor<?x4xf32>
// CHECK-DAG: %[[OTHER:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK: return %[[ONE]], %[[OTHER]] :
func.func @uses(%n: index) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = weft.stack_empty(%n) : tensor<?x4xf32>
  return %0, %0 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func @known
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<?x4xf32>, %[[AT:.*]]: index)
// CHECK: %[[R:.*]] = weft.stack_reserve %[[S]] for %[[AT]]
// CHECK: %[[T:.*]] = tensor.insert_slice %[[X]] into %[[R]][%[[AT]], 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
// CHECK: %[[Y:.*]] = tensor.extract_slice %[[T]][%[[AT]], 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[T]][%[[AT]], 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<4xf32>) outs(%[[OLD]] : tensor<4xf32>)
// CHECK: arith.addf
// CHECK: tensor.insert_slice %[[SUM]] into %[[T]][%[[AT]], 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
func.func @known(%x: tensor<4xf32>, %s: tensor<?x4xf32>, %at: index) -> tensor<?x4xf32> {
  %0 = weft.stack_reserve %s for %at : tensor<?x4xf32>
  %1 = weft.stack_store %x in %0[%at] : tensor<4xf32> in tensor<?x4xf32>
  %2 = weft.stack_load %1[%at] : tensor<?x4xf32> to tensor<4xf32>
  %3 = weft.stack_add %2 to %1[%at] : tensor<4xf32> to tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// All elements in a row.
// CHECK-LABEL: func @unknown
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<?xf32>, %[[AT:.*]]: index, %[[N:.*]]: index)
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
// CHECK: %[[T:.*]] = tensor.insert_slice %[[ROW]] into %[[S]][%[[AT]]] [%{{.*}}] [1] : tensor<?xf32> into tensor<?xf32>
// CHECK: %[[TAKEN:.*]] = tensor.extract_slice %[[T]][%[[AT]]] [%{{.*}}] [1] : tensor<?xf32> to tensor<?xf32>
// CHECK: tensor.expand_shape %[[TAKEN]] {{\[}}[0, 1]] output_shape [%[[N]], 4] : tensor<?xf32> into tensor<?x4xf32>
func.func @unknown(%x: tensor<?x4xf32>, %s: tensor<?xf32>, %at: index, %n: index) -> tensor<?x4xf32> {
  %0 = weft.stack_store %x in %s[%at] : tensor<?x4xf32> in tensor<?xf32>
  %1 = weft.stack_load %0[%at] sizes(%n) : tensor<?xf32> to tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// Two sizes that only run time knows are given to the reshape, as expand_shape would have to divide for them.
// CHECK-LABEL: func @two_unknown
// CHECK-SAME: (%{{.*}}: tensor<?xf32>, %{{.*}}: index, %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK-NOT: expand_shape
// CHECK: %[[TAKEN:.*]] = tensor.extract_slice %{{.*}} : tensor<?xf32> to tensor<?xf32>
// CHECK: %[[SIZES:.*]] = tensor.from_elements %[[N]], %[[M]] : tensor<2xindex>
// CHECK: tensor.reshape %[[TAKEN]](%[[SIZES]])
func.func @two_unknown(%s: tensor<?xf32>, %at: index, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = weft.stack_load %s[%at] sizes(%n, %m) : tensor<?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Where there are no elements there is nothing to store or load.
// CHECK-LABEL: func @nothing
// CHECK-NOT: slice
// CHECK: return
func.func @nothing(%x: tensor<0xf32>, %s: tensor<8x0xf32>, %at: index) -> (tensor<8x0xf32>, tensor<0xf32>) {
  %0 = weft.stack_store %x in %s[%at] : tensor<0xf32> in tensor<8x0xf32>
  %1 = weft.stack_load %0[%at] : tensor<8x0xf32> to tensor<0xf32>
  %2 = weft.stack_add %1 to %0[%at] : tensor<0xf32> to tensor<8x0xf32>
  return %2, %1 : tensor<8x0xf32>, tensor<0xf32>
}
