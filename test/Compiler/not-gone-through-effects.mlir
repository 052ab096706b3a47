// What leaves compiled code has become a branch by the end of the phase 'schedule'.
// RUN: not weft-run %s --from=schedule --entry=f 2>&1 | FileCheck %s
// RUN: not weft-compile %s --compile-from=bufferize -o - 2>&1 | FileCheck %s

func.func @f() {
  // CHECK: not-gone-through-effects.mlir:[[# @LINE + 1]]:3: error: 'weft.print' op is no op of a program that has gone through the phase '{{schedule|bufferize}}': 'schedule' leaves none like it
  weft.print "here"
  return
}
