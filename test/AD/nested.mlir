// Derivatives of derivatives: those inside a function are expanded before those of it.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

func.func private @cube(%x: tensor<f32>) -> tensor<f32> {
  %0 = weft.multiply %x, %x : tensor<f32>
  %1 = weft.multiply %0, %x : tensor<f32>
  return %1 : tensor<f32>
}
func.func private @slope(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @cube(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
// CHECK-LABEL: func.func @second(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[CONSTANT]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[CONSTANT2]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT2]], %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY4:.*]] = weft.multiply %[[CONSTANT2]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY5:.*]] = weft.multiply %[[CONSTANT2]], %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[MULTIPLY2]], %[[MULTIPLY4]] : tensor<f32>
// CHECK-NEXT:   %[[ADD2:.*]] = weft.add %[[MULTIPLY3]], %[[MULTIPLY5]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY6:.*]] = weft.multiply %[[CONSTANT2]], %[[CONSTANT]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY7:.*]] = weft.multiply %[[ADD]], %[[CONSTANT]] : tensor<f32>
// CHECK-NEXT:   %[[ADD3:.*]] = weft.add %[[ADD2]], %[[MULTIPLY7]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY8:.*]] = weft.multiply %[[MULTIPLY6]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY9:.*]] = weft.multiply %[[MULTIPLY6]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[ADD4:.*]] = weft.add %[[ADD3]], %[[MULTIPLY8]] : tensor<f32>
// CHECK-NEXT:   %[[ADD5:.*]] = weft.add %[[ADD4]], %[[MULTIPLY9]] : tensor<f32>
// CHECK-NEXT:   return %[[ADD5]] : tensor<f32>
func.func @second(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @slope(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// A product of the Hessian with a vector: forward over reverse, through a call.
func.func private @sine(%x: tensor<3xf32>) -> tensor<f32> {
  %0 = weft.sin %x : tensor<3xf32>
  %1 = weft.sum %0 {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @sine_slope(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.gradient @sine(%x) wrt [0] : (tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
func.func private @through_a_call(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = func.call @sine_slope(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// CHECK-LABEL: func.func @hessian_vector(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [3] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   %[[SIN:.*]] = weft.sin %[[A0]] : tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[A1]], %[[SIN]] : tensor<3xf32>
// CHECK-NEXT:   %[[NEGATE:.*]] = weft.negate %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[NEGATE]], %[[BROADCAST]] : tensor<3xf32>
// CHECK-NEXT:   return %[[MULTIPLY2]] : tensor<3xf32>
func.func @hessian_vector(%x: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @through_a_call(%x) tangents(%v) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

// A derivative may stand in a loop; what it differentiates is straight-line code.
// CHECK-LABEL: func.func @descend(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[CONSTANT2:.*]] = arith.constant 1 : index
// CHECK-NEXT:   %[[FOR:.*]] = scf.for %{{.*}} = %[[CONSTANT]] to %[[A1]] step %[[CONSTANT2]] iter_args(%[[AT:.*]] = %[[A0]]) -> (tensor<f32>) {
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[AT]], %[[AT]] : tensor<f32>
// CHECK-NEXT:     %[[CONSTANT3:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY2:.*]] = weft.multiply %[[CONSTANT3]], %[[AT]] : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT3]], %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY4:.*]] = weft.multiply %[[MULTIPLY2]], %[[AT]] : tensor<f32>
// CHECK-NEXT:     %[[MULTIPLY5:.*]] = weft.multiply %[[MULTIPLY2]], %[[AT]] : tensor<f32>
// CHECK-NEXT:     %[[ADD:.*]] = weft.add %[[MULTIPLY3]], %[[MULTIPLY4]] : tensor<f32>
// CHECK-NEXT:     %[[ADD2:.*]] = weft.add %[[ADD]], %[[MULTIPLY5]] : tensor<f32>
// CHECK-NEXT:     %[[SUBTRACT:.*]] = weft.subtract %[[AT]], %[[ADD2]] : tensor<f32>
// CHECK-NEXT:     scf.yield %[[SUBTRACT]] : tensor<f32>
// CHECK-NEXT:   }
// CHECK-NEXT:   return %[[FOR]] : tensor<f32>
func.func @descend(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%at = %x) -> (tensor<f32>) {
    %1:2 = weft.gradient @cube(%at) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %2 = weft.subtract %at, %1#1 : tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
