// Handles that are chosen at run time, and branches by number, run as written: in program order and in any that tokens allow.
// RUN: weft-run %s --entry=chosen --arg='dense<true> : tensor<i1>' --arg='dense<3> : tensor<i64>' --print | FileCheck %s --check-prefix=YES
// RUN: weft-run %s --entry=chosen --arg='dense<false> : tensor<i1>' --arg='dense<3> : tensor<i64>' --print | FileCheck %s --check-prefix=NO
// RUN: weft-opt %s --weft-insert-control-deps --canonicalize --weft-shuffle-schedule=seed=5 | weft-run - --from=control-deps --entry=chosen --arg='dense<false> : tensor<i1>' --arg='dense<3> : tensor<i64>' --print | FileCheck %s --check-prefix=NO
// RUN: weft-run %s --entry=numbered --arg='dense<1> : tensor<i64>' --print | FileCheck %s --check-prefix=ONE
// RUN: weft-run %s --entry=numbered --arg='dense<2> : tensor<i64>' --print | FileCheck %s --check-prefix=TWO
// RUN: weft-run %s --entry=numbered --arg='dense<7> : tensor<i64>' --print | FileCheck %s --check-prefix=OTHER
// RUN: weft-opt %s --weft-lift-state | FileCheck %s

weft.variable @a = dense<[1.0, 2.0]> : tensor<2xf32>
weft.variable @b = dense<[10.0, 20.0]> : tensor<2xf32>

// Two handles are swapped in a loop.
// YES: tensor([2, 3]
// YES: tensor([5, 6]
// YES: tensor([10, 20]
// NO: tensor([11, 21]
// NO: tensor([2, 3]
// NO: tensor([13, 23]
// CHECK-LABEL: func @chosen
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<2xf32> {weft.variable = @a}, %[[B:[a-z0-9]*]]: tensor<2xf32> {weft.variable = @b}
// CHECK: %[[H:.*]] = arith.select %{{.*}} : index
// CHECK: %[[IS_B:.*]] = arith.cmpi eq, %[[H]], %{{.*}} : index
// CHECK: %[[NOW:.*]] = arith.select %[[IS_B]], %[[B]], %[[A]] : tensor<2xf32>
// CHECK: weft.add %[[NOW]]
func.func @chosen(%p: tensor<i1>, %n: tensor<i64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = weft.handle @a : !weft.var<tensor<2xf32>>
  %b = weft.handle @b : !weft.var<tensor<2xf32>>
  %one = weft.constant dense<1.0> : tensor<2xf32>
  %c = weft.item %p : tensor<i1>
  %h = arith.select %c, %a, %b : !weft.var<tensor<2xf32>>
  weft.assign_add %h, %one : tensor<2xf32>
  %0 = weft.read %h : tensor<2xf32>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %count = weft.item %n : tensor<i64>
  %g:2 = scf.for %k = %c0 to %count step %c1 iter_args(%x = %h, %y = %a) -> (!weft.var<tensor<2xf32>>, !weft.var<tensor<2xf32>>) : i64 {
    weft.assign_add %x, %one : tensor<2xf32>
    scf.yield %y, %x : !weft.var<tensor<2xf32>>, !weft.var<tensor<2xf32>>
  }
  %1 = weft.read %a : tensor<2xf32>
  %2 = weft.read %b : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// ONE-NOT: two
// ONE: tensor([1, 1]
// ONE: tensor([10, 20]
// TWO: two
// TWO: tensor([1, 2]
// TWO: tensor([1, 1]
// OTHER: another
// OTHER: tensor([1, 2]
// OTHER: tensor([10, 20]
// CHECK-LABEL: func @numbered
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<2xf32> {weft.variable = @a}, %[[B:[a-z0-9]*]]: tensor<2xf32> {weft.variable = @b}
// CHECK: %[[R:.*]]:2 = scf.index_switch
// CHECK: scf.yield %[[X:.*]], %[[B]]
// CHECK: scf.yield %[[A]], %[[X]]
// CHECK: scf.yield %[[A]], %[[B]]
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#0, %[[R]]#1
func.func @numbered(%i: tensor<i64>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = weft.handle @a : !weft.var<tensor<2xf32>>
  %b = weft.handle @b : !weft.var<tensor<2xf32>>
  %one = weft.constant dense<1.0> : tensor<2xf32>
  %s = weft.item %i : tensor<i64>
  %number = arith.index_cast %s : i64 to index
  scf.index_switch %number
  case 1 {
    weft.assign %a, %one : tensor<2xf32>
    scf.yield
  }
  case 2 {
    weft.assign %b, %one : tensor<2xf32>
    weft.print "two"
    scf.yield
  }
  default {
    weft.print "another"
  }
  %1 = weft.read %a : tensor<2xf32>
  %2 = weft.read %b : tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
