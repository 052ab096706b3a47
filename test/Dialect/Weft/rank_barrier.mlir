// The op rank_barrier: its text, and that none is dropped.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @twice
func.func @twice() {
  // CHECK: weft.rank_barrier {group = 0 : i64}
  weft.rank_barrier {group = 0 : i64}
  // CHECK: weft.rank_barrier {group = 4 : i64}
  weft.rank_barrier {group = 4 : i64}
  return
}
