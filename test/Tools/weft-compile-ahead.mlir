// Ahead of time for real: open sizes are arguments, what is only read is const, values become a part of the object, and several
// threads call at once.
// UNSUPPORTED: asan, undefined, thread
// RUN: rm -rf %t && mkdir %t
// RUN: weft-run %S/Inputs/values.mlir --entry=weights --save=%t/w.npy
// RUN: weft-run %S/Inputs/values.mlir --entry=table --save=%t/table.npy
// RUN: weft-compile %s --freeze=w=%t/w.npy,bias,pick.input0=%t/table.npy -o %t/ahead.o --emit-header=%t/ahead.h
// RUN: FileCheck %s --check-prefix=HEADER < %t/ahead.h
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%t %S/Inputs/ahead.c %t/ahead.o %weft_lib/libweft-runtime.a -lstdc++ -lm -o %t/c
// RUN: %t/c | FileCheck %s

// CHECK: a size that does not fit: {{.*}}weft-compile-ahead.mlir:[[# @LINE + 40]]: error: add: the shapes do not broadcast
// CHECK-NEXT: a negative size: both: an input cannot have the size -1
// CHECK-NEXT: 0 failures

// HEADER: static inline int32_t predict(
// HEADER-NEXT: const float *input0, /* input, ?x3 */
// HEADER-NEXT: int64_t input0_size0, /* its size in axis 0 */
// HEADER-NEXT: const float *scale, /* variable, scalar */
// HEADER-NEXT: float **result0, /* output, ?x2: memory that free() takes */
// HEADER-NEXT: int64_t *result0_sizes, /* its 2 sizes */
// HEADER-NEXT: float *result1, /* output, 2 */
// HEADER-NEXT: char *message, int64_t message_size) {

weft.variable @w : tensor<3x2xf32>
weft.variable @bias = dense<[1.0, -1.0]> : tensor<2xf32>
weft.variable @scale : tensor<f32>
weft.variable @count = dense<0> : tensor<i64>

func.func @predict(%x: tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %hw = weft.handle @w : !weft.var<tensor<3x2xf32>>
  %hb = weft.handle @bias : !weft.var<tensor<2xf32>>
  %hs = weft.handle @scale : !weft.var<tensor<f32>>
  %w = weft.read %hw : tensor<3x2xf32>
  %b = weft.read %hb : tensor<2xf32>
  %s = weft.read %hs : tensor<f32>
  %0 = weft.matmul %x, %w : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %1 = weft.multiply %0, %s : tensor<?x2xf32>, tensor<f32>
  %2 = weft.add %1, %b : tensor<?x2xf32>, tensor<2xf32>
  %3 = weft.sum %2 {axes = array<i64: 0>} : (tensor<?x2xf32>) -> tensor<2xf32>
  return %2, %3 : tensor<?x2xf32>, tensor<2xf32>
}

// HEADER: static inline int32_t both(
// HEADER-NEXT: const float *input0, /* input, ? */
// HEADER-NEXT: int64_t input0_size0,
// HEADER-NEXT: const float *input1, /* input, ? */
// HEADER-NEXT: int64_t input1_size0,
// HEADER-NEXT: float **result0, /* output, ?: memory that free() takes */
// HEADER-NEXT: int64_t *result0_sizes, /* its size */
func.func @both(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An input that is frozen, and a variable that is updated.
// HEADER: static inline int32_t pick(
// HEADER-NEXT: const int32_t *input0, /* input, scalar */
// HEADER-NEXT: int64_t *count, /* variable, updated in place, scalar */
// HEADER-NEXT: double *result0, /* output, scalar */
// HEADER-NEXT: char *message, int64_t message_size) {
func.func @pick(%table: tensor<4xf64>, %i: tensor<i32>) -> tensor<f64> {
  %h = weft.handle @count : !weft.var<tensor<i64>>
  %one = weft.constant dense<1> : tensor<i64>
  weft.assign_add %h, %one : tensor<i64>
  %0 = weft.gather %table, %i {axis = 0 : i64} : (tensor<4xf64>, tensor<i32>) -> tensor<f64>
  return %0 : tensor<f64>
}

// What cannot be frozen.
// RUN: not weft-compile %s --freeze=nothing -o %t/x.o 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: --freeze: there is no variable @nothing
// RUN: not weft-compile %s --freeze=scale -o %t/x.o 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: --freeze: @scale has no value in the text; say --freeze=scale=FILE.npy
// RUN: not weft-compile %s --freeze=count -o %t/x.o 2>&1 | FileCheck %s --check-prefix=ASSIGNED
// ASSIGNED: error: --freeze: @pick assigns @count, so it is no constant
// RUN: not weft-compile %s --freeze=bias=%t/w.npy -o %t/x.o 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: --freeze: @bias is f32(2,), but {{.*}}w.npy holds f32(3, 2)
// RUN: not weft-compile %s --freeze=w=%t/none.npy -o %t/x.o 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: {{.*}}none.npy: cannot be opened
// RUN: not weft-compile %s --freeze=input0=%t/table.npy -o %t/x.o 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: --freeze: there are several functions: say which one, FUNCTION.input0
// RUN: not weft-compile %s --freeze=pick.input2=%t/table.npy -o %t/x.o 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: --freeze: @pick has no input2
// RUN: not weft-compile %s --freeze=peek.input0=%t/table.npy -o %t/x.o 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: --freeze: there is no function @peek
// RUN: not weft-compile %s --freeze --compile-to=simplify 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: --freeze needs the phase lift-state between --compile-from and --compile-to

// Without names: every variable with a value in the text that nothing assigns.
// RUN: weft-compile %s --freeze --compile-to=lift-state | FileCheck %s --check-prefix=ALL
// ALL-NOT: @bias
// ALL: func.func @predict({{.*}}@w}{{.*}}@scale}, {{.*}}@count})
// ALL-NOT: @bias

// A variable has one buffer, which the caller allocated: its size is known.
// RUN: not weft-compile %S/Inputs/open-variable.mlir --compile-from=schedule -o %t/x.o --emit-header=%t/x.h 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not test -e %t/x.h
// OPEN: error: 'func.func' op has a 'weft.variable' at argument 0 that belongs to a tensor or a buffer of known sizes, but not to tensor<?xf32>
