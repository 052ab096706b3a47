// Several functions, one whose name PTX cannot spell, and those that compute nothing are one text, which ptxas takes.
// RUN: weft-compile %s --target=nvptx --compile-to=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.ptx -o %t.cubin %}
// RUN: weft-opt %s --symbol-privatize=exclude=nothing --symbol-dce | weft-compile - --target=nvptx --compile-to=ptx -o %t.none.ptx
// RUN: FileCheck %s --input-file=%t.none.ptx --check-prefix=NONE
// RUN: %if ptxas %{ %ptxas -arch=sm_90a %t.none.ptx -o %t.none.cubin %}

// CHECK: .version 8.0
// CHECK-NOT: .version
// CHECK-DAG: .visible .entry once_0(
// CHECK-DAG: .visible .entry twice$2dover_0(
// NONE: .version 8.0
// NONE-NOT: .entry
func.func @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @"twice-over"(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @nothing(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = weft.exp %x : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}
