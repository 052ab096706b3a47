// The header of weft-compile goes with those of the C library, whatever the functions and variables are called: a name that is C's
// own gets an underscore.
// UNSUPPORTED: asan, undefined, thread
// RUN: rm -rf %t && mkdir %t
// RUN: weft-compile %s -o %t/names.o --emit-header=%t/names.h
// RUN: FileCheck %s --input-file=%t/names.h
// RUN: printf '#include <complex.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n#include "names.h"\nint main(void) { return 0; }\n' > %t/names.c
// RUN: %cc -std=gnu11 -Wall -Wextra -Werror -I%t -c %t/names.c -o %t/c.o
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%t -x c -include names.h -c %t/names.c -o %t/first.o
// RUN: %cxx -std=c++20 -Wall -Wextra -Werror -I%t -x c++ -include cmath -c %t/names.c -o %t/cxx.o
// RUN: %if gcc %{ %gcc -std=gnu11 -Wall -Wextra -Werror -I%t -c %t/names.c -o %t/gcc.o %}

// CHECK: int32_t free_(
// CHECK: int32_t memcpy_(
// CHECK: const float *errno_,
// CHECK: int32_t expf_(
// CHECK: int32_t read_(
// CHECK: int32_t index_(
// CHECK: int32_t index__(
// CHECK: int32_t size_t_(
// CHECK: int32_t step(
weft.variable @errno = dense<2.0> : tensor<f32>
func.func @free(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @memcpy(%x: tensor<f32>) -> tensor<f32> {
  %handle = weft.handle @errno : !weft.var<tensor<f32>>
  %0 = weft.read %handle : tensor<f32>
  return %0 : tensor<f32>
}
func.func @expf(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @read(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @index_(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @index(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @size_t(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
