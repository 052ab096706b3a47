// stack_reserve is its operand's buffer, or a larger one into which that is copied; a loop that stores at the end of a
// stack hands on whichever it is, and copies it at no other time.
// RUN: weft-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// CHECK-LABEL: func @until
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[S:.*]] = %{{.*}}) : (index, memref<?x4xf32>) -> (index, memref<?x4xf32>) {
// CHECK-NOT: memref.copy
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[S]] : index, memref<?x4xf32>
// CHECK: ^bb0(%[[I:.*]]: index, %[[S:.*]]: memref<?x4xf32>):
// CHECK: %[[ROOM:.*]] = memref.dim %[[S]], %{{.*}}
// CHECK: %[[FULL:.*]] = arith.cmpi slt, %[[ROOM]], %[[COUNT:.*]] : index
// CHECK: %[[R:.*]] = scf.if %[[FULL]] -> (memref<?x4xf32>) {
// CHECK:   %[[TWICE:.*]] = arith.muli %[[ROOM]], %{{.*}}
// CHECK:   %[[MORE:.*]] = arith.maxsi %[[TWICE]], %[[COUNT]]
// CHECK:   %[[LARGER:.*]] = memref.alloc(%[[MORE]]) {{.*}} : memref<?x4xf32>
// CHECK:   %[[PART:.*]] = memref.subview %[[LARGER]][0, 0] [%[[ROOM]], 4] [1, 1]
// CHECK:   memref.copy %[[S]], %[[PART]]
// CHECK:   scf.yield %[[LARGER]]
// CHECK: } else {
// CHECK:   scf.yield %[[S]]
// CHECK: }
// CHECK: %[[PLACE:.*]] = memref.subview %[[R]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: memref.copy %{{.*}}, %[[PLACE]]
// CHECK-NOT: memref.copy
// CHECK: scf.yield %{{.*}}, %[[R]] : index, memref<?x4xf32>
func.func @until(%x: tensor<4xf32>, %n: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty(%c1) : tensor<?x4xf32>
  %r:2 = scf.while (%i = %c0, %s = %0) : (index, tensor<?x4xf32>) -> (index, tensor<?x4xf32>) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %s : index, tensor<?x4xf32>
  } do {
  ^bb0(%i: index, %s: tensor<?x4xf32>):
    %j = arith.addi %i, %c1 : index
    %1 = weft.stack_reserve %s for %j : tensor<?x4xf32>
    %2 = tensor.insert_slice %x into %1[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
    scf.yield %j, %2 : index, tensor<?x4xf32>
  }
  return %r#1 : tensor<?x4xf32>
}

// Values without elements are not copied.
// CHECK-LABEL: func @nothing
// CHECK: memref.alloc(%{{.*}}) {{.*}}: memref<?x0x2xi64>
// CHECK-NOT: memref.copy
// CHECK: return
func.func @nothing(%stack: tensor<?x0x2xi64>, %count: index) -> tensor<?x0x2xi64> {
  %0 = weft.stack_reserve %stack for %count : tensor<?x0x2xi64>
  return %0 : tensor<?x0x2xi64>
}
