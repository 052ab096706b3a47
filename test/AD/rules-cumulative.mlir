// Reverse and forward code of cumulative ops: linear recurrences in either direction.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- cumsum ---===//

func.func private @cumsum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.cumsum %x {axis = 0 : i64, exclusive = true} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Each element counts in the sums behind it: the sum from the other end.
// CHECK-LABEL: func.func @cumsum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SUM:.*]] = weft.cumsum %[[D]] {axis = 0 : i64, exclusive = true, reverse = true} : tensor<4xf32>
// CHECK-NEXT:   return %[[SUM]] : tensor<4xf32>
func.func @cumsum_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @cumsum(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @cumsum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[SUM:.*]] = weft.cumsum %[[D]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT:   return %[[SUM]] : tensor<4xf32>
func.func @cumsum_jvp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @cumsum(%x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- cumprod ---===//

func.func private @cumprod(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.cumprod %x {axis = 0 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// An element multiplies what is before it, and all behind it carries on with their factors; nothing is divided.
// CHECK-LABEL: func.func @cumprod_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[BEFORE:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT:   %[[BACK:.*]] = weft.linear_recurrence %[[X]], %[[D]] {axis = 0 : i64, reverse = true, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %[[DX:.*]] = weft.multiply %[[BEFORE]], %[[BACK]] : tensor<4xf32>
// CHECK-NEXT:   return %[[DX]] : tensor<4xf32>
func.func @cumprod_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @cumprod(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @cumprod_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[BEFORE:.*]] = weft.cumprod %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK-NEXT:   %[[ADDED:.*]] = weft.multiply %[[BEFORE]], %[[D]] : tensor<4xf32>
// CHECK-NEXT:   %[[DY:.*]] = weft.linear_recurrence %[[X]], %[[ADDED]] {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   return %[[DY]] : tensor<4xf32>
func.func @cumprod_jvp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @cumprod(%x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- linear_recurrence ---===//

func.func private @linear_recurrence(%a: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.linear_recurrence %a, %x {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Backwards the factor of a step is that of the one behind it; a factor multiplied what was before its step.
// CHECK-LABEL: func.func @linear_recurrence_vjp(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^,)]*}}, %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.linear_recurrence %[[A]], %[[X]] {axis = 0 : i64, exclusive = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[BACK:.*]] = weft.linear_recurrence %[[A]], %[[D]] {axis = 0 : i64, reverse = true, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[DA:.*]] = weft.multiply %[[BEFORE]], %[[BACK]] : tensor<4xf32>
// CHECK:   %[[DX:.*]] = weft.linear_recurrence %[[A]], %[[D]] {axis = 0 : i64, reverse = true, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   return %[[DA]], %[[DX]] : tensor<4xf32>, tensor<4xf32>
func.func @linear_recurrence_vjp(%a: tensor<4xf32>, %x: tensor<4xf32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:3 = weft.vjp @linear_recurrence(%a, %x) cotangents(%d) wrt [0, 1] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @linear_recurrence_jvp(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^,)]*}}, %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.linear_recurrence %[[A]], %[[X]] {axis = 0 : i64, exclusive = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[ADDED:.*]] = weft.multiply %[[D]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[DY:.*]] = weft.linear_recurrence %[[A]], %[[ADDED]] {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   return %[[DY]] : tensor<4xf32>
func.func @linear_recurrence_jvp(%a: tensor<4xf32>, %x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @linear_recurrence(%a, %x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

func.func private @shifted(%a: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.linear_recurrence %a, %x {axis = 0 : i64, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// And the other way round: what derivatives are made of has such derivatives itself.
// CHECK-LABEL: func.func @shifted_vjp(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^,)]*}}, %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[Y:.*]] = weft.linear_recurrence %[[A]], %[[X]] {axis = 0 : i64, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[BACK:.*]] = weft.linear_recurrence %[[A]], %[[D]] {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[DA:.*]] = weft.multiply %[[Y]], %[[BACK]] : tensor<4xf32>
// CHECK:   %[[DX:.*]] = weft.linear_recurrence %[[A]], %[[D]] {axis = 0 : i64, reverse = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   return %[[DA]], %[[DX]] : tensor<4xf32>, tensor<4xf32>
func.func @shifted_vjp(%a: tensor<4xf32>, %x: tensor<4xf32>, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:3 = weft.vjp @shifted(%a, %x) cotangents(%d) wrt [0, 1] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}

//===--- logcumsumexp ---===//

func.func private @logcumsumexp(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.logcumsumexp %x {axis = 0 : i64} : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// Both parts of each sum as shares of it, which are 1 at most; no size needs to be known.
// CHECK-LABEL: func.func @logcumsumexp_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[Y:.*]] = weft.logcumsumexp %[[X]] {axis = 0 : i64} : tensor<?xf32>
// CHECK:   %[[BEFORE:.*]] = weft.logcumsumexp %[[X]] {axis = 0 : i64, exclusive = true} : tensor<?xf32>
// CHECK:   %[[DIFFERENCE:.*]] = weft.subtract %[[BEFORE]], %[[Y]] : tensor<?xf32>
// CHECK:   %[[SAFE:.*]] = weft.select %{{.*}}, %{{.*}}, %[[DIFFERENCE]]
// CHECK:   %[[CARRY:.*]] = weft.exp %[[SAFE]] : tensor<?xf32>
// CHECK:   %[[DIFFERENCE2:.*]] = weft.subtract %[[X]], %[[Y]] : tensor<?xf32>
// CHECK:   %[[SAFE2:.*]] = weft.select %{{.*}}, %{{.*}}, %[[DIFFERENCE2]]
// CHECK:   %[[WEIGHT:.*]] = weft.exp %[[SAFE2]] : tensor<?xf32>
// CHECK:   %[[BACK:.*]] = weft.linear_recurrence %[[CARRY]], %[[D]] {axis = 0 : i64, reverse = true, shifted = true}
// CHECK:   %[[DX:.*]] = weft.multiply %[[WEIGHT]], %[[BACK]] : tensor<?xf32>
// CHECK:   return %[[DX]] : tensor<?xf32>
func.func @logcumsumexp_vjp(%x: tensor<?xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = weft.vjp @logcumsumexp(%x) cotangents(%d) wrt [0] : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}
// CHECK-LABEL: func.func @logcumsumexp_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[CARRY:.*]] = weft.exp
// CHECK:   %[[WEIGHT:.*]] = weft.exp
// CHECK:   %[[ADDED:.*]] = weft.multiply %[[WEIGHT]], %[[D]] : tensor<?xf32>
// CHECK:   %[[DY:.*]] = weft.linear_recurrence %[[CARRY]], %[[ADDED]] {axis = 0 : i64}
// CHECK:   return %[[DY]] : tensor<?xf32>
func.func @logcumsumexp_jvp(%x: tensor<?xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = weft.jvp @logcumsumexp(%x) tangents(%d) wrt [0] : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}

//===--- cummax, cummin ---===//

func.func private @cummax(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.cummax %x {axis = 0 : i64, exclusive = true} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// How many share is counted by a recurrence too, which starts again where an element is larger.
// CHECK-LABEL: func.func @cummax_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.cummax %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK:   %[[TIES:.*]] = weft.equal %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[BETTER:.*]] = weft.greater %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[WORSE:.*]] = weft.less %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[COUNT:.*]] = weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[CARRY:.*]] = weft.select %[[WORSE]]
// CHECK:   %[[WEIGHT:.*]] = weft.select %[[BETTER]]
// CHECK:   %[[BACK:.*]] = weft.linear_recurrence %[[CARRY]], %[[D]] {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[DX:.*]] = weft.multiply %[[WEIGHT]], %[[BACK]] : tensor<4xf32>
// CHECK:   return %[[DX]] : tensor<4xf32>
func.func @cummax_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @cummax(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @cummax_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.cummax %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK:   %[[TIES:.*]] = weft.equal %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[BETTER:.*]] = weft.greater %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[WORSE:.*]] = weft.less %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[COUNT:.*]] = weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[CARRY:.*]] = weft.select %[[WORSE]]
// CHECK:   %[[WEIGHT:.*]] = weft.select %[[BETTER]]
// CHECK:   %[[ADDED:.*]] = weft.multiply %[[WEIGHT]], %[[D]] : tensor<4xf32>
// CHECK:   %[[DY:.*]] = weft.linear_recurrence %[[CARRY]], %[[ADDED]] {axis = 0 : i64, exclusive = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   return %[[DY]] : tensor<4xf32>
func.func @cummax_jvp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @cummax(%x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

func.func private @cummin(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.cummin %x {axis = 0 : i64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The same with less instead of greater; what is not exclusive comes back shifted.
// CHECK-LABEL: func.func @cummin_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.cummin %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK:   %[[TIES:.*]] = weft.equal %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[BETTER:.*]] = weft.less %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[WORSE:.*]] = weft.greater %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[COUNT:.*]] = weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[CARRY:.*]] = weft.select %[[WORSE]]
// CHECK:   %[[WEIGHT:.*]] = weft.select %[[BETTER]]
// CHECK:   %[[BACK:.*]] = weft.linear_recurrence %[[CARRY]], %[[D]] {axis = 0 : i64, reverse = true, shifted = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[DX:.*]] = weft.multiply %[[WEIGHT]], %[[BACK]] : tensor<4xf32>
// CHECK:   return %[[DX]] : tensor<4xf32>
func.func @cummin_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @cummin(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @cummin_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{[^,)]*}}, %[[D:[a-z0-9]+]]: {{[^,)]*}}
// CHECK:   %[[BEFORE:.*]] = weft.cummin %[[X]] {axis = 0 : i64, exclusive = true} : tensor<4xf32>
// CHECK:   %[[TIES:.*]] = weft.equal %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[BETTER:.*]] = weft.less %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[WORSE:.*]] = weft.greater %[[X]], %[[BEFORE]] : tensor<4xf32>
// CHECK:   %[[COUNT:.*]] = weft.linear_recurrence %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   %[[CARRY:.*]] = weft.select %[[WORSE]]
// CHECK:   %[[WEIGHT:.*]] = weft.select %[[BETTER]]
// CHECK:   %[[ADDED:.*]] = weft.multiply %[[WEIGHT]], %[[D]] : tensor<4xf32>
// CHECK:   %[[DY:.*]] = weft.linear_recurrence %[[CARRY]], %[[ADDED]] {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:   return %[[DY]] : tensor<4xf32>
func.func @cummin_jvp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @cummin(%x) tangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
