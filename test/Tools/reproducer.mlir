// A phase that fails leaves its input and its pipeline in a file, and says how to see it again, with the same error.
// RUN: rm -rf %t && mkdir %t
// RUN: not env WEFT_DUMP_DIR=%t weft-compile %s --target=nvptx --compile-to=ptx 2> %t/errors
// RUN: FileCheck %s --check-prefix=ERRORS --input-file=%t/errors
// ERRORS: reproducer.mlir:[[# @LINE + 23]]:3: error: cannot run on a GPU yet: it needs weft_rt_print
// ERRORS: error: the phase llvm failed; to see it again:
// ERRORS-NEXT: weft-opt --run-reproducer {{.*}}/weft-shout-llvm-{{[0-9a-f]+}}.mlir

// The command is as printed.
// RUN: sed -n 's/^ .*--run/--run/p' %t/errors > %t/arguments
// RUN: not weft-opt @%t/arguments 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: reproducer.mlir:[[# @LINE + 16]]:3: error: cannot run on a GPU yet: it needs weft_rt_print

// The file is what the phase before left.
// RUN: cat %t/weft-shout-llvm-*.mlir | FileCheck %s --check-prefix=FILE
// FILE: func.func @shout(%{{.*}}: memref<2xf32>
// FILE: mlir_reproducer: {
// FILE: pipeline: "builtin.module(weft-phase-llvm{target=nvptx chip=sm_90a})"

// Without a file to write to, the error says so.
// RUN: not env WEFT_DUMP_DIR=%t/none weft-compile %s --target=nvptx --compile-to=ptx 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the phase llvm failed; no reproducer could be written to {{.*}}/none/weft-shout-llvm-%%%%%%.mlir: No such file or directory

// A program that compiles leaves nothing.
// RUN: rm -f %t/*.mlir && env WEFT_DUMP_DIR=%t weft-compile %s --compile-to=llvm -o /dev/null && not ls %t/*.mlir
func.func @shout(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = weft.exp %x : tensor<2xf32>
  weft.print "y is {}", %y : tensor<2xf32>
  return %y : tensor<2xf32>
}
