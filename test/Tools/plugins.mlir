// A pass from a plugin runs among Weft's, where tool and plugin share LLVM.
// REQUIRES: shared-llvm
// RUN: %cxx -std=c++17 -fno-rtti -shared -fPIC -I%mlir_include %S/Inputs/pass-plugin.cpp -o %t.so
// RUN: weft-opt %s --load-pass-plugin=%t.so --pass-pipeline='builtin.module(weft-phase-simplify,user-find-squares)' 2>&1 | FileCheck %s
// CHECK: plugins.mlir:[[# @LINE + 2]]:8: remark: a square
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.multiply %x, %x : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
