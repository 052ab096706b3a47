// weft.poll, and weft.interrupted which it becomes.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=KEPT

// Neither is dropped, merged, or moved out of a loop.
// CHECK-LABEL: func @looks
// CHECK: weft.poll
// CHECK: weft.interrupted
// KEPT-LABEL: func @looks
// KEPT: scf.for
// KEPT-NEXT: weft.poll
// KEPT-NEXT: weft.poll
// KEPT-NEXT: weft.interrupted
// KEPT-NEXT: scf.if
// KEPT: weft.interrupted
func.func @looks(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    weft.poll
    weft.poll
    %a = weft.interrupted
    scf.if %a {
      weft.leave interrupt ""
    }
    %b = weft.interrupted
    scf.if %b {
      weft.leave interrupt ""
    }
  }
  return
}
