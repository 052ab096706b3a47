// Reverse and forward code of elementwise ops of two operands, one of which is repeated to the shape of the other, and of select.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- add ---===//

func.func private @add(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.add %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// Cotangents as they are, summed over what was repeated.
// CHECK-LABEL: func.func @add_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[D]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[D]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @add_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @add(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @add_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DX]], %[[DY]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @add_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @add(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- subtract ---===//

func.func private @subtract(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.subtract %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// As of add, one of them negated.
// CHECK-LABEL: func.func @subtract_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[D]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[NEGATE]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[D]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @subtract_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @subtract(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @subtract_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[DY]] : tensor<3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DX]], %[[NEGATE]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @subtract_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @subtract(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- multiply ---===//

func.func private @multiply(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.multiply %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// Each times the other operand.
// CHECK-LABEL: func.func @multiply_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[X]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[MULTIPLY2]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @multiply_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @multiply(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @multiply_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DY]], %[[X]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[MULTIPLY]], %[[MULTIPLY2]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @multiply_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @multiply(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- divide ---===//

func.func private @divide(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.divide %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// By the divisor it is minus the quotient over the divisor.
// CHECK-LABEL: func.func @divide_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE2:.*]] = weft.divide %[[D]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[DIVIDE]] : tensor<2x3xf32>
// CHECK-NEXT: %[[DIVIDE3:.*]] = weft.divide %[[MULTIPLY]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[DIVIDE3]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[NEGATE]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE2]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @divide_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @divide(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @divide_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE2:.*]] = weft.divide %[[DX]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DY]], %[[DIVIDE]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[DIVIDE3:.*]] = weft.divide %[[MULTIPLY]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[DIVIDE3]] : tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DIVIDE2]], %[[NEGATE]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @divide_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @divide(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- remainder ---===//

func.func private @remainder(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.remainder %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// By the divisor it is minus how many times that went in.
// CHECK-LABEL: func.func @remainder_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[FLOOR:.*]] = weft.floor %[[DIVIDE]] : tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[FLOOR]] : tensor<2x3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[MULTIPLY]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[NEGATE]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[D]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @remainder_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @remainder(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @remainder_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[FLOOR:.*]] = weft.floor %[[DIVIDE]] : tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DY]], %[[FLOOR]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[MULTIPLY]] : tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[DX]], %[[NEGATE]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @remainder_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @remainder(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- power ---===//

func.func private @power(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.power %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// y x^(y-1), which is 0 where y is, and x^y log x, which is 0 where x is, even if the other factor is infinite.
// CHECK-LABEL: func.func @power_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[POWER:.*]] = weft.power %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[Y]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[Y]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[Y]], %[[CONSTANT2]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL2]], %[[CONSTANT2]], %[[SUBTRACT]] : tensor<3xi1>, tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[POWER2:.*]] = weft.power %[[X]], %[[SELECT]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[Y]], %[[POWER2]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[EQUAL]], %[[CONSTANT]], %[[MULTIPLY]] : tensor<3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[SELECT2]] : tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL3:.*]] = weft.equal %[[X]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[EQUAL4:.*]] = weft.equal %[[X]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL4]], %[[CONSTANT2]], %[[X]] : tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[LOG:.*]] = weft.log %[[SELECT3]] : tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY3:.*]] = weft.multiply %[[POWER]], %[[LOG]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[EQUAL3]], %[[CONSTANT]], %[[MULTIPLY3]] : tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY4:.*]] = weft.multiply %[[D]], %[[SELECT4]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[MULTIPLY4]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY2]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @power_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @power(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @power_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[POWER:.*]] = weft.power %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[Y]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[Y]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[Y]], %[[CONSTANT2]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL2]], %[[CONSTANT2]], %[[SUBTRACT]] : tensor<3xi1>, tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[POWER2:.*]] = weft.power %[[X]], %[[SELECT]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[Y]], %[[POWER2]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[EQUAL]], %[[CONSTANT]], %[[MULTIPLY]] : tensor<3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DX]], %[[SELECT2]] : tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL3:.*]] = weft.equal %[[X]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[EQUAL4:.*]] = weft.equal %[[X]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL4]], %[[CONSTANT2]], %[[X]] : tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[LOG:.*]] = weft.log %[[SELECT3]] : tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY3:.*]] = weft.multiply %[[POWER]], %[[LOG]] : tensor<2x3xf32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[EQUAL3]], %[[CONSTANT]], %[[MULTIPLY3]] : tensor<2x3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[MULTIPLY4:.*]] = weft.multiply %[[DY]], %[[SELECT4]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[MULTIPLY2]], %[[MULTIPLY4]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @power_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @power(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- maximum ---===//

func.func private @maximum(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.maximum %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// To the larger; to each a half where both are equal.
// CHECK-LABEL: func.func @maximum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[GREATER:.*]] = weft.greater %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[MULTIPLY]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[GREATER]], %[[D]], %[[SELECT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[GREATER2:.*]] = weft.greater %[[Y]], %[[X]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL2]], %[[MULTIPLY2]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[GREATER2]], %[[D]], %[[SELECT3]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[SELECT4]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[SELECT2]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @maximum_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @maximum(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @maximum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[GREATER:.*]] = weft.greater %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[MULTIPLY]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[GREATER]], %[[DX]], %[[SELECT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[GREATER2:.*]] = weft.greater %[[Y]], %[[X]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DY]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL2]], %[[MULTIPLY2]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[GREATER2]], %[[DY]], %[[SELECT3]] : tensor<2x3xi1>, tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[SELECT2]], %[[SELECT4]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @maximum_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @maximum(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- minimum ---===//

func.func private @minimum(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = weft.minimum %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}
// To the smaller; to each a half where both are equal.
// CHECK-LABEL: func.func @minimum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[LESS:.*]] = weft.less %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[MULTIPLY]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[LESS]], %[[D]], %[[SELECT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[LESS2:.*]] = weft.less %[[Y]], %[[X]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL2]], %[[MULTIPLY2]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[LESS2]], %[[D]], %[[SELECT3]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[SELECT4]] {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[SELECT2]], %[[SUM]] : tensor<2x3xf32>, tensor<3xf32>
func.func @minimum_vjp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0:3 = weft.vjp @minimum(%x, %y) cotangents(%d) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @minimum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[LESS:.*]] = weft.less %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[EQUAL:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[CONSTANT]] : tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[EQUAL]], %[[MULTIPLY]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[LESS]], %[[DX]], %[[SELECT]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[LESS2:.*]] = weft.less %[[Y]], %[[X]] : tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[EQUAL2:.*]] = weft.equal %[[X]], %[[Y]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DY]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT3:.*]] = weft.select %[[EQUAL2]], %[[MULTIPLY2]], %[[CONSTANT2]] : tensor<2x3xi1>, tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT4:.*]] = weft.select %[[LESS2]], %[[DY]], %[[SELECT3]] : tensor<2x3xi1>, tensor<3xf32>, tensor<2x3xf32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[SELECT2]], %[[SELECT4]] : tensor<2x3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @minimum_jvp(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %dx: tensor<2x3xf32>, %dy: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @minimum(%x, %y) tangents(%dx, %dy) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- select ---===//

func.func private @select(%p: tensor<3xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %0 = weft.select %p, %x, %y : tensor<3xi1>, tensor<2x3xf32>, tensor<f32>
  return %0 : tensor<2x3xf32>
}
// To the operand that was selected; 0 to the other.
// CHECK-LABEL: func.func @select_vjp(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<3xi1>, %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[P]], %[[D]], %[[CONSTANT]] : tensor<3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[P]], %[[CONSTANT]], %[[D]] : tensor<3xi1>, tensor<f32>, tensor<2x3xf32>
// CHECK-NEXT: %[[SUM:.*]] = weft.sum %[[SELECT2]] {axes = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[SELECT]], %[[SUM]] : tensor<2x3xf32>, tensor<f32>
func.func @select_vjp(%p: tensor<3xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<f32>) {
  %0:3 = weft.vjp @select(%p, %x, %y) cotangents(%d) wrt [1, 2]
      : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>)
  return %0#1, %0#2 : tensor<2x3xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @select_jvp(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<3xi1>, %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<f32>, %[[DX:[a-z0-9]+]]: tensor<2x3xf32>, %[[DY:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SELECT:.*]] = weft.select %[[P]], %[[DX]], %[[CONSTANT]] : tensor<3xi1>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT: %[[SELECT2:.*]] = weft.select %[[P]], %[[CONSTANT]], %[[DY]] : tensor<3xi1>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[SELECT]], %[[SELECT2]] : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x3xf32>
func.func @select_jvp(%p: tensor<3xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>, %dx: tensor<2x3xf32>, %dy: tensor<f32>) -> tensor<2x3xf32> {
  %0:2 = weft.jvp @select(%p, %x, %y) tangents(%dx, %dy) wrt [1, 2]
      : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}
