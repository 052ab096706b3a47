// weft-run --device: the same results on a GPU, whatever the order of its work; effects in the order of the program; errors at the user's line.
// RUN: weft-run %s --entry=descend --arg='random<1> : tensor<8x4xf32>' --save=%t.npy
// RUN: %emulated weft-run %s --device=gpu:0 --entry=descend --arg='random<1> : tensor<8x4xf32>' --check=%t.npy --save=%t.1.npy --print | FileCheck %s
// RUN: %seeded weft-run %s --device=gpu:0 --entry=descend --arg='random<1> : tensor<8x4xf32>' --save=%t.2.npy --print | FileCheck %s
// RUN: cmp %t.1.npy %t.2.npy
// RUN: not %emulated weft-run %s --device=gpu:0 --entry=picked --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not %emulated weft-run %s --device=gpu:1 --entry=picked 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not env WEFT_CUDA_DRIVER=/nowhere weft-run %s --device=gpu:0 --entry=picked 2>&1 | FileCheck %s --check-prefix=DRIVER
// RUN: not weft-run %s --device=tpu --entry=picked 2>&1 | FileCheck %s --check-prefix=NAME
// INDEX: weft-run-device.mlir:[[# @LINE + 34]]: error: gather: index 2 is out of range for an axis of size 2
// NONE: error: {{.*}}gpu:1
// DRIVER: error: {{.*}}gpu:0{{.*}}no CUDA driver
// NAME: error: 'tpu' is not a device

// CHECK: at 0
// CHECK: at 1
// CHECK: at 2
// CHECK: descend: 1 result
// CHECK-NEXT: tensor({{.*}}, shape=(), dtype=f32)
func.func @descend(%x: tensor<8x4xf32>) -> tensor<f32> {
  %limit = weft.constant dense<3> : tensor<i32>
  %one = weft.constant dense<1> : tensor<i32>
  %zero = weft.constant dense<0> : tensor<i32>
  %table = weft.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %0:2 = scf.while (%i = %zero, %y = %x) : (tensor<i32>, tensor<8x4xf32>) -> (tensor<i32>, tensor<8x4xf32>) {
    %below = weft.less %i, %limit : tensor<i32>
    %go = weft.item %below : tensor<i1>
    scf.condition(%go) %i, %y : tensor<i32>, tensor<8x4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %y: tensor<8x4xf32>):
    weft.print "at {}", %i : tensor<i32>
    %z = weft.tanh %y : tensor<8x4xf32>
    %j = weft.add %i, %one : tensor<i32>
    scf.yield %j, %z : tensor<i32>, tensor<8x4xf32>
  }
  %1 = weft.matmul %0#1, %table : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %2 = weft.sum %1 {axes = array<i64: 0, 1>} : (tensor<8x2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

func.func @picked(%x: tensor<3xf32>) -> tensor<3xf32> {
  %i = weft.cast %x to i32 : tensor<3xf32>
  %two = weft.slice %x from [0] to [2] by [1] : (tensor<3xf32>) -> tensor<2xf32>
  %0 = weft.gather %two, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<3xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
