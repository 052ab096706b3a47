// Reverse and forward code of ops that move elements, all of them linear: forward they are themselves.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- barrier ---===//

func.func private @barrier(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> {
  %0 = weft.barrier %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// The value is itself; what it waits for has no part in it.
// CHECK-LABEL: func.func @barrier_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: return %[[D]] : tensor<2xf32>
func.func @barrier_vjp(%x: tensor<2xf32>, %y: tensor<f32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @barrier(%x, %y) cotangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
// CHECK-LABEL: func.func @barrier_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[DX:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[BARRIER:.*]] = weft.barrier %[[DX]], %[[Y]] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[BARRIER]] : tensor<2xf32>
func.func @barrier_jvp(%x: tensor<2xf32>, %y: tensor<f32>, %dx: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @barrier(%x, %y) tangents(%dx) wrt [0]
      : (tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- match_shape ---===//

func.func private @match_shape(%x: tensor<?xf32>, %like: tensor<?xi32>) -> tensor<?xf32> {
  %0 = weft.match_shape %x, %like : (tensor<?xf32>, tensor<?xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// The value is itself: what was compared is not compared again.
// CHECK-LABEL: func.func @match_shape_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[L:[a-z0-9]+]]: tensor<?xi32>, %[[D:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NEXT: return %[[D]] : tensor<?xf32>
func.func @match_shape_vjp(%x: tensor<?xf32>, %like: tensor<?xi32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = weft.vjp @match_shape(%x, %like) cotangents(%d) wrt [0]
      : (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}
// CHECK-LABEL: func.func @match_shape_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[L:[a-z0-9]+]]: tensor<?xi32>, %[[DX:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NEXT: %[[MATCHED:.*]] = weft.match_shape %[[DX]], %[[L]] : (tensor<?xf32>, tensor<?xi32>) -> tensor<?xf32>
// CHECK-NEXT: return %[[MATCHED]] : tensor<?xf32>
func.func @match_shape_jvp(%x: tensor<?xf32>, %like: tensor<?xi32>, %dx: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = weft.jvp @match_shape(%x, %like) tangents(%dx) wrt [0]
      : (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}

// What it is compared with has no tangent to hand on, floating or not: zeros instead would be NaN beside an infinity.
func.func private @match_floating(%x: tensor<?xf32>, %like: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.match_shape %x, %like : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = weft.multiply %0, %like : tensor<?xf32>
  return %1 : tensor<?xf32>
}
// CHECK-LABEL: func.func @match_floating_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[L:[a-z0-9]+]]: tensor<?xf32>, %[[DL:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NEXT: %[[MATCHED:.*]] = weft.match_shape %[[X]], %[[L]]
// CHECK-NEXT: %[[DY:.*]] = weft.multiply %[[DL]], %[[MATCHED]] : tensor<?xf32>
// CHECK-NEXT: return %[[DY]]
func.func @match_floating_jvp(%x: tensor<?xf32>, %like: tensor<?xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = weft.jvp @match_floating(%x, %like) tangents(%d) wrt [1]
      : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}

//===--- reshape ---===//

func.func private @reshape(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = weft.reshape %x to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// Back to the shape before.
// CHECK-LABEL: func.func @reshape_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<6xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[D]] to [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[RESHAPE]] : tensor<2x3xf32>
func.func @reshape_vjp(%x: tensor<2x3xf32>, %d: tensor<6xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @reshape(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @reshape_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = weft.reshape %[[DX]] to [6] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT: return %[[RESHAPE]] : tensor<6xf32>
func.func @reshape_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<6xf32> {
  %0:2 = weft.jvp @reshape(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %0#1 : tensor<6xf32>
}

//===--- transpose ---===//

func.func private @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = weft.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
// By the inverse permutation.
// CHECK-LABEL: func.func @transpose_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[D:[a-z0-9]+]]: tensor<4x2x3xf32>
// CHECK-NEXT: %[[TRANSPOSE:.*]] = weft.transpose %[[D]] {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[TRANSPOSE]] : tensor<2x3x4xf32>
func.func @transpose_vjp(%x: tensor<2x3x4xf32>, %d: tensor<4x2x3xf32>) -> tensor<2x3x4xf32> {
  %0:2 = weft.vjp @transpose(%x) cotangents(%d) wrt [0]
      : (tensor<2x3x4xf32>, tensor<4x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>)
  return %0#1 : tensor<2x3x4xf32>
}
// CHECK-LABEL: func.func @transpose_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[TRANSPOSE:.*]] = weft.transpose %[[DX]] {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[TRANSPOSE]] : tensor<4x2x3xf32>
func.func @transpose_jvp(%x: tensor<2x3x4xf32>, %dx: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0:2 = weft.jvp @transpose(%x) tangents(%dx) wrt [0]
      : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<4x2x3xf32>)
  return %0#1 : tensor<4x2x3xf32>
}

//===--- broadcast ---===//

func.func private @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = weft.broadcast %x to [2, 3, 4] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// Summed over what was repeated.
// CHECK-LABEL: func.func @broadcast_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x1xf32>, %[[D:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[D]] {axes = array<i64: 0>} : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[SUM2:.*]] = weft.sum %[[SUM]] {axes = array<i64: 1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: return %[[SUM2]] : tensor<3x1xf32>
func.func @broadcast_vjp(%x: tensor<3x1xf32>, %d: tensor<2x3x4xf32>) -> tensor<3x1xf32> {
  %0:2 = weft.vjp @broadcast(%x) cotangents(%d) wrt [0]
      : (tensor<3x1xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x1xf32>)
  return %0#1 : tensor<3x1xf32>
}
// CHECK-LABEL: func.func @broadcast_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x1xf32>, %[[DX:[a-z0-9]+]]: tensor<3x1xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[DX]] to [2, 3, 4] : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[BROADCAST]] : tensor<2x3x4xf32>
func.func @broadcast_jvp(%x: tensor<3x1xf32>, %dx: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0:2 = weft.jvp @broadcast(%x) tangents(%dx) wrt [0]
      : (tensor<3x1xf32>, tensor<3x1xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return %0#1 : tensor<2x3x4xf32>
}

//===--- slice ---===//

func.func private @slice(%x: tensor<5xf32>) -> tensor<2xf32> {
  %0 = weft.slice %x from [1] to [5] by [2] : (tensor<5xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// Among zeros, at the positions it came from.
// CHECK-LABEL: func.func @slice_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5xf32>, %[[D:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[PAD:.*]] = weft.pad %[[D]], %[[CONSTANT]] low [1] high [1] interior [1] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK-NEXT: return %[[PAD]] : tensor<5xf32>
func.func @slice_vjp(%x: tensor<5xf32>, %d: tensor<2xf32>) -> tensor<5xf32> {
  %0:2 = weft.vjp @slice(%x) cotangents(%d) wrt [0] : (tensor<5xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  return %0#1 : tensor<5xf32>
}
// CHECK-LABEL: func.func @slice_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5xf32>, %[[DX:[a-z0-9]+]]: tensor<5xf32>
// CHECK-NEXT: %[[SLICE:.*]] = weft.slice %[[DX]] from [1] to [5] by [2] : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[SLICE]] : tensor<2xf32>
func.func @slice_jvp(%x: tensor<5xf32>, %dx: tensor<5xf32>) -> tensor<2xf32> {
  %0:2 = weft.jvp @slice(%x) tangents(%dx) wrt [0] : (tensor<5xf32>, tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

//===--- reverse ---===//

func.func private @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = weft.reverse %x {axes = array<i64: 1>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// The other way round again.
// CHECK-LABEL: func.func @reverse_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[REVERSE:.*]] = weft.reverse %[[D]] {axes = array<i64: 1>} : tensor<2x3xf32>
// CHECK-NEXT: return %[[REVERSE]] : tensor<2x3xf32>
func.func @reverse_vjp(%x: tensor<2x3xf32>, %d: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @reverse(%x) cotangents(%d) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @reverse_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[REVERSE:.*]] = weft.reverse %[[DX]] {axes = array<i64: 1>} : tensor<2x3xf32>
// CHECK-NEXT: return %[[REVERSE]] : tensor<2x3xf32>
func.func @reverse_jvp(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @reverse(%x) tangents(%dx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- concatenate ---===//

func.func private @concatenate(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = weft.concatenate %x, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// To each part its own.
// CHECK-LABEL: func.func @concatenate_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<5xf32>
// CHECK-NEXT: %[[SLICE:.*]] = weft.slice %[[D]] from [0] to [2] : (tensor<5xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[SLICE2:.*]] = weft.slice %[[D]] from [2] to [5] : (tensor<5xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[SLICE]], %[[SLICE2]] : tensor<2xf32>, tensor<3xf32>
func.func @concatenate_vjp(%x: tensor<2xf32>, %y: tensor<3xf32>, %d: tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @concatenate(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2xf32>, tensor<3xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<2xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @concatenate_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONCATENATE:.*]] = weft.concatenate %[[DX]], %[[DY]] {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT: return %[[CONCATENATE]] : tensor<5xf32>
func.func @concatenate_jvp(%x: tensor<2xf32>, %y: tensor<3xf32>, %dx: tensor<2xf32>, %dy: tensor<3xf32>) -> tensor<5xf32> {
  %0:2 = weft.jvp @concatenate(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<5xf32>, tensor<5xf32>)
  return %0#1 : tensor<5xf32>
}

//===--- pad ---===//

func.func private @pad(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<6xf32> {
  %0 = weft.pad %x, %y low [1] high [2] interior [1] : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// The elements of the operand to it, the sum of the rest to the value between.
// CHECK-LABEL: func.func @pad_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[D:[a-z0-9]+]]: tensor<6xf32>
// CHECK-NEXT: %[[SLICE:.*]] = weft.slice %[[D]] from [1] to [4] by [2] : (tensor<6xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<false> : tensor<i1>
// CHECK-NEXT: %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [2] : (tensor<i1>) -> tensor<2xi1>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<true> : tensor<i1>
// CHECK-NEXT: %[[PAD:.*]] = weft.pad %[[BROADCAST]], %[[CONSTANT2]] low [1] high [2] interior [1] : (tensor<2xi1>, tensor<i1>) -> tensor<6xi1>
// CHECK-NEXT: %[[CONSTANT3:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[PAD]], %[[D]], %[[CONSTANT3]] : tensor<6xi1>, tensor<6xf32>, tensor<f32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[SELECT]] {axes = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[SLICE]], %[[SUM]] : tensor<2xf32>, tensor<f32>
func.func @pad_vjp(%x: tensor<2xf32>, %y: tensor<f32>, %d: tensor<6xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %0:3 = weft.vjp @pad(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2xf32>, tensor<f32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<2xf32>, tensor<f32>)
  return %0#1, %0#2 : tensor<2xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @pad_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[DX:[a-z0-9]+]]: tensor<2xf32>, %[[DY:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT: %[[PAD:.*]] = weft.pad %[[DX]], %[[DY]] low [1] high [2] interior [1] : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: return %[[PAD]] : tensor<6xf32>
func.func @pad_jvp(%x: tensor<2xf32>, %y: tensor<f32>, %dx: tensor<2xf32>, %dy: tensor<f32>) -> tensor<6xf32> {
  %0:2 = weft.jvp @pad(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %0#1 : tensor<6xf32>
}

//===--- sizes that are operands ---===//

func.func private @repeat(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<?x2xf32> {
  %0 = weft.broadcast %x to [%n, 2] : (tensor<2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
// Summed over the copies.
// CHECK-LABEL: func.func @repeat_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[N:[a-z0-9]+]]: tensor<i64>, %[[D:[a-z0-9]+]]: tensor<?x2xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[D]] {axes = array<i64: 0>} : (tensor<?x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[SUM]] : tensor<2xf32>
func.func @repeat_vjp(%x: tensor<2xf32>, %n: tensor<i64>, %d: tensor<?x2xf32>) -> tensor<2xf32> {
  %0:2 = weft.vjp @repeat(%x, %n) cotangents(%d) wrt [0]
      : (tensor<2xf32>, tensor<i64>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
// CHECK-LABEL: func.func @repeat_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[N:[a-z0-9]+]]: tensor<i64>, %[[DX:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = weft.broadcast %[[DX]] to [%[[N]], 2] : (tensor<2xf32>) -> tensor<?x2xf32>
// CHECK-NEXT: return %[[Y]] : tensor<?x2xf32>
func.func @repeat_jvp(%x: tensor<2xf32>, %n: tensor<i64>, %dx: tensor<2xf32>) -> tensor<?x2xf32> {
  %0:2 = weft.jvp @repeat(%x, %n) tangents(%dx) wrt [0]
      : (tensor<2xf32>, tensor<i64>, tensor<2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  return %0#1 : tensor<?x2xf32>
}

func.func private @part(%x: tensor<3x2xf32>, %n: tensor<i64>, %m: tensor<i64>) -> tensor<?x2xf32> {
  %0 = weft.slice %x from [%n, 0] to [%m, 2] : (tensor<3x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
// Zeros in front, and behind as far as x goes.
// CHECK-LABEL: func.func @part_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[N:[a-z0-9]+]]: tensor<i64>, %[[M:[a-z0-9]+]]: tensor<i64>, %[[D:[a-z0-9]+]]: tensor<?x2xf32>
// CHECK: %[[LOW:.*]] = weft.pad %[[D]], %{{.*}} low [%[[N]], 0] high [0, 0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
// CHECK: %[[THREE:.*]] = weft.constant dense<3> : tensor<i64>
// CHECK: %[[HAS:.*]] = weft.size %[[LOW]] {axis = 0 : i64}
// CHECK: %[[MISSING:.*]] = weft.subtract %[[THREE]], %[[HAS]] : tensor<i64>
// CHECK: %[[BOTH:.*]] = weft.pad %[[LOW]], %{{.*}} low [0, 0] high [%[[MISSING]], 0]
// CHECK: %[[KNOWN:.*]] = weft.broadcast %[[BOTH]] to [3, 2] : (tensor<?x2xf32>) -> tensor<3x2xf32>
// CHECK: return %[[KNOWN]] : tensor<3x2xf32>
func.func @part_vjp(%x: tensor<3x2xf32>, %n: tensor<i64>, %m: tensor<i64>, %d: tensor<?x2xf32>) -> tensor<3x2xf32> {
  %0:2 = weft.vjp @part(%x, %n, %m) cotangents(%d) wrt [0]
      : (tensor<3x2xf32>, tensor<i64>, tensor<i64>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<3x2xf32>)
  return %0#1 : tensor<3x2xf32>
}
