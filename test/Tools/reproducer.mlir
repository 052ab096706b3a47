// A phase that fails leaves its input and its pipeline in a file, and says how to see it again, with the same error.
// RUN: rm -rf %t && mkdir %t
// RUN: not env WEFT_DUMP_DIR=%t weft-compile %s --target=nvptx --compile-to=ptx 2> %t/errors
// RUN: FileCheck %s --check-prefix=ERRORS --input-file=%t/errors
// ERRORS: reproducer.mlir:[[# @LINE + 24]]:8: error: 'memref.alloc' op has a 'weft.output' that is the number of a result
// ERRORS: error: the phase bufferize failed; to see it again:
// ERRORS-NEXT: weft-opt --run-reproducer {{.*}}/weft-shout-bufferize-{{[0-9a-f]+}}.mlir

// The command is as printed.
// RUN: sed -n 's/^ .*--run/--run/p' %t/errors > %t/arguments
// RUN: not weft-opt @%t/arguments 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: reproducer.mlir:[[# @LINE + 17]]:8: error: 'memref.alloc' op has a 'weft.output' that is the number of a result

// The file is what the phase before left.
// RUN: cat %t/weft-shout-bufferize-*.mlir | FileCheck %s --check-prefix=FILE
// FILE: func.func @shout(%{{.*}}: tensor<?xi4>
// FILE: mlir_reproducer: {
// FILE: pipeline: "builtin.module(weft-phase-bufferize{target=nvptx chip=sm_90a})"

// Without a file to write to, the error says so.
// RUN: not env WEFT_DUMP_DIR=%t/none weft-compile %s --target=nvptx --compile-to=ptx 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the phase bufferize failed; no reproducer could be written to {{.*}}/none/weft-shout-bufferize-%%%%%%.mlir: No such file or directory

// A program that compiles leaves nothing.
// RUN: rm -f %t/*.mlir && env WEFT_DUMP_DIR=%t weft-compile %s --compile-to=schedule -o /dev/null && not ls %t/*.mlir
func.func @shout(%x: tensor<?xi4>) -> tensor<?xi4> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi4>
  %e = tensor.empty(%n) : tensor<?xi4>
  %y = linalg.add ins(%x, %x : tensor<?xi4>, tensor<?xi4>) outs(%e : tensor<?xi4>) -> tensor<?xi4>
  return %y : tensor<?xi4>
}
