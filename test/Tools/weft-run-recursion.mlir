// weft-run: functions that call themselves are an error at the call, with or without variables, and end nothing but the run.
// RUN: not weft-run %s --entry=main --arg='dense<5> : tensor<i32>' 2>&1 | FileCheck %s
// RUN: not weft-compile %s --compile-to=llvm 2>&1 | FileCheck %s

// CHECK: weft-run-recursion.mlir:[[@LINE+10]]:10: error: 'func.call' op calls a function that could not be inlined: is it recursive?
func.func private @factorial(%n: tensor<i32>) -> tensor<i32> {
  %one = weft.constant dense<1> : tensor<i32>
  %least = weft.less_equal %n, %one : tensor<i32>
  %c = weft.item %least : tensor<i1>
  %r = scf.if %c -> (tensor<i32>) {
    scf.yield %n : tensor<i32>
  } else {
    %m = weft.subtract %n, %one : tensor<i32>
    // The call that comes back.
    %0 = func.call @factorial(%m) : (tensor<i32>) -> tensor<i32>
    %1 = weft.multiply %n, %0 : tensor<i32>
    scf.yield %1 : tensor<i32>
  }
  return %r : tensor<i32>
}
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %0 = func.call @factorial(%n) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
