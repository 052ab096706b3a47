// Only what lies between the arguments asked for and the result gets adjoints: not integers, nor other arguments, nor
// what ops without a derivative gave, nor the second result. Effects stay, once, in the forward part.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

func.func private @paths(%x: tensor<3xf32>, %c: tensor<3xf32>, %i: tensor<2xi32>) -> (tensor<f32>, tensor<3xf32>) {
  %0 = weft.exp %c : tensor<3xf32>
  %1 = weft.multiply %x, %0 : tensor<3xf32>
  %2 = weft.sin %x : tensor<3xf32>
  %3 = weft.floor %x : tensor<3xf32>
  %4 = weft.cast %x to i32 : tensor<3xf32>
  %5 = weft.cast %4 to f32 : tensor<3xi32>
  %6 = weft.add %3, %5 : tensor<3xf32>
  %7 = weft.add %1, %6 : tensor<3xf32>
  %8 = weft.gather %7, %i {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi32>) -> tensor<2xf32>
  %9 = weft.sum %8 {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %9, %2 : tensor<f32>, tensor<3xf32>
}
// CHECK-LABEL: func.func @only_what_counts(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[EXP:.*]] = weft.exp %[[A1]] : tensor<3xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [2] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST2:.*]] = weft.broadcast %[[CONSTANT2]] to [3] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:   %[[SCATTER_ADD:.*]] = weft.scatter_add %[[BROADCAST2]], %[[A2]], %[[BROADCAST]] {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<3xf32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[SCATTER_ADD]], %[[EXP]] : tensor<3xf32>
// CHECK-NEXT:   return %[[MULTIPLY]] : tensor<3xf32>
func.func @only_what_counts(%x: tensor<3xf32>, %c: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<3xf32> {
  %0:3 = weft.gradient @paths(%x, %c, %i) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>)
  return %0#2 : tensor<3xf32>
}

func.func private @product(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<2xf32>) -> tensor<f32> {
  %0 = weft.multiply %x, %y : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @arguments_are_apart(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[CONSTANT]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT2]] to [2] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   return %[[MULTIPLY]], %[[BROADCAST]] : tensor<f32>, tensor<2xf32>
func.func @arguments_are_apart(%x: tensor<f32>, %z: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  %0:3 = weft.gradient @product(%x, %x, %z) wrt [1, 2]
      : (tensor<f32>, tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<f32>, tensor<2xf32>)
  return %0#1, %0#2 : tensor<f32>, tensor<2xf32>
}

weft.variable @v = dense<2.0> : tensor<f32>
func.func private @stateful(%x: tensor<f32>) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v : tensor<f32>
  %1 = weft.multiply %x, %0 : tensor<f32>
  weft.assign %v, %1 : tensor<f32>
  %2 = weft.read %v : tensor<f32>
  %3 = weft.add %1, %2 : tensor<f32>
  %4 = weft.greater %3, %x : tensor<f32>
  %p = weft.item %4 : tensor<i1>
  scf.if %p {
    weft.print "large {}", %3 : tensor<f32>
  }
  return %3 : tensor<f32>
}
// CHECK-LABEL: func.func @state_ends_gradients(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[HANDLE:.*]] = weft.handle @v : !weft.var<tensor<f32>>
// CHECK-NEXT:   %[[READ:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY:.*]] = weft.multiply %[[A0]], %[[READ]] : tensor<f32>
// CHECK-NEXT:   weft.assign %[[HANDLE]], %[[MULTIPLY]] : tensor<f32>
// CHECK-NEXT:   %[[READ2:.*]] = weft.read %[[HANDLE]] : tensor<f32>
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[MULTIPLY]], %[[READ2]] : tensor<f32>
// CHECK-NEXT:   %[[GREATER:.*]] = weft.greater %[[ADD]], %[[A0]] : tensor<f32>
// CHECK-NEXT:   %[[ITEM:.*]] = weft.item %[[GREATER]] : tensor<i1>
// CHECK-NEXT:   scf.if %[[ITEM]] {
// CHECK-NEXT:     weft.print "large {}", %[[ADD]] : tensor<f32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[MULTIPLY2:.*]] = weft.multiply %[[CONSTANT]], %[[READ]] : tensor<f32>
// CHECK-NEXT:   return %[[MULTIPLY2]] : tensor<f32>
func.func @state_ends_gradients(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @stateful(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
func.func private @identity(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) {
  %0 = weft.constant dense<1> : tensor<2xi32>
  return %x, %0, %x : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @results_may_repeat(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:   %[[ADD:.*]] = weft.add %[[A1]], %[[A2]] : tensor<2xf32>
// CHECK-NEXT:   %[[CONSTANT:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:   %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT]] to [2] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:   return %[[ADD]], %[[BROADCAST]] : tensor<2xf32>, tensor<2xf32>
func.func @results_may_repeat(%x: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:5 = weft.vjp @identity(%x, %x) cotangents(%a, %b) wrt [0, 1]
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
        -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0#3, %0#4 : tensor<2xf32>, tensor<2xf32>
}

// What C++ computes of a constant has no derivative: d(x * f(x)) = f(x) dx behind stop_gradient. It is called once.
// CHECK-LABEL: func.func @host_call(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK:        %[[S:.*]] = weft.stop_gradient %[[X]] : tensor<f32>
// CHECK-NEXT:   %[[F:.*]] = weft.host_call @f(%[[S]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NOT:    weft.host_call
// CHECK:        %[[D:.*]] = weft.multiply %{{.*}}, %[[F]] : tensor<f32>
// CHECK-NEXT:   return %[[D]] : tensor<f32>
func.func private @with_host_call(%x: tensor<f32>) -> tensor<f32> {
  %s = weft.stop_gradient %x : tensor<f32>
  %0 = weft.host_call @f(%s) : (tensor<f32>) -> tensor<f32>
  %1 = weft.multiply %x, %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func @host_call(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = weft.gradient @with_host_call(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
