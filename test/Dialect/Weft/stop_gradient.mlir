// The op stop_gradient: its text, and what it says of an operand without a rank.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s

// Every dtype passes, and the type is written once.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>, %none: tensor<0xi1>, %scalar: tensor<i64>) {
  // CHECK: weft.stop_gradient %{{.*}} : tensor<2x?xf32>
  %0 = weft.stop_gradient %x : tensor<2x?xf32>
  // CHECK: weft.stop_gradient %{{.*}} : tensor<0xi1>
  %1 = weft.stop_gradient %none : tensor<0xi1>
  // CHECK: weft.stop_gradient %{{.*}} : tensor<i64>
  %2 = weft.stop_gradient %scalar : tensor<i64>
  return
}
