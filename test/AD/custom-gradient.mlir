// Derivatives of the user's own: in reverse the pullback's body stands for the rules, in forward mode its transpose.
// RUN: weft-opt %s -weft-differentiate -symbol-dce -verify-each | FileCheck %s
// RUN: weft-run %s --entry=run --arg='dense<2.0> : tensor<f64>' --print | FileCheck %s --check-prefix=VALUE

// log(1 + e^x), whose derivative by the rules is nan where e^x is infinite.
func.func private @pullback(%dy: tensor<f64>, %e: tensor<f64>) -> tensor<f64> {
  %one = weft.constant dense<1.0> : tensor<f64>
  %0 = weft.add %one, %e : tensor<f64>
  %1 = weft.divide %one, %0 : tensor<f64>
  %2 = weft.subtract %one, %1 : tensor<f64>
  %3 = weft.multiply %dy, %2 : tensor<f64>
  return %3 : tensor<f64>
}
func.func private @log1pexp(%x: tensor<f64>) -> tensor<f64> {
  %one = weft.constant dense<1.0> : tensor<f64>
  %e = weft.exp %x : tensor<f64>
  %0 = weft.add %one, %e : tensor<f64>
  %1 = weft.log %0 : tensor<f64>
  %2 = weft.custom_gradient(%1) of(%x) by @pullback(%e) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %2 : tensor<f64>
}
// CHECK-LABEL: func.func @reverse(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[EXP:.*]] = weft.exp %[[A0]] : tensor<f64>
// CHECK-NEXT:     %[[ADD:.*]] = weft.add %[[CONSTANT]], %[[EXP]] : tensor<f64>
// CHECK-NEXT:     %[[LOG:.*]] = weft.log %[[ADD]] : tensor<f64>
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[CONSTANT3:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[ADD2:.*]] = weft.add %[[CONSTANT3]], %[[EXP]] : tensor<f64>
// CHECK-NEXT:     %[[DIVIDE:.*]] = weft.divide %[[CONSTANT3]], %[[ADD2]] : tensor<f64>
// CHECK-NEXT:     %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT3]], %[[DIVIDE]] : tensor<f64>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[CONSTANT2]], %[[SUBTRACT]] : tensor<f64>
// CHECK-NEXT:     return %[[LOG]], %[[MULTIPLY]] : tensor<f64>, tensor<f64>
func.func @reverse(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %0:2 = weft.gradient @log1pexp(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#0, %0#1 : tensor<f64>, tensor<f64>
}
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[EXP:.*]] = weft.exp %[[A0]] : tensor<f64>
// CHECK-NEXT:     %[[ADD:.*]] = weft.add %[[CONSTANT]], %[[EXP]] : tensor<f64>
// CHECK-NEXT:     %[[LOG:.*]] = weft.log %[[ADD]] : tensor<f64>
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[CONSTANT3:.*]] = weft.constant dense<1.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[ADD2:.*]] = weft.add %[[CONSTANT3]], %[[EXP]] : tensor<f64>
// CHECK-NEXT:     %[[DIVIDE:.*]] = weft.divide %[[CONSTANT3]], %[[ADD2]] : tensor<f64>
// CHECK-NEXT:     %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT3]], %[[DIVIDE]] : tensor<f64>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[A1]], %[[SUBTRACT]] : tensor<f64>
// CHECK-NEXT:     return %[[LOG]], %[[MULTIPLY]] : tensor<f64>, tensor<f64>
func.func @forward(%x: tensor<f64>, %dx: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %0:2 = weft.jvp @log1pexp(%x) tangents(%dx) wrt [0] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#0, %0#1 : tensor<f64>, tensor<f64>
}

// Where no derivative is asked, it is nothing.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     return %[[A0]] : tensor<f64>
func.func @plain(%x: tensor<f64>, %e: tensor<f64>) -> tensor<f64> {
  %0 = weft.custom_gradient(%x) of(%x) by @pullback(%e) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}

// Three results, of which a whole number has no cotangent; one argument is no source. Effects stand in the reverse.
func.func private @loud(%dp: tensor<f64>, %dq: tensor<2xf64>, %v: !weft.var<tensor<f64>>) -> tensor<f64> {
  weft.print "pulled"
  %s = weft.sum %dq {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
  %w = weft.read %v : tensor<f64>
  %0 = weft.multiply %s, %w : tensor<f64>
  %1 = weft.add %dp, %0 : tensor<f64>
  return %1 : tensor<f64>
}
weft.variable @v = dense<10.0> : tensor<f64>
func.func private @several(%x: tensor<f64>, %q: tensor<2xf64>) -> (tensor<f64>, tensor<i64>, tensor<2xf64>) {
  %n = weft.constant dense<3> : tensor<i64>
  %v = weft.handle @v : !weft.var<tensor<f64>>
  %0:3 = weft.custom_gradient(%x, %n, %q) of(%x) by @loud(%v)
    : (tensor<f64>, tensor<i64>, tensor<2xf64>, tensor<f64>, !weft.var<tensor<f64>>) -> (tensor<f64>, tensor<i64>, tensor<2xf64>)
  return %0#0, %0#1, %0#2 : tensor<f64>, tensor<i64>, tensor<2xf64>
}
// CHECK-LABEL: func.func @results(
// CHECK-SAME: %[[A0:[a-z0-9]+]]: {{[^,)]*}}, %[[A1:[a-z0-9]+]]: {{[^,)]*}}, %[[A2:[a-z0-9]+]]: {{[^,)]*}}, %[[A3:[a-z0-9]+]]: {{[^,)]*}}
// CHECK-NEXT:     %[[CONSTANT:.*]] = weft.constant dense<3> : tensor<i64>
// CHECK-NEXT:     %[[HANDLE:.*]] = weft.handle @v : !weft.var<tensor<f64>>
// CHECK-NEXT:     weft.print "pulled" {weft.pulled}
// CHECK-NEXT:     %[[SUM:.*]] = weft.sum %[[A3]] {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
// CHECK-NEXT:     %[[READ:.*]] = weft.read %[[HANDLE]] {weft.pulled} : tensor<f64>
// CHECK-NEXT:     %[[MULTIPLY:.*]] = weft.multiply %[[SUM]], %[[READ]] : tensor<f64>
// CHECK-NEXT:     %[[ADD:.*]] = weft.add %[[A2]], %[[MULTIPLY]] : tensor<f64>
// CHECK-NEXT:     %[[CONSTANT2:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK-NEXT:     %[[BROADCAST:.*]] = weft.broadcast %[[CONSTANT2]] to [2] : (tensor<f64>) -> tensor<2xf64>
// CHECK-NEXT:     return %[[CONSTANT]], %[[ADD]], %[[BROADCAST]] : tensor<i64>, tensor<f64>, tensor<2xf64>
func.func @results(%x: tensor<f64>, %q: tensor<2xf64>, %dp: tensor<f64>, %dq: tensor<2xf64>) -> (tensor<i64>, tensor<f64>, tensor<2xf64>) {
  %0:5 = weft.vjp @several(%x, %q) cotangents(%dp, %dq) wrt [0, 1]
    : (tensor<f64>, tensor<2xf64>, tensor<f64>, tensor<2xf64>) -> (tensor<f64>, tensor<i64>, tensor<2xf64>, tensor<f64>, tensor<2xf64>)
  return %0#1, %0#3, %0#4 : tensor<i64>, tensor<f64>, tensor<2xf64>
}

// In a loop: what the pullback captures is kept for each iteration.
func.func private @iterations(%x: tensor<f64>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<f64>) {
    %y = func.call @log1pexp(%a) : (tensor<f64>) -> tensor<f64>
    scf.yield %y : tensor<f64>
  }
  return %r : tensor<f64>
}
func.func private @slope(%x: tensor<f64>) -> tensor<f64> {
  %n = arith.constant 3 : index
  %0:2 = weft.gradient @iterations(%x, %n) wrt [0] : (tensor<f64>, index) -> (tensor<f64>, tensor<f64>)
  return %0#1 : tensor<f64>
}

// The second derivative of the same: by what the pullback does, and through the custom gradient in it again.
// VALUE: run: 4 results
// VALUE-NEXT: tensor(0.71123459,
// VALUE-NEXT: tensor(0.71123459,
// VALUE-NEXT: tensor(0.20537995,
// VALUE-NEXT: tensor(0.20537995,
func.func @run(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) {
  %n = arith.constant 3 : index
  %one = weft.constant dense<1.0> : tensor<f64>
  %0:2 = weft.gradient @iterations(%x, %n) wrt [0] : (tensor<f64>, index) -> (tensor<f64>, tensor<f64>)
  %1:2 = weft.jvp @iterations(%x, %n) tangents(%one) wrt [0] : (tensor<f64>, index, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %2:2 = weft.gradient @slope(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %3:2 = weft.jvp @slope(%x) tangents(%one) wrt [0] : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %0#1, %1#1, %2#1, %3#1 : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>
}
