// weft-opt: what it says of passes and files that are not there, of wrong programs, and of output that cannot be written.
// RUN: not weft-opt %s --no-such-pass 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not weft-opt %s --pass-pipeline='builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not weft-opt %s --pass-pipeline='builtin.module(weft-plan-arena{size=1})' 2>&1 | FileCheck %s --check-prefix=PASS-OPTION
// RUN: not weft-opt %s --pass-pipeline='builtin.module(weft-phase-llvm{target=nvptx chip=foo})' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not weft-opt %s --pass-pipeline='builtin.module(weft-phase-llvm{target=gpu})' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not weft-opt %t.none.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not weft-opt %s -o %t.none/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: echo 'func.func @f(%%x: tensor<2xf32>) { %%0 = weft.add %%x, %%x : tensor<3xf32> }' > %t.bad.mlir
// RUN: not weft-opt %t.bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// RUN: echo '%%0 = weft.subtrakt %%0 : tensor<f32>' > %t.op.mlir
// RUN: not weft-opt %t.op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: printf 'ML\357R\001\002\003' > %t.bytecode.mlir
// RUN: not weft-opt %t.bytecode.mlir 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: not weft-compile %t.bytecode.mlir 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: not weft-run %t.bytecode.mlir 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: not weft-reduce %t.bytecode.mlir 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: weft-opt %s --weft-simplify --cse -o %t.out.mlir
// RUN: weft-opt %t.out.mlir | FileCheck %s
// What --emit-bytecode writes every tool reads.
// RUN: weft-opt %s --emit-bytecode -o %t.mlirbc
// RUN: weft-opt %t.mlirbc | FileCheck %s --check-prefix=READ
// RUN: weft-compile %t.mlirbc --compile-to=trace | FileCheck %s --check-prefix=READ
// RUN: weft-run %t.mlirbc --arg='iota : tensor<4xf32>' --print | FileCheck %s --check-prefix=RESULT
// RUN: printf '#!/bin/sh\nexit 1\n' > %t.sh && chmod +x %t.sh
// RUN: weft-reduce %t.mlirbc --reduction-tree='traversal-mode=0 test=%t.sh' | FileCheck %s --check-prefix=REDUCED
// Upstream's reader believes the numbers in it, and crashes on some.
// RUN: python3 %S/Inputs/damaged-bytecode.py %t.mlirbc %t.damaged
// RUN: printf 'WEFTPROG\001\000' > %t.weft && not weft-compile %t.weft 2>&1 | FileCheck %s --check-prefix=EXPORTED
// RUN: printf '\177ELF\000' > %t.o && not weft-opt %t.o 2>&1 | FileCheck %s --check-prefix=BINARY
// RUN: weft-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS

// OPTION: weft-opt: Unknown command line argument '--no-such-pass'.
// PASS: error: {{.*}}'no-such-pass' does not refer to a registered pass or pass pipeline
// PASS-OPTION: <Pass-Options-Parser>: no such option size
// CHIP: LLVM knows no such GPU: 'foo'
// TARGET: Cannot find option named 'gpu'!
// FILE: error: cannot open input file '{{.*}}none.mlir': No such file or directory
// OUTPUT: error: cannot open output file '{{.*}}none/out.mlir': No such file or directory
// PARSE: bad.mlir:1:{{[0-9]+}}: error: use of value '%x' expects different type than prior uses: 'tensor<3xf32>' vs 'tensor<2xf32>'
// PARSE-NEXT: func.func @f(
// PARSE-NEXT: {{^ *\^}}
// OP: op.mlir:1:6: error: {{.*}}weft.subtrakt
// OP-NEXT: weft.subtrakt
// OP-NEXT: {{^ *\^}}
// BYTECODE: error: {{.*}}
// READ: weft.multiply
// REDUCED: module {
// RESULT: same: 1 result
// EXPORTED: error: {{.*}}.weft: is a program that export_program wrote, which weft-run runs
// BINARY: error: {{.*}}.o: is binary, but no bytecode of MLIR
// DIALECTS: Available Dialects: {{.*}}weft

// CHECK-LABEL: func.func @same
// CHECK-NEXT: return
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  %0 = weft.multiply %x, %one : tensor<4xf32>, tensor<f32>
  return %0 : tensor<4xf32>
}
