// Loops in other steps than 1 count their iterations, so that no number goes past the last.
// RUN: weft-opt %s --weft-count-iterations --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-run %s --entry=near_the_end --arg='dense<[9223372036854775804, 9223372036854775807, 2]> : tensor<3xi64>' --print | FileCheck %s --check-prefix=TWO
// RUN: weft-run %s --entry=near_the_end --arg='dense<[-9223372036854775808, 9223372036854775807, 4611686018427387904]> : tensor<3xi64>' --print | FileCheck %s --check-prefix=FOUR
// RUN: not weft-run %s --entry=near_the_end --arg='dense<[0, 5, 0]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not weft-run %s --entry=near_the_end --arg='dense<[0, 5, -1]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=STEP

// A step of 1 is as good as it is.
// CHECK-LABEL: func private @one
// CHECK: scf.for %{{.*}} = %arg0 to %arg1 step %c1
func.func private @one(%low: index, %high: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {
  }
  return
}

// CHECK-LABEL: func private @known
// CHECK: %[[COUNT:.*]] = arith.constant 2 : index
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: scf.for %[[T:.*]] = %[[ZERO]] to %[[COUNT]] step %[[ONE]]
// CHECK: %[[AT:.*]] = arith.muli %[[T]], %c3
// CHECK: arith.addi %[[AT]], %c5
func.func private @known() -> index {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c5 to %c9 step %c3 iter_args(%a = %c0) -> (index) {
    scf.yield %i : index
  }
  return %0 : index
}

// TWO: tensor(2,
// FOUR: tensor(4,
// STEP: count-iterations.mlir:{{[0-9]+}}: assertion failed in near_the_end: the step of scf.for is not positive
func.func @near_the_end(%bounds: tensor<3xi64>) -> tensor<i64> {
  %0 = weft.slice %bounds from [0] to [1] : (tensor<3xi64>) -> tensor<1xi64>
  %1 = weft.slice %bounds from [1] to [2] : (tensor<3xi64>) -> tensor<1xi64>
  %2 = weft.slice %bounds from [2] to [3] : (tensor<3xi64>) -> tensor<1xi64>
  %3 = weft.reshape %0 to [] : (tensor<1xi64>) -> tensor<i64>
  %4 = weft.reshape %1 to [] : (tensor<1xi64>) -> tensor<i64>
  %5 = weft.reshape %2 to [] : (tensor<1xi64>) -> tensor<i64>
  %low = weft.item %3 : tensor<i64>
  %high = weft.item %4 : tensor<i64>
  %step = weft.item %5 : tensor<i64>
  %none = weft.constant dense<0> : tensor<i64>
  %one = weft.constant dense<1> : tensor<i64>
  %r = scf.for %i = %low to %high step %step iter_args(%n = %none) -> (tensor<i64>) : i64 {
    %next = weft.add %n, %one : tensor<i64>
    scf.yield %next : tensor<i64>
  }
  return %r : tensor<i64>
}
