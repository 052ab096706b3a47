// A C program whose factorization fails is told so with the op's line, and finds its variables as they were at that point.
// UNSUPPORTED: asan, undefined, thread
// RUN: rm -rf %t && mkdir %t
// RUN: weft-compile %s -o %t/routine.o --emit-header=%t/routine.h
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%t %S/Inputs/routine.c %t/routine.o %weft_lib/libweft-runtime.a -lstdc++ -lm -o %t/c
// RUN: %t/c | FileCheck %s

// The text of each phase between goes on to the same object.
// RUN: weft-compile %s --compile-to=schedule -o %t/schedule.mlir
// RUN: weft-compile %t/schedule.mlir --compile-from=schedule --compile-to=bufferize -o %t/bufferize.mlir
// RUN: weft-compile %t/bufferize.mlir --compile-from=bufferize -o %t/late.o --emit-header=%t/routine.h
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%t %S/Inputs/routine.c %t/late.o %weft_lib/libweft-runtime.a -lstdc++ -lm -o %t/late
// RUN: %t/late | FileCheck %s --check-prefix=LATE

// CHECK: well: n is 1, w is 2 0 1 2
// CHECK-NEXT: weft-compile-routine.mlir:[[# @LINE + 13]]: error: cholesky: the matrix is not positive definite
// CHECK-NEXT: n is 2, w is 4 0 0 -1
// LATE: well: n is 1, w is 2 0 1 2
// LATE-NEXT: {{^}}cholesky: the matrix is not positive definite
// LATE-NEXT: n is 2, w is 4 0 0 -1

weft.variable @w : tensor<2x2xf32>
weft.variable @n : tensor<i32>
func.func @step(%x: tensor<2x2xf32>, %one: tensor<i32>) {
  %w = weft.handle @w : !weft.var<tensor<2x2xf32>>
  %n = weft.handle @n : !weft.var<tensor<i32>>
  weft.assign %w, %x : tensor<2x2xf32>
  weft.assign_add %n, %one : tensor<i32>
  %0 = weft.cholesky %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  weft.assign %w, %0 : tensor<2x2xf32>
  return
}
