// weft-compile ahead of time: the object and its header make a C program without libweft, and a C++ one with it, that give what is
// right.
// UNSUPPORTED: asan, undefined, thread
// RUN: mkdir -p %t
// RUN: weft-compile %s -o %t/object.o --emit-header=%t/object.h
// RUN: %cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%t %S/Inputs/object.c %t/object.o %weft_lib/libweft-runtime.a -lstdc++ -lm -o %t/c
// RUN: %t/c | FileCheck %s
// RUN: %cxx -std=c++20 -Wall -Wextra -Wpedantic -Werror -I%t -x c++ %S/Inputs/object.c -x none %t/object.o -L%weft_lib -lweft -Wl,-rpath,%weft_lib -o %t/cxx
// RUN: %t/cxx | FileCheck %s

// CHECK: weft-compile-object.mlir:[[# @LINE + 24]]: error: gather: index 4 is out of range for an axis of size 4
// CHECK-NEXT: 0 failures

weft.variable @message = dense<[1.0, 1.0, 1.0]> : tensor<3xf32>

func.func @add_up(%x: tensor<3xf32>, %scale: tensor<f32>) -> (tensor<3xf32>, tensor<i1>) {
  %handle = weft.handle @message : !weft.var<tensor<3xf32>>
  %0 = weft.multiply %x, %scale : tensor<3xf32>, tensor<f32>
  weft.assign_add %handle, %0 : tensor<3xf32>
  %1 = weft.read %handle : tensor<3xf32>
  %2 = weft.sum %1 {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %3 = weft.greater %2, %zero : tensor<f32>
  %4 = weft.reverse %1 {axes = array<i64: 0>} : tensor<3xf32>
  return %4, %3 : tensor<3xf32>, tensor<i1>
}

func.func @product_of(%a: tensor<2x3xf64>, %b: tensor<3x2xf64>) -> tensor<2x2xf64> {
  %0 = weft.matmul %a, %b : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}

// Names that are words of C, or none of C's at all, are changed in the header.
func.func @for(%x: tensor<4xi64>, %i: tensor<2xi32>) -> tensor<2xi64> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @"twice-over"(%x: tensor<f32>) -> tensor<f32> {
  %0 = weft.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
