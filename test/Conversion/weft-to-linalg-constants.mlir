// Constants are data of the program, but for large ones of one element, which are code that fills memory.
// RUN: weft-opt %s --weft-to-linalg | FileCheck %s

// CHECK-LABEL: func @small
// CHECK: arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK: arith.constant dense<[1, 2]> : tensor<2xi32>
func.func @small() -> (tensor<64xf32>, tensor<2xi32>) {
  %0 = weft.constant dense<1.0> : tensor<64xf32>
  %1 = weft.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1 : tensor<64xf32>, tensor<2xi32>
}

// CHECK-LABEL: func @large
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1048576xf32>
// CHECK: linalg.fill ins(%[[ONE]] : f32) outs(%[[EMPTY]] : tensor<1048576xf32>)
func.func @large() -> tensor<1048576xf32> {
  %0 = weft.constant dense<1.0> : tensor<1048576xf32>
  return %0 : tensor<1048576xf32>
}

// So are those of programs that are written at this level.
// CHECK-LABEL: func @of_linalg
// CHECK: arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK: %[[ONE:.*]] = arith.constant 1.500000e+00 : f64
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1000000000xf64>
// CHECK: linalg.fill ins(%[[ONE]] : f64) outs(%[[EMPTY]] : tensor<1000000000xf64>)
func.func @of_linalg() -> (tensor<64xf32>, tensor<1000000000xf64>) {
  %0 = arith.constant dense<1.0> : tensor<64xf32>
  %1 = arith.constant dense<1.5> : tensor<1000000000xf64>
  return %0, %1 : tensor<64xf32>, tensor<1000000000xf64>
}
