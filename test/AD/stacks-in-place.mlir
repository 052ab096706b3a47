// An iteration copies what it keeps to its place in a stack, and nothing else: no stack is copied, in reverse neither, but for one
// that grows, which is copied when it doubles.
// RUN: rm -rf %t && split-file %s %t
// RUN: weft-compile %t/counted.mlir --report=copies | FileCheck %t/counted.mlir
// RUN: weft-compile %t/until.mlir --report=copies | FileCheck %t/until.mlir
// RUN: weft-compile %t/second.mlir --report=copies | FileCheck %t/second.mlir

//--- counted.mlir
// The stack has 2.7 KiB. The state is set aside because the argument must stay, each iteration keeps its 400 bytes, and the
// cotangent begins as a constant.
// CHECK: counted: 3 copies, 0 allocations, 1 output;
// CHECK-NEXT: output 400 B result 0
// CHECK-NEXT: copy 400 B scf.for scf.for ({{.*}}) changes it, and argument 0 must stay as it is
// CHECK-NEXT: copy 400 B a temporary a copy of a temporary
// CHECK-NEXT: copy 400 B result 0 result 0 is the value of a constant
// CHECK-NOT: copy
func.func private @f(%x: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> (tensor<100xf32>) {
    %0 = weft.sin %a : tensor<100xf32>
    scf.yield %0 : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}
func.func @counted(%x: tensor<100xf32>) -> tensor<100xf32> {
  %one = weft.constant dense<1.0> : tensor<100xf32>
  %0:2 = weft.vjp @f(%x) cotangents(%one) wrt [0] : (tensor<100xf32>, tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>)
  return %0#1 : tensor<100xf32>
}

//--- until.mlir
// The only copy of unknown size is that of a stack that is full; it goes with the only allocation.
// CHECK: until: 4 copies, 1 allocation, 1 output;
// CHECK-NEXT: output 400 B result 0
// CHECK-NEXT: copy 400 B scf.while scf.while ({{.*}}) changes it, and argument 0 must stay as it is
// CHECK-NEXT: allocation 400 * ? B memref.copy
// CHECK-NEXT: copy 400 * ? B scf.yield
// CHECK-NEXT: copy 400 B scf.yield
// CHECK-NEXT: copy 400 B result 0 result 0 is the value of a constant
// CHECK-NOT: copy
func.func private @f(%x: tensor<100xf32>, %limit: tensor<f32>) -> tensor<f32> {
  %r = scf.while (%a = %x) : (tensor<100xf32>) -> tensor<100xf32> {
    %m = weft.max %a {axes = array<i64: 0>} : (tensor<100xf32>) -> tensor<f32>
    %l = weft.less %m, %limit : tensor<f32>
    %c = weft.item %l : tensor<i1>
    scf.condition(%c) %a : tensor<100xf32>
  } do {
  ^bb0(%a: tensor<100xf32>):
    %0 = weft.exp %a : tensor<100xf32>
    scf.yield %0 : tensor<100xf32>
  }
  %s = weft.sum %r {axes = array<i64: 0>} : (tensor<100xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @until(%x: tensor<100xf32>, %limit: tensor<f32>) -> tensor<100xf32> {
  %0:2 = weft.gradient @f(%x, %limit) wrt [0] : (tensor<100xf32>, tensor<f32>) -> (tensor<f32>, tensor<100xf32>)
  return %0#1 : tensor<100xf32>
}

//--- second.mlir
// The reverse of the reverse loop has stacks of its own, and adds to the cotangent of the first one's in place.
// CHECK: second: {{.*}} copies, 0 allocations, 1 output;
// CHECK-NOT: copy {{.*}} KiB
// CHECK: copy 400 B result 0
func.func private @f(%x: tensor<100xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> (tensor<100xf32>) {
    %0 = weft.sin %a : tensor<100xf32>
    scf.yield %0 : tensor<100xf32>
  }
  %s = weft.sum %r {axes = array<i64: 0>} : (tensor<100xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func private @slope(%x: tensor<100xf32>) -> tensor<f32> {
  %0:2 = weft.gradient @f(%x) wrt [0] : (tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>)
  %s = weft.sum %0#1 {axes = array<i64: 0>} : (tensor<100xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func @second(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0:2 = weft.gradient @slope(%x) wrt [0] : (tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>)
  return %0#1 : tensor<100xf32>
}
