// Cases C10 to C15: branches that write. Each case is two calls in a row, as one program: the condition is false, then true.
// It runs as it stands, and in shuffled orders after upstream's passes have had their way with the tokens.
// RUN: weft-run %s --entry=main --arg='dense<false> : tensor<i1>' --arg='dense<true> : tensor<i1>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --weft-shuffle-schedule=seed=1 | weft-run - --from=control-deps --entry=main --arg='dense<false> : tensor<i1>' --arg='dense<true> : tensor<i1>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --inline --cse --canonicalize --loop-invariant-code-motion --symbol-dce --weft-shuffle-schedule=seed=2 | weft-run - --from=control-deps --entry=main --arg='dense<false> : tensor<i1>' --arg='dense<true> : tensor<i1>' | FileCheck %s
// RUN: weft-opt %s --weft-insert-control-deps --inline --weft-shuffle-schedule=seed=3 --cse --canonicalize --weft-shuffle-schedule=seed=4 | weft-run - --from=control-deps --entry=main --arg='dense<false> : tensor<i1>' --arg='dense<true> : tensor<i1>' | FileCheck %s

weft.variable @v = dense<1.0> : tensor<f32>

func.func private @reset() {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  weft.assign %v, %one : tensor<f32>
  return
}

func.func private @add(%by: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  weft.assign_add %v, %by : tensor<f32>
  return
}

func.func private @times(%by: tensor<f32>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %0 = weft.read %v : tensor<f32>
  %1 = weft.multiply %0, %by : tensor<f32>
  weft.assign %v, %1 : tensor<f32>
  return
}

func.func private @c10(%p: i1) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %four = weft.constant dense<4.0> : tensor<f32>
  scf.if %p {
    func.call @add(%one) : (tensor<f32>) -> ()
  } else {
    func.call @add(%four) : (tensor<f32>) -> ()
  }
  %0 = weft.read %v : tensor<f32>
  return %0 : tensor<f32>
}

func.func private @c11(%p: i1) -> tensor<f32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  %four = weft.constant dense<4.0> : tensor<f32>
  scf.if %p {
    func.call @add(%one) : (tensor<f32>) -> ()
  } else {
    func.call @add(%four) : (tensor<f32>) -> ()
  }
  return %one : tensor<f32>
}

func.func private @c12(%p: i1, %q: i1) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %one = weft.constant dense<1.0> : tensor<f32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  scf.if %p {
    func.call @add(%one) : (tensor<f32>) -> ()
  } else {
    scf.if %q {
      func.call @times(%two) : (tensor<f32>) -> ()
    } else {
      func.call @times(%three) : (tensor<f32>) -> ()
    }
  }
  %0 = weft.read %v : tensor<f32>
  return %0 : tensor<f32>
}

func.func private @c13(%p: i1) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %four = weft.constant dense<4.0> : tensor<f32>
  scf.if %p {
  } else {
    func.call @add(%four) : (tensor<f32>) -> ()
  }
  %0 = weft.read %v : tensor<f32>
  return %0 : tensor<f32>
}

func.func private @c14(%p: i1) -> tensor<f32> {
  %two = weft.constant dense<2.0> : tensor<f32>
  func.call @times(%two) : (tensor<f32>) -> ()
  %0 = func.call @c13(%p) : (i1) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func private @c15(%p: i1) -> tensor<f32> {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %two = weft.constant dense<2.0> : tensor<f32>
  %0 = func.call @c13(%p) : (i1) -> tensor<f32>
  func.call @times(%two) : (tensor<f32>) -> ()
  %1 = weft.read %v : tensor<f32>
  return %1 : tensor<f32>
}

func.func @main(%no: tensor<i1>, %yes: tensor<i1>) {
  %v = weft.handle @v : !weft.var<tensor<f32>>
  %f = weft.item %no : tensor<i1>
  %t = weft.item %yes : tensor<i1>
  // C10: the branch that runs is seen by the read after it.
  // CHECK: C10 5 6
  %c10a = func.call @c10(%f) : (i1) -> tensor<f32>
  %c10b = func.call @c10(%t) : (i1) -> tensor<f32>
  weft.print "C10 {} {}", %c10a, %c10b : tensor<f32>, tensor<f32>
  // C11: the branch runs although its function returns something else.
  // CHECK-NEXT: C11 5 6
  func.call @reset() : () -> ()
  %c11a = func.call @c11(%f) : (i1) -> tensor<f32>
  %c11va = weft.read %v : tensor<f32>
  %c11b = func.call @c11(%t) : (i1) -> tensor<f32>
  %c11vb = weft.read %v : tensor<f32>
  weft.print "C11 {} {}", %c11va, %c11vb : tensor<f32>, tensor<f32>
  // C12: nested branches.
  // CHECK-NEXT: C12 3 6 7 8
  func.call @reset() : () -> ()
  %c12a = func.call @c12(%f, %f) : (i1, i1) -> tensor<f32>
  %c12b = func.call @c12(%f, %t) : (i1, i1) -> tensor<f32>
  %c12c = func.call @c12(%t, %t) : (i1, i1) -> tensor<f32>
  %c12d = func.call @c12(%t, %f) : (i1, i1) -> tensor<f32>
  weft.print "C12 {} {} {} {}", %c12a, %c12b, %c12c, %c12d : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  // C13: a branch that does nothing leaves what is there.
  // CHECK-NEXT: C13 5 5
  func.call @reset() : () -> ()
  %c13a = func.call @c13(%f) : (i1) -> tensor<f32>
  %c13b = func.call @c13(%t) : (i1) -> tensor<f32>
  weft.print "C13 {} {}", %c13a, %c13b : tensor<f32>, tensor<f32>
  // C14: a write before the branch.
  // CHECK-NEXT: C14 6 12
  func.call @reset() : () -> ()
  %c14a = func.call @c14(%f) : (i1) -> tensor<f32>
  %c14b = func.call @c14(%t) : (i1) -> tensor<f32>
  weft.print "C14 {} {}", %c14a, %c14b : tensor<f32>, tensor<f32>
  // C15: a write after the branch.
  // CHECK-NEXT: C15 10 20
  func.call @reset() : () -> ()
  %c15a = func.call @c15(%f) : (i1) -> tensor<f32>
  %c15b = func.call @c15(%t) : (i1) -> tensor<f32>
  weft.print "C15 {} {}", %c15a, %c15b : tensor<f32>, tensor<f32>
  return
}
