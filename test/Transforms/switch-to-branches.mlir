// A switch that gives tensors becomes a tree of branches, because bufferization would let its results be overwritten though
// they may be tensors from around it.
// RUN: weft-opt %s --weft-switch-to-branches -canonicalize | FileCheck %s
// RUN: weft-run %s --entry=not_overwritten --arg='dense<[1.0, 2.0]> : tensor<2xf32>' --arg='dense<7> : tensor<i64>' --print | FileCheck %s --check-prefix=VALUE

// CHECK-LABEL: func.func private @three
// CHECK-SAME: (%[[I:.*]]: index, %[[X:.*]]: tensor<2xf32>)
// CHECK: %[[FIVE:.*]] = arith.cmpi eq, %[[I]], %c5
// CHECK: %[[P:.*]] = arith.select %[[FIVE]], %c0, %c2
// CHECK: %[[NINE:.*]] = arith.cmpi eq, %[[I]], %c9
// CHECK: %[[Q:.*]] = arith.select %[[NINE]], %c1, %[[P]]
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[Q]], %c1
// CHECK: %[[R:.*]] = scf.if %[[FIRST]] -> (tensor<2xf32>) {
// CHECK:   weft.exp
// CHECK: } else {
// CHECK:   %[[SECOND:.*]] = arith.cmpi ult, %[[Q]], %c2
// CHECK:   %[[REST:.*]] = scf.if %[[SECOND]] -> (tensor<2xf32>) {
// CHECK:     weft.sin
// CHECK:   } else {
// CHECK:     scf.yield %[[X]]
// CHECK: return %[[R]]
func.func private @three(%i: index, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = scf.index_switch %i -> tensor<2xf32>
  case 5 {
    %1 = weft.exp %x : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  case 9 {
    %1 = weft.sin %x : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  default {
    scf.yield %x : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// One that gives numbers stays.
// CHECK-LABEL: func.func private @numbers
// CHECK: scf.index_switch
func.func private @numbers(%i: index, %j: index) -> index {
  %0 = scf.index_switch %i -> index
  case 0 {
    scf.yield %i : index
  }
  default {
    scf.yield %j : index
  }
  return %0 : index
}

// The loop's state begins as the argument, which must stay as it is.
// VALUE: tensor([2, 4]
// VALUE-NEXT: tensor([1, 2]
func.func @not_overwritten(%x: tensor<2xf32>, %p: tensor<i64>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p0 = weft.item %p : tensor<i64>
  %i = arith.index_cast %p0 : i64 to index
  %s = scf.index_switch %i -> tensor<2xf32>
  case 0 {
    %e = weft.exp %x : tensor<2xf32>
    scf.yield %e : tensor<2xf32>
  }
  default {
    scf.yield %x : tensor<2xf32>
  }
  %z = weft.negate %x : tensor<2xf32>
  %r:2 = scf.for %k = %c0 to %c1 step %c1 iter_args(%a = %s, %b = %x) -> (tensor<2xf32>, tensor<2xf32>) {
    %t = weft.add %a, %x : tensor<2xf32>
    scf.yield %z, %t : tensor<2xf32>, tensor<2xf32>
  }
  %y = weft.add %x, %z : tensor<2xf32>
  %w = weft.add %x, %y : tensor<2xf32>
  return %r#1, %w : tensor<2xf32>, tensor<2xf32>
}
