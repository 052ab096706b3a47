// Reverse and forward code of elementwise ops of one operand.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- negate ---===//

func.func private @negate(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.negate %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Linear: the op itself, either way.
// CHECK-LABEL: func.func @negate_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[D]] : tensor<3xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<3xf32>
func.func @negate_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @negate(%x) cotangents(%d) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @negate_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[DX]] : tensor<3xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<3xf32>
func.func @negate_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @negate(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- abs ---===//

func.func private @abs(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.abs %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The sign, which is 0 at 0.
// CHECK-LABEL: func.func @abs_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SIGN:.*]] = weft.sign %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[SIGN]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @abs_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @abs(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @abs_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SIGN:.*]] = weft.sign %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[SIGN]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @abs_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @abs(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- exp ---===//

func.func private @exp(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.exp %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The result is its own derivative; the argument is not kept.
// CHECK-LABEL: func.func @exp_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[EXP:.*]] = weft.exp %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[EXP]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @exp_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @exp(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @exp_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[EXP:.*]] = weft.exp %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[EXP]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @exp_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @exp(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- log ---===//

func.func private @log(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.log %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Divided by the argument.
// CHECK-LABEL: func.func @log_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[X]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @log(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @log_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[DX]], %[[X]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @log(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- expm1 ---===//

func.func private @expm1(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.expm1 %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The result and 1 are e^x.
// CHECK-LABEL: func.func @expm1_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[EXPM1:.*]] = weft.expm1 %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[EXPM1]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[ADD]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @expm1_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @expm1(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @expm1_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[EXPM1:.*]] = weft.expm1 %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[EXPM1]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[ADD]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @expm1_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @expm1(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- log2 ---===//

func.func private @log2(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.log2 %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Divided by x and the logarithm of 2.
// CHECK-LABEL: func.func @log2_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.693147182> : tensor<f32>
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.multiply %[[CONSTANT]], %[[X]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[PRODUCT]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log2_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @log2(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @log2_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<0.693147182> : tensor<f32>
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.multiply %[[CONSTANT]], %[[X]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[DX]], %[[PRODUCT]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log2_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @log2(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- log10 ---===//

func.func private @log10(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.log10 %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Divided by x and the logarithm of 10.
// CHECK-LABEL: func.func @log10_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<2.30258512> : tensor<f32>
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.multiply %[[CONSTANT]], %[[X]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[PRODUCT]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log10_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @log10(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @log10_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<2.30258512> : tensor<f32>
// CHECK-NEXT: %[[PRODUCT:.*]] = weft.multiply %[[CONSTANT]], %[[X]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[DX]], %[[PRODUCT]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log10_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @log10(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- log1p ---===//

func.func private @log1p(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.log1p %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Divided by 1 + x.
// CHECK-LABEL: func.func @log1p_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[X]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[ADD]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log1p_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @log1p(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @log1p_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[ADD:.*]] = weft.add %[[X]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[DX]], %[[ADD]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @log1p_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @log1p(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- tanh ---===//

func.func private @tanh(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.tanh %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// 1 - y^2, of the result alone.
// CHECK-LABEL: func.func @tanh_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[TANH:.*]] = weft.tanh %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<3xf32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[MULTIPLY]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY2]] : tensor<3xf32>
func.func @tanh_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @tanh(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @tanh_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[TANH:.*]] = weft.tanh %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[TANH]], %[[TANH]] : tensor<3xf32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[MULTIPLY]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DX]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY2]] : tensor<3xf32>
func.func @tanh_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @tanh(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- erf ---===//

func.func private @erf(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.erf %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// 2 / sqrt(pi) exp(-x^2), of the operand alone.
// CHECK-LABEL: func.func @erf_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[SQUARE:.*]] = weft.multiply %[[X]], %[[X]] : tensor<3xf32>
// CHECK: %[[NEGATE:.*]] = weft.negate %[[SQUARE]] : tensor<3xf32>
// CHECK: %[[EXP:.*]] = weft.exp %[[NEGATE]] : tensor<3xf32>
// CHECK: %[[MULTIPLY:.*]] = weft.multiply %{{.*}}, %[[EXP]] : tensor<f32>, tensor<3xf32>
// CHECK: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK: return %[[MULTIPLY2]] : tensor<3xf32>
func.func @erf_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @erf(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

// CHECK-LABEL: func.func @erf_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK: weft.exp
// CHECK: %[[DY:.*]] = weft.multiply %[[DX]], %{{.*}} : tensor<3xf32>
// CHECK-NEXT: return %[[DY]] : tensor<3xf32>
func.func @erf_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @erf(%x) tangents(%dx) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- logistic ---===//

func.func private @logistic(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.logistic %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// y (1 - y), of the result alone.
// CHECK-LABEL: func.func @logistic_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[LOGISTIC:.*]] = weft.logistic %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[LOGISTIC]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[LOGISTIC]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[D]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY2]] : tensor<3xf32>
func.func @logistic_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @logistic(%x) cotangents(%d) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @logistic_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[LOGISTIC:.*]] = weft.logistic %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SUBTRACT:.*]] = weft.subtract %[[CONSTANT]], %[[LOGISTIC]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[LOGISTIC]], %[[SUBTRACT]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[DX]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY2]] : tensor<3xf32>
func.func @logistic_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @logistic(%x) tangents(%dx) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- sqrt ---===//

func.func private @sqrt(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.sqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// Divided by twice the result, which is infinite at 0.
// CHECK-LABEL: func.func @sqrt_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SQRT:.*]] = weft.sqrt %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[SQRT]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[D]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @sqrt_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @sqrt(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @sqrt_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SQRT:.*]] = weft.sqrt %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[SQRT]], %[[CONSTANT]] : tensor<3xf32>, tensor<f32>
// CHECK-NEXT: %[[DIVIDE:.*]] = weft.divide %[[DX]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[DIVIDE]] : tensor<3xf32>
func.func @sqrt_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @sqrt(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- rsqrt ---===//

func.func private @rsqrt(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -y^3 / 2, of the result alone.
// CHECK-LABEL: func.func @rsqrt_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[RSQRT:.*]] = weft.rsqrt %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<-5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[RSQRT]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[RSQRT]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT]], %[[MULTIPLY2]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY4:.*]] = weft.multiply %[[D]], %[[MULTIPLY3]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY4]] : tensor<3xf32>
func.func @rsqrt_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @rsqrt(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @rsqrt_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[RSQRT:.*]] = weft.rsqrt %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[CONSTANT:.*]] = weft.constant dense<-5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[RSQRT]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY2:.*]] = weft.multiply %[[RSQRT]], %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY3:.*]] = weft.multiply %[[CONSTANT]], %[[MULTIPLY2]] : tensor<f32>, tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY4:.*]] = weft.multiply %[[DX]], %[[MULTIPLY3]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY4]] : tensor<3xf32>
func.func @rsqrt_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @rsqrt(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- sin ---===//

func.func private @sin(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.sin %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The cosine of the argument.
// CHECK-LABEL: func.func @sin_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[COS:.*]] = weft.cos %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[COS]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @sin_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @sin(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @sin_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[COS:.*]] = weft.cos %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[COS]] : tensor<3xf32>
// CHECK-NEXT: return %[[MULTIPLY]] : tensor<3xf32>
func.func @sin_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @sin(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- cos ---===//

func.func private @cos(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = weft.cos %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The negated sine of the argument.
// CHECK-LABEL: func.func @cos_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SIN:.*]] = weft.sin %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[D]], %[[SIN]] : tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<3xf32>
func.func @cos_vjp(%x: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.vjp @cos(%x) cotangents(%d) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @cos_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>, %[[DX:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[SIN:.*]] = weft.sin %[[X]] : tensor<3xf32>
// CHECK-NEXT: %[[MULTIPLY:.*]] = weft.multiply %[[DX]], %[[SIN]] : tensor<3xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = weft.negate %[[MULTIPLY]] : tensor<3xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<3xf32>
func.func @cos_jvp(%x: tensor<3xf32>, %dx: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = weft.jvp @cos(%x) tangents(%dx) wrt [0] : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>
}

//===--- cast ---===//

func.func private @cast(%x: tensor<2xf32>) -> tensor<2xf64> {
  %0 = weft.cast %x to f64 : tensor<2xf32>
  return %0 : tensor<2xf64>
}
// A cotangent goes back to the dtype that its value had.
// CHECK-LABEL: func.func @cast_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[D:[a-z0-9]+]]: tensor<2xf64>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[D]] to f32 : tensor<2xf64>
// CHECK-NEXT: return %[[CAST]] : tensor<2xf32>
func.func @cast_vjp(%x: tensor<2xf32>, %d: tensor<2xf64>) -> tensor<2xf32> {
  %0:2 = weft.vjp @cast(%x) cotangents(%d) wrt [0] : (tensor<2xf32>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
// CHECK-LABEL: func.func @cast_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[DX:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[CAST:.*]] = weft.cast %[[DX]] to f64 : tensor<2xf32>
// CHECK-NEXT: return %[[CAST]] : tensor<2xf64>
func.func @cast_jvp(%x: tensor<2xf32>, %dx: tensor<2xf32>) -> tensor<2xf64> {
  %0:2 = weft.jvp @cast(%x) tangents(%dx) wrt [0] : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf64>, tensor<2xf64>)
  return %0#1 : tensor<2xf64>
}
