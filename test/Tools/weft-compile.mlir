// weft-compile: every phase is text that the next one takes, and the object runs from C.
// RUN: weft-compile %s --compile-to=assembly -o %t.s
// RUN: weft-compile %s --compile-to=simplify | weft-compile - --compile-from=simplify --compile-to=assembly -o %t.simplify.s
// RUN: weft-compile %s --compile-to=linalg | weft-compile - --compile-from=linalg --compile-to=assembly -o %t.linalg.s
// RUN: weft-compile %s --compile-to=bufferize | weft-compile - --compile-from=bufferize --compile-to=assembly -o %t.bufferize.s
// RUN: cmp %t.s %t.simplify.s
// RUN: cmp %t.s %t.linalg.s
// RUN: cmp %t.s %t.bufferize.s
// RUN: weft-compile %s --compile-to=linalg | FileCheck %s
// RUN: weft-compile %s -o %t.o --emit-header=%t.h
// RUN: FileCheck %s --check-prefix=HEADER --input-file=%t.h
// RUN: not weft-compile %s --compile-to=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not weft-compile %s --compile-from=linalg --compile-to=trace 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not weft-compile %s --compile-to=ptx 2>&1 | FileCheck %s --check-prefix=TARGET
// LLVM ends the process on a processor that it does not know, or that has 32 bits.
// RUN: not weft-compile %s --chip=foo -o %t.foo.o 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not weft-compile %s --chip=pentium4 -o %t.foo.o 2>&1 | FileCheck %s --check-prefix=CHIP32
// RUN: weft-compile %s --chip=x86-64 -o %t.v1.o
// RUN: weft-compile %s --chip=znver4 -o %t.znver4.o

// CHECK: linalg.generic
// HEADER: static inline int32_t scaled(
// HEADER-NEXT: const float *input0, /* input, 8 */
// HEADER-NEXT: float *result0, /* output, 8 */
// PHASE: error: --compile-to=nowhere: there is no such phase; there are trace, differentiate,
// ORDER: error: --compile-from=linalg comes after --compile-to=trace
// CHIP: error: --chip=foo: LLVM knows no such processor
// CHIP32: error: --chip=pentium4: it is a processor of 32 bits, but code is compiled for 64
// TARGET: error: --compile-to=ptx needs --target=nvptx
func.func @scaled(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.multiply %x, %two : tensor<8xf32>, tensor<f32>
  return %0 : tensor<8xf32>
}
