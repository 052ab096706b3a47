// Reverse and forward code of ops that read and write at indices, which have no derivative.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- gather ---===//

func.func private @gather(%x: tensor<3x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// Rows are added where they came from, as often as they were taken.
// CHECK-LABEL: func.func @gather_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[D:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [3, 2] : (tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[SCATTER_ADD:.*]] = weft.scatter_add %[[BROADCAST]], %[[I]], %[[D]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[SCATTER_ADD]] : tensor<3x2xf32>
func.func @gather_vjp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %d: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0:2 = weft.vjp @gather(%x, %i) cotangents(%d) wrt [0]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>)
  return %0#1 : tensor<3x2xf32>
}
// CHECK-LABEL: func.func @gather_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[DX:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-NEXT: %[[GATHER:.*]] = weft.gather %[[DX]], %[[I]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %[[GATHER]] : tensor<4x2xf32>
func.func @gather_jvp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %dx: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %0:2 = weft.jvp @gather(%x, %i) tangents(%dx) wrt [0]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<3x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  return %0#1 : tensor<4x2xf32>
}

//===--- scatter_add ---===//

func.func private @scatter_add(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %u: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = weft.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// Rows that were added take theirs.
// CHECK-LABEL: func.func @scatter_add_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[U:[a-z0-9]+]]: tensor<4x2xf32>, %[[D:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-NEXT: %[[GATHER:.*]] = weft.gather %[[D]], %[[I]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %[[D]], %[[GATHER]] : tensor<3x2xf32>, tensor<4x2xf32>
func.func @scatter_add_vjp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %u: tensor<4x2xf32>, %d: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<4x2xf32>) {
  %0:3 = weft.vjp @scatter_add(%x, %i, %u) cotangents(%d) wrt [0, 2]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>)
  return %0#1, %0#2 : tensor<3x2xf32>, tensor<4x2xf32>
}
// CHECK-LABEL: func.func @scatter_add_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<4xi32>, %[[U:[a-z0-9]+]]: tensor<4x2xf32>, %[[DX:[a-z0-9]+]]: tensor<3x2xf32>, %[[DU:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK-NEXT: %[[SCATTER_ADD:.*]] = weft.scatter_add %[[DX]], %[[I]], %[[DU]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[SCATTER_ADD]] : tensor<3x2xf32>
func.func @scatter_add_jvp(%x: tensor<3x2xf32>, %i: tensor<4xi32>, %u: tensor<4x2xf32>, %dx: tensor<3x2xf32>, %du: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0:2 = weft.jvp @scatter_add(%x, %i, %u) tangents(%dx, %du) wrt [0, 2]
      : (tensor<3x2xf32>, tensor<4xi32>, tensor<4x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  return %0#1 : tensor<3x2xf32>
}

//===--- update_slice ---===//

func.func private @update_slice(%x: tensor<3x2xf32>, %i: tensor<i64>, %u: tensor<2xf32>) -> tensor<3x2xf32> {
  %0 = weft.update_slice %x, %i, %u {axis = 0 : i64} : (tensor<3x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// What was written over has none, what was written has that of its position.
// CHECK-LABEL: func.func @update_slice_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<i64>, %[[U:[a-z0-9]+]]: tensor<2xf32>, %[[D:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-NEXT: %[[GATHER:.*]] = weft.gather %[[D]], %[[I]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<i64>) -> tensor<2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [2] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %[[UPDATE_SLICE:.*]] = weft.update_slice %[[D]], %[[I]], %[[BROADCAST]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[UPDATE_SLICE]], %[[GATHER]] : tensor<3x2xf32>, tensor<2xf32>
func.func @update_slice_vjp(%x: tensor<3x2xf32>, %i: tensor<i64>, %u: tensor<2xf32>, %d: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>) {
  %0:3 = weft.vjp @update_slice(%x, %i, %u) cotangents(%d) wrt [0, 2]
      : (tensor<3x2xf32>, tensor<i64>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2xf32>)
  return %0#1, %0#2 : tensor<3x2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @update_slice_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[I:[a-z0-9]+]]: tensor<i64>, %[[U:[a-z0-9]+]]: tensor<2xf32>, %[[DX:[a-z0-9]+]]: tensor<3x2xf32>, %[[DU:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[UPDATE_SLICE:.*]] = weft.update_slice %[[DX]], %[[I]], %[[DU]] {axis = 0 : i64} : (tensor<3x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[UPDATE_SLICE]] : tensor<3x2xf32>
func.func @update_slice_jvp(%x: tensor<3x2xf32>, %i: tensor<i64>, %u: tensor<2xf32>, %dx: tensor<3x2xf32>, %du: tensor<2xf32>) -> tensor<3x2xf32> {
  %0:2 = weft.jvp @update_slice(%x, %i, %u) tangents(%dx, %du) wrt [0, 2]
      : (tensor<3x2xf32>, tensor<i64>, tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  return %0#1 : tensor<3x2xf32>
}

//===--- take_along_axis ---===//

func.func private @take_along_axis(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// What is taken goes back where it was.
// CHECK-LABEL: func.func @take_along_axis_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[I:[a-z0-9]+]]: tensor<2xi64>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [4] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[ADD_ALONG_AXIS:.*]] = weft.add_along_axis %[[BROADCAST]], %[[I]], %[[D]] {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[ADD_ALONG_AXIS]] : tensor<4xf32>
func.func @take_along_axis_vjp(%x: tensor<4xf32>, %i: tensor<2xi64>, %d: tensor<2xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @take_along_axis(%x, %i) cotangents(%d) wrt [0]
      : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @take_along_axis_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[I:[a-z0-9]+]]: tensor<2xi64>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT: %[[TAKE_ALONG_AXIS:.*]] = weft.take_along_axis %[[DX]], %[[I]] {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: return %[[TAKE_ALONG_AXIS]] : tensor<2xf32>
func.func @take_along_axis_jvp(%x: tensor<4xf32>, %i: tensor<2xi64>, %dx: tensor<4xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @take_along_axis(%x, %i) tangents(%dx) wrt [0]
      : (tensor<4xf32>, tensor<2xi64>, tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- add_along_axis ---===//

func.func private @add_along_axis(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %0 = weft.add_along_axis %x, %i, %u {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// What was added takes that of its position.
// CHECK-LABEL: func.func @add_along_axis_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[I:[a-z0-9]+]]: tensor<2xi64>, %[[U:[a-z0-9]+]]: tensor<2xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT: %[[TAKE_ALONG_AXIS:.*]] = weft.take_along_axis %[[D]], %[[I]] {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: return %[[D]], %[[TAKE_ALONG_AXIS]] : tensor<4xf32>, tensor<2xf32>
func.func @add_along_axis_vjp(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0:3 = weft.vjp @add_along_axis(%x, %i, %u) cotangents(%d) wrt [0, 2]
      : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @add_along_axis_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[I:[a-z0-9]+]]: tensor<2xi64>, %[[U:[a-z0-9]+]]: tensor<2xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>, %[[DU:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[ADD_ALONG_AXIS:.*]] = weft.add_along_axis %[[DX]], %[[I]], %[[DU]] {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[ADD_ALONG_AXIS]] : tensor<4xf32>
func.func @add_along_axis_jvp(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>, %dx: tensor<4xf32>, %du: tensor<2xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @add_along_axis(%x, %i, %u) tangents(%dx, %du) wrt [0, 2]
      : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
