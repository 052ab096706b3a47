// weft-run: a program in text has no callables. It runs up to the first host call that it comes to, and says which one that is.
// RUN: not weft-run %s --arg='dense<true> : tensor<i1>' 2>&1 | FileCheck %s --check-prefix=COMES
// RUN: weft-run %s --arg='dense<false> : tensor<i1>' --print 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: weft-compile %s --compile-to=llvm | FileCheck %s --check-prefix=LLVM

// COMES: before
// COMES-NOT: after
// COMES: error: f: host_call @norm: there is no callable of that name here; they come with functions that are traced in C++
// PASSES: before
// PASSES-NEXT: after
// PASSES-NEXT: f: 1 result
// PASSES-NEXT: tensor([1, 2]
// LLVM: llvm.call @weft_rt_host_call
func.func @f(%p: tensor<i1>) -> tensor<2xf32> {
  %x = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = weft.item %p : tensor<i1>
  weft.print "before"
  %r = scf.if %c -> (tensor<2xf32>) {
    %0 = weft.host_call @norm(%x) : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %0 : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  weft.print "after"
  return %r : tensor<2xf32>
}
