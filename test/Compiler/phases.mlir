// Each phase leaves text from which the next one goes on.
// RUN: weft-opt %s --weft-phase-differentiate -o %t.differentiate.mlir
// RUN: weft-opt %t.differentiate.mlir --weft-phase-simplify -o %t.simplify.mlir
// RUN: weft-opt %t.simplify.mlir --weft-phase-lift-state -o %t.lift-state.mlir
// RUN: weft-opt %t.lift-state.mlir --weft-phase-linalg -o %t.linalg.mlir
// RUN: weft-opt %t.linalg.mlir --weft-phase-schedule -o %t.schedule.mlir
// RUN: weft-opt %t.schedule.mlir --weft-phase-bufferize -o %t.bufferize.mlir
// RUN: FileCheck %s --input-file=%t.bufferize.mlir
// RUN: weft-opt %t.bufferize.mlir --weft-phase-llvm | FileCheck %s --check-prefix=LLVM

// A step of training updates its variable in place: one product and one loop, no copy.
weft.variable @w : tensor<64x128xf32>

// CHECK-LABEL: func @step
// CHECK-SAME: %[[W:[^ ]*]]: memref<64x128xf32> {weft.updated, weft.variable = @w}
// CHECK-SAME: weft.arena_bytes
// CHECK-NOT: memref.copy
// CHECK: call @weft_rt_matmul_f32
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[W]] :
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.generic
// CHECK: return
// LLVM: llvm.func @step_weft_entry
func.func @step(%x: tensor<32x64xf32>, %dy: tensor<32x128xf32>) {
  %w = weft.handle @w : !weft.var<tensor<64x128xf32>>
  %rate = weft.constant dense<0.1> : tensor<f32>
  %g = weft.matmul %x, %dy {transpose_lhs = true} : (tensor<32x64xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %0 = weft.read %w : tensor<64x128xf32>
  %1 = weft.multiply %g, %rate : tensor<64x128xf32>, tensor<f32>
  %2 = weft.subtract %0, %1 : tensor<64x128xf32>
  weft.assign %w, %2 : tensor<64x128xf32>
  return
}
