// A text that has not gone through the phase that it is said to have gone through.
// RUN: not weft-compile %s --compile-from=differentiate -o - 2>&1 | FileCheck %s --check-prefix=DIFFERENTIATE
// RUN: not weft-compile %s --compile-from=llvm -o - 2>&1 | FileCheck %s --check-prefix=LLVM
// RUN: not weft-run %s --from=schedule --entry=g --arg='dense<1.0> : tensor<f32>' 2>&1 | FileCheck %s --check-prefix=SCHEDULE

// LLVM: error: 'weft.exp' op is no op of a program that has gone through the phase 'llvm': 'linalg' leaves none like it
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  // SCHEDULE: not-gone-through.mlir:[[# @LINE + 1]]:8: error: 'weft.exp' op is no op of a program that has gone through the phase 'schedule': 'linalg' leaves none like it
  %0 = weft.exp %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @g(%x: tensor<f32>) -> tensor<f32> {
  // DIFFERENTIATE: not-gone-through.mlir:[[# @LINE + 1]]:10: error: 'weft.gradient' op is no op of a program that has gone through the phase 'differentiate': 'differentiate' leaves none like it
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}
