// A program without an op of the dialect may be simplified: the pass loads the dialects whose patterns it uses.
// RUN: weft-opt %s --weft-simplify | FileCheck %s

// CHECK-LABEL: func @same
// CHECK: return %arg0
func.func @same(%x: f32) -> f32 {
  return %x : f32
}
