// weft-compile ahead of time for a GPU: the object has its kernels inside, and its header makes a C program without libweft whose arrays
// are the host's, and a C++ one whose tensors are on gpu:0.
// UNSUPPORTED: asan, undefined, thread
// RUN: rm -rf %t && mkdir %t
// RUN: weft-compile %weft_src/test/Tools/weft-compile-object.mlir --target=nvptx --chip=sm_80 -o %t/object.o --emit-header=%t/object.h
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -DOF_GPU -I%t %weft_src/test/Tools/Inputs/object.c %t/object.o %weft_lib/libweft-runtime.a -lstdc++ -lm -o %t/c
// RUN: %emulated %t/c | FileCheck %s --check-prefix=HOST
// RUN: %seeded %t/c | FileCheck %s --check-prefix=HOST
// HOST: weft-compile-object.mlir:{{[0-9]+}}: error: gather: index 4 is out of range for an axis of size 4
// HOST-NEXT: 0 failures

// RUN: weft-compile %s --target=nvptx -o %t/ahead.o --emit-header=%t/ahead.h
// RUN: FileCheck %s --check-prefix=HEADER < %t/ahead.h
// RUN: llvm-nm %t/ahead.o | FileCheck %s --check-prefix=SYMBOLS
// RUN: %cxx -std=c++20 -Wall -Wextra -Werror -I%t %weft_includes %S/Inputs/ahead.cpp %t/ahead.o %weft_link -o %t/cxx
// RUN: %emulated %t/cxx | FileCheck %s
// RUN: %seeded %t/cxx | FileCheck %s
// CHECK: scaled: tensor([3.5, 6], shape=(2,), dtype=f32)
// CHECK-NEXT: count: 2
// CHECK-NEXT: kept: 3 x 2: 2 4 6 8 10 12
// CHECK-NEXT: bounds: {{.*}}ahead-of-time.mlir:[[# @LINE + 49]]: error: take_along_axis: index 7 is out of range for an axis of size 3
// CHECK-NEXT: count: 3
// CHECK-NEXT: size: both: an input cannot have the size -1
// CHECK-NEXT: null: scale: array 0 is NULL
// CHECK-NEXT: unaligned: 2 4
// CHECK-NEXT: 0 failures

// Where it cannot run it says what it wants.
// RUN: env WEFT_CUDA_DRIVER=/no/driver.so %t/cxx --first | FileCheck %s --check-prefix=NONE
// NONE: scale, which was compiled for GPUs of sm_90a by weft-compile: cannot use gpu:0: no CUDA driver (/no/driver.so:
// RUN: env WEFT_CUDA_DRIVER=%weft_lib/libweft-gpu-emulator.so WEFT_GPU_EMULATOR=devices=0 %t/cxx --first | FileCheck %s --check-prefix=EMPTY
// EMPTY: scale, which was compiled for GPUs of sm_90a by weft-compile: cannot use gpu:0: the CUDA driver finds no GPU
// RUN: env WEFT_CUDA_DRIVER=%weft_lib/libweft-gpu-emulator.so WEFT_GPU_EMULATOR=chip=sm_86 %t/cxx --first | FileCheck %s --check-prefix=OTHER
// OTHER: scale: its kernels are for GPUs of sm_90a, and gpu:0 ({{.*}}) is one of sm_86: compile it with --chip=sm_86
// RUN: env WEFT_CUDA_DRIVER=%weft_lib/libweft-gpu-emulator.so %t/cxx --first=4 | FileCheck %s --check-prefix=FOURTH
// FOURTH: scale, which was compiled for GPUs of sm_90a by weft-compile: cannot use gpu:4: the CUDA driver knows 1 GPU, gpu:0

// SYMBOLS-DAG: R scale_weft_entry_ptx
// SYMBOLS-DAG: T scale_weft_entry
// HEADER: int32_t weft_rt_gpu_call(int32_t (*entry)(void *const *, const int64_t *, void *),
// HEADER: extern const char ahead_h_ptx[] __asm__("scale_weft_entry_ptx");
// HEADER: static inline int32_t scale(
// HEADER-NEXT: int32_t gpu, /* its number: 0 for gpu:0 */
// HEADER-NEXT: const float *input0, /* input, 2 */
// HEADER-NEXT: int64_t *count, /* variable, updated in place, scalar */
// HEADER-NEXT: float *result0, /* output, 2 */
weft.variable @count = dense<0> : tensor<i64>
func.func @scale(%x: tensor<2xf32>) -> tensor<2xf32> {
  %h = weft.handle @count : !weft.var<tensor<i64>>
  %one = weft.constant dense<1> : tensor<i64>
  weft.assign_add %h, %one : tensor<i64>
  %scale = weft.constant dense<[2.0, 2.0]> : tensor<2xf32>
  %0 = weft.multiply %x, %scale : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// HEADER: static inline int32_t both(
// HEADER: float **result0, /* output, ?x2: the GPU's memory, for weft_gpu_free() */
// HEADER: const int64_t bytes[] = {8 * input0_size0, 8 * input1_size0, 0};
func.func @both(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = weft.add %x, %y : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// What was assigned before an error stays assigned, on the host too.
func.func @pick(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %h = weft.handle @count : !weft.var<tensor<i64>>
  %one = weft.constant dense<1> : tensor<i64>
  weft.assign_add %h, %one : tensor<i64>
  %0 = weft.take_along_axis %x, %i {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
