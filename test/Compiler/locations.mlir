// Every phase keeps the user's line of every op, and the number of its op call where it has one. Only constants, which
// several ops share, have none.
// RUN: weft-opt %s --weft-phase-differentiate --weft-phase-control-deps --weft-phase-simplify --weft-phase-lift-state \
// RUN:   --mlir-print-debuginfo -o %t.lifted.mlir
// RUN: weft-opt %t.lifted.mlir --weft-phase-linalg --mlir-print-debuginfo -o %t.linalg.mlir
// RUN: weft-opt %t.linalg.mlir --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=LINALG --implicit-check-not='{{ (weft|linalg|tensor|math|func|scf)\..* loc\(unknown\)$}}'
// RUN: weft-opt %t.linalg.mlir --weft-phase-schedule --weft-phase-bufferize --mlir-print-debuginfo -o %t.buffers.mlir
// RUN: weft-opt %t.buffers.mlir --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=BUFFERS --implicit-check-not='{{ (linalg|memref|math|call|scf)[. ].* loc\(unknown\)$}}'
// RUN: weft-opt %t.buffers.mlir --weft-phase-llvm --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=LLVM --implicit-check-not='{{ llvm\.(call|load|store|br|cond_br|fadd|getelementptr).* loc\(unknown\)$}}'

weft.variable @v : tensor<4x4xf32> loc("train.cpp":10:1)

// LINALG: linalg.contract {{.*}} loc(fused<2 : i64>["train.cpp":22:1])
// LINALG: math.tanh {{.*}} loc("train.cpp":23:1)
// LINALG: math.exp {{.*}} loc("train.cpp":24:1)
// LINALG: weft.check_indices {{.*}} loc(fused<5 : i64>["train.cpp":25:1])
// LINALG: arith.addf {{.*}} loc("train.cpp":26:1)
// LINALG: weft.assert {{.*}} loc(fused<9 : i64>["train.cpp":30:1])
// LINALG: weft.print {{.*}} loc("train.cpp":31:1)

// The numbers of the op calls are what the code reports.
// BUFFERS-DAG: %[[INDICES:c5_i64.*]] = arith.constant 5 : i64
// BUFFERS-DAG: %[[ASSERT:c9_i64.*]] = arith.constant 9 : i64
// BUFFERS: call @weft_rt_matmul_f32({{.*}} loc(fused<2 : i64>["train.cpp":22:1])
// BUFFERS: math.tanh {{.*}} loc("train.cpp":23:1)
// BUFFERS: call @weft_rt_check_indices(%[[INDICES]]{{.*}} loc(fused<5 : i64>["train.cpp":25:1])
// BUFFERS: call @weft_rt_assert_fail(%[[ASSERT]]{{.*}} loc(fused<9 : i64>["train.cpp":30:1])
// BUFFERS: call @weft_rt_print({{.*}} loc("train.cpp":31:1)

// LLVM: llvm.call @weft_rt_matmul_f32({{.*}} loc(fused<2 : i64>["train.cpp":22:1])
// LLVM: llvm.call @weft_rt_check_indices({{.*}} loc(fused<5 : i64>["train.cpp":25:1])
// LLVM: llvm.call @weft_rt_assert_fail({{.*}} loc(fused<9 : i64>["train.cpp":30:1])
// LLVM: llvm.call @weft_rt_print({{.*}} loc("train.cpp":31:1)
func.func @step(%x: tensor<4x4xf32>, %i: tensor<3xi32>) -> tensor<4xf32> {
  %h = weft.handle @v : !weft.var<tensor<4x4xf32>> loc("train.cpp":20:1)
  %w = weft.read %h : tensor<4x4xf32> loc("train.cpp":21:1)
  %a = weft.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused<2>["train.cpp":22:1])
  %b = weft.tanh %a : tensor<4x4xf32> loc("train.cpp":23:1)
  %c = weft.exp %b : tensor<4x4xf32> loc("train.cpp":24:1)
  %g = weft.gather %c, %i {axis = 0 : i64} : (tensor<4x4xf32>, tensor<3xi32>) -> tensor<3x4xf32> loc(fused<5>["train.cpp":25:1])
  %s = weft.sum %g {axes = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32> loc("train.cpp":26:1)
  %z = weft.constant dense<0.0> : tensor<4xf32> loc("train.cpp":27:1)
  %p = weft.greater %s, %z : tensor<4xf32> loc("train.cpp":28:1)
  %q = weft.all %p {axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1> loc("train.cpp":29:1)
  weft.assert %q, "positive {}", %s : tensor<i1>, tensor<4xf32> loc(fused<9>["train.cpp":30:1])
  weft.print "s is {}", %s : tensor<4xf32> loc("train.cpp":31:1)
  weft.assign %h, %c : tensor<4x4xf32> loc("train.cpp":32:1)
  return %s : tensor<4xf32> loc("train.cpp":33:1)
} loc("train.cpp":19:1)
