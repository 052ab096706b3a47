// The loops that stand for argmax and cumulative ops where the library cannot be called give what the library gives: integers, so exactly, along every axis and in every direction.
// RUN: mkdir -p %t
// RUN: weft-run %s --arg='random<1> : tensor<3x5x4xi32>' --arg='random<2> : tensor<3x5x4xi32>' --save=%t/0.npy --save=%t/1.npy --save=%t/2.npy --save=%t/3.npy --save=%t/4.npy
// RUN: weft-opt %s --weft-to-linalg=without-library -o %t/loops.mlir
// RUN: not grep call_into %t/loops.mlir
// RUN: weft-run --from=linalg %t/loops.mlir --arg='random<1> : tensor<3x5x4xi32>' --arg='random<2> : tensor<3x5x4xi32>' --check=%t/0.npy --check=%t/1.npy --check=%t/2.npy --check=%t/3.npy --check=%t/4.npy

func.func @main(%a: tensor<3x5x4xi32>, %x: tensor<3x5x4xi32>) -> (tensor<3x5xi64>, tensor<3x4xi64>, tensor<3x5x4xi32>, tensor<3x5x4xi32>, tensor<3x5x4xi32>) {
  %0 = weft.argmax %x {axis = 2 : i64} : (tensor<3x5x4xi32>) -> tensor<3x5xi64>
  %1 = weft.argmax %x {axis = 1 : i64} : (tensor<3x5x4xi32>) -> tensor<3x4xi64>
  %2 = weft.cumsum %x {axis = 2 : i64, reverse = true} : tensor<3x5x4xi32>
  %3 = weft.cummax %x {axis = 1 : i64, exclusive = true} : tensor<3x5x4xi32>
  %4 = weft.linear_recurrence %a, %x {axis = 2 : i64, shifted = true} : (tensor<3x5x4xi32>, tensor<3x5x4xi32>) -> tensor<3x5x4xi32>
  return %0, %1, %2, %3, %4 : tensor<3x5xi64>, tensor<3x4xi64>, tensor<3x5x4xi32>, tensor<3x5x4xi32>, tensor<3x5x4xi32>
}
