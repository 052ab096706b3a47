// Reverse and forward code of collectives: the reverse of each is the transpose of what it does to the tensors of all ranks.
// RUN: weft-opt %s -weft-differentiate -symbol-dce | FileCheck %s

//===--- all_reduce_sum ---===//

func.func private @all_reduce_sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// All ranks have their parts in each sum.
// CHECK-LABEL: func.func @all_reduce_sum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_sum %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @all_reduce_sum_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @all_reduce_sum(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @all_reduce_sum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_sum %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.all_reduce_sum %[[DX]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @all_reduce_sum_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @all_reduce_sum(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- all_reduce_max ---===//

func.func private @all_reduce_max(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.all_reduce_max %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Those that are the extremum share the sum.
// CHECK-LABEL: func.func @all_reduce_max_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_max %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[Y]]
// CHECK: %[[ONES:.*]] = weft.cast %[[IS]]
// CHECK: %[[N:.*]] = weft.all_reduce_sum %[[ONES]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SHARE:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: %[[DX:.*]] = weft.select %[[IS]], %[[SHARE]]
// CHECK: return %[[DX]]
func.func @all_reduce_max_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @all_reduce_max(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @all_reduce_max_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_max %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[Y]]
// CHECK: %[[N:.*]] = weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[MOVED:.*]] = weft.select %[[IS]], %[[DX]]
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[MOVED]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: return %[[DY]]
func.func @all_reduce_max_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @all_reduce_max(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- all_reduce_min ---===//

func.func private @all_reduce_min(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.all_reduce_min %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Those that are the extremum share the sum.
// CHECK-LABEL: func.func @all_reduce_min_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_min %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[Y]]
// CHECK: %[[ONES:.*]] = weft.cast %[[IS]]
// CHECK: %[[N:.*]] = weft.all_reduce_sum %[[ONES]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SHARE:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: %[[DX:.*]] = weft.select %[[IS]], %[[SHARE]]
// CHECK: return %[[DX]]
func.func @all_reduce_min_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @all_reduce_min(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @all_reduce_min_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_reduce_min %[[X]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[Y]]
// CHECK: %[[N:.*]] = weft.all_reduce_sum %{{.*}} {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[MOVED:.*]] = weft.select %[[IS]], %[[DX]]
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[MOVED]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: return %[[DY]]
func.func @all_reduce_min_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @all_reduce_min(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- reduce_scatter_sum ---===//

func.func private @reduce_scatter_sum(%x: tensor<4xf32>) -> tensor<1xf32> {
  %0 = weft.reduce_scatter_sum %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// Each part has its cotangent from the rank that got it.
// CHECK-LABEL: func.func @reduce_scatter_sum_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<1xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_sum %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[DX:.*]] = weft.all_gather %[[D]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @reduce_scatter_sum_vjp(%x: tensor<4xf32>, %d: tensor<1xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @reduce_scatter_sum(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @reduce_scatter_sum_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_sum %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[DY:.*]] = weft.reduce_scatter_sum %[[DX]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: return %[[DY]]
func.func @reduce_scatter_sum_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<1xf32> {
  %0:2 = weft.jvp @reduce_scatter_sum(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return %0#1 : tensor<1xf32>
}

//===--- reduce_scatter_max ---===//

func.func private @reduce_scatter_max(%x: tensor<4xf32>) -> tensor<1xf32> {
  %0 = weft.reduce_scatter_max %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// Of each part, those that are the extremum share its cotangent.
// CHECK-LABEL: func.func @reduce_scatter_max_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<1xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_max %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[ALL:.*]] = weft.all_gather %[[Y]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[ALL]]
// CHECK: %[[N:.*]] = weft.reduce_scatter_sum %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[SHARE:.*]] = weft.divide %[[D]], %[[N]]
// CHECK: %[[BACK:.*]] = weft.all_gather %[[SHARE]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.select %[[IS]], %[[BACK]]
// CHECK: return %[[DX]]
func.func @reduce_scatter_max_vjp(%x: tensor<4xf32>, %d: tensor<1xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @reduce_scatter_max(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @reduce_scatter_max_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_max %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %{{.*}}
// CHECK: %[[N:.*]] = weft.reduce_scatter_sum %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[MOVED:.*]] = weft.select %[[IS]], %[[DX]]
// CHECK: %[[SUM:.*]] = weft.reduce_scatter_sum %[[MOVED]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[DY:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: return %[[DY]]
func.func @reduce_scatter_max_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<1xf32> {
  %0:2 = weft.jvp @reduce_scatter_max(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return %0#1 : tensor<1xf32>
}

//===--- reduce_scatter_min ---===//

func.func private @reduce_scatter_min(%x: tensor<4xf32>) -> tensor<1xf32> {
  %0 = weft.reduce_scatter_min %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// Of each part, those that are the extremum share its cotangent.
// CHECK-LABEL: func.func @reduce_scatter_min_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<1xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_min %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[ALL:.*]] = weft.all_gather %[[Y]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %[[ALL]]
// CHECK: %[[N:.*]] = weft.reduce_scatter_sum %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[SHARE:.*]] = weft.divide %[[D]], %[[N]]
// CHECK: %[[BACK:.*]] = weft.all_gather %[[SHARE]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.select %[[IS]], %[[BACK]]
// CHECK: return %[[DX]]
func.func @reduce_scatter_min_vjp(%x: tensor<4xf32>, %d: tensor<1xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @reduce_scatter_min(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @reduce_scatter_min_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.reduce_scatter_min %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[IS:.*]] = weft.equal %[[X]], %{{.*}}
// CHECK: %[[N:.*]] = weft.reduce_scatter_sum %{{.*}} {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[MOVED:.*]] = weft.select %[[IS]], %[[DX]]
// CHECK: %[[SUM:.*]] = weft.reduce_scatter_sum %[[MOVED]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK: %[[DY:.*]] = weft.divide %[[SUM]], %[[N]]
// CHECK: return %[[DY]]
func.func @reduce_scatter_min_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<1xf32> {
  %0:2 = weft.jvp @reduce_scatter_min(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return %0#1 : tensor<1xf32>
}

//===--- all_gather ---===//

func.func private @all_gather(%x: tensor<4xf32>) -> tensor<16xf32> {
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// This rank has a part in what every rank got.
// CHECK-LABEL: func.func @all_gather_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<16xf32>
// CHECK: %[[Y:.*]] = weft.all_gather %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: %[[DX:.*]] = weft.reduce_scatter_sum %[[D]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<16xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @all_gather_vjp(%x: tensor<4xf32>, %d: tensor<16xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @all_gather(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @all_gather_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.all_gather %[[X]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: %[[DY:.*]] = weft.all_gather %[[DX]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: return %[[DY]]
func.func @all_gather_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<16xf32> {
  %0:2 = weft.jvp @all_gather(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %0#1 : tensor<16xf32>
}

//===--- all_to_all ---===//

func.func private @all_to_all(%x: tensor<4x3xf32>) -> tensor<1x12xf32> {
  %0 = weft.all_to_all %x {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<1x12xf32>
  return %0 : tensor<1x12xf32>
}
// The way back.
// CHECK-LABEL: func.func @all_to_all_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>, %[[D:[a-z0-9]+]]: tensor<1x12xf32>
// CHECK: %[[Y:.*]] = weft.all_to_all %[[X]] {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<1x12xf32>
// CHECK: %[[DX:.*]] = weft.all_to_all %[[D]] {concat_axis = 0 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 1 : i64} : (tensor<1x12xf32>) -> tensor<4x3xf32>
// CHECK: return %[[DX]]
func.func @all_to_all_vjp(%x: tensor<4x3xf32>, %d: tensor<1x12xf32>) -> tensor<4x3xf32> {
  %0:2 = weft.vjp @all_to_all(%x) cotangents(%d) wrt [0] : (tensor<4x3xf32>, tensor<1x12xf32>) -> (tensor<1x12xf32>, tensor<4x3xf32>)
  return %0#1 : tensor<4x3xf32>
}
// CHECK-LABEL: func.func @all_to_all_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>, %[[DX:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK: %[[Y:.*]] = weft.all_to_all %[[X]] {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<1x12xf32>
// CHECK: %[[DY:.*]] = weft.all_to_all %[[DX]] {concat_axis = 1 : i64, group = 0 : i64, ranks = 4 : i64, split_axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<1x12xf32>
// CHECK: return %[[DY]]
func.func @all_to_all_jvp(%x: tensor<4x3xf32>, %dx: tensor<4x3xf32>) -> tensor<1x12xf32> {
  %0:2 = weft.jvp @all_to_all(%x) tangents(%dx) wrt [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<1x12xf32>, tensor<1x12xf32>)
  return %0#1 : tensor<1x12xf32>
}

//===--- broadcast_rank ---===//

func.func private @broadcast_rank(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.broadcast_rank %x {group = 0 : i64, root = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The sum, at the root alone.
// CHECK-LABEL: func.func @broadcast_rank_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.broadcast_rank %[[X]] {group = 0 : i64, root = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.permute_ranks %[[SUM]] {group = 0 : i64, pairs = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @broadcast_rank_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @broadcast_rank(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @broadcast_rank_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.broadcast_rank %[[X]] {group = 0 : i64, root = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.broadcast_rank %[[DX]] {group = 0 : i64, root = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @broadcast_rank_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @broadcast_rank(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- permute_ranks ---===//

func.func private @permute_ranks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.permute_ranks %x {group = 0 : i64, pairs = array<i64: 0, 1, 1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Each pair turned round.
// CHECK-LABEL: func.func @permute_ranks_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.permute_ranks %[[X]] {group = 0 : i64, pairs = array<i64: 0, 1, 1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.permute_ranks %[[D]] {group = 0 : i64, pairs = array<i64: 1, 0, 3, 1>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @permute_ranks_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @permute_ranks(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @permute_ranks_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.*]] = weft.permute_ranks %[[X]] {group = 0 : i64, pairs = array<i64: 0, 1, 1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.permute_ranks %[[DX]] {group = 0 : i64, pairs = array<i64: 0, 1, 1, 3>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @permute_ranks_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @permute_ranks(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- replicas ---===//

func.func private @replicas(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = weft.all_reduce_sum %x {axes = array<i64: 0>, replicas = 8 : i64, group = 0 : i64, mean = true} : (tensor<2x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// The mean's cotangent, of all ranks, for each of this rank's replicas.
// CHECK-LABEL: func.func @replicas_of_this_rank(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[D:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[SUM:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64}
// CHECK: %[[MEAN:.*]] = weft.divide %[[SUM]], %{{.*}}
// CHECK: %[[ROW:.*]] = weft.reshape %[[MEAN]] {{.*}} -> tensor<1x3xf32>
// CHECK: %[[DX:.*]] = weft.broadcast %[[ROW]] {{.*}} -> tensor<2x3xf32>
// CHECK: return %[[DX]]
func.func @replicas_of_this_rank(%x: tensor<2x3xf32>, %d: tensor<3xf32>) -> tensor<2x3xf32> {
  %0:2 = weft.vjp @replicas(%x) cotangents(%d) wrt [0] : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  return %0#1 : tensor<2x3xf32>
}

//===--- sum_that_is_the_same ---===//

func.func private @sum_that_is_the_same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.all_reduce_sum %x {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// All ranks have the one cotangent.
// CHECK-LABEL: func.func @sum_that_is_the_same_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.vary %[[D]] {group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @sum_that_is_the_same_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @sum_that_is_the_same(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @sum_that_is_the_same_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.all_reduce_sum %[[DX]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @sum_that_is_the_same_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @sum_that_is_the_same(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- vary ---===//

func.func private @vary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.vary %x {group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// What each rank makes of it.
// CHECK-LABEL: func.func @vary_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.all_reduce_sum %[[D]] {axes = array<i64>, group = 0 : i64, replicas = 0 : i64, same = true} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @vary_vjp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @vary(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @vary_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.vary %[[DX]] {group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @vary_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @vary(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

//===--- gathered_as_one ---===//

func.func private @gathered_as_one(%x: tensor<4xf32>) -> tensor<16xf32> {
  %0 = weft.all_gather %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64, same = true} : (tensor<4xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// This rank's part of the one cotangent.
// CHECK-LABEL: func.func @gathered_as_one_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[D:[a-z0-9]+]]: tensor<16xf32>
// CHECK: %[[DX:.*]] = weft.slice_own %[[D]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<16xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @gathered_as_one_vjp(%x: tensor<4xf32>, %d: tensor<16xf32>) -> tensor<4xf32> {
  %0:2 = weft.vjp @gathered_as_one(%x) cotangents(%d) wrt [0] : (tensor<4xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
// CHECK-LABEL: func.func @gathered_as_one_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[DX:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DY:.*]] = weft.all_gather %[[DX]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64, same = true} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: return %[[DY]]
func.func @gathered_as_one_jvp(%x: tensor<4xf32>, %dx: tensor<4xf32>) -> tensor<16xf32> {
  %0:2 = weft.jvp @gathered_as_one(%x) tangents(%dx) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %0#1 : tensor<16xf32>
}

//===--- slice_own ---===//

func.func private @slice_own(%x: tensor<16xf32>) -> tensor<4xf32> {
  %0 = weft.slice_own %x {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<16xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The parts of all ranks.
// CHECK-LABEL: func.func @slice_own_vjp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16xf32>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = weft.all_gather %[[D]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64, same = true} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: return %[[DX]]
func.func @slice_own_vjp(%x: tensor<16xf32>, %d: tensor<4xf32>) -> tensor<16xf32> {
  %0:2 = weft.vjp @slice_own(%x) cotangents(%d) wrt [0] : (tensor<16xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<16xf32>)
  return %0#1 : tensor<16xf32>
}
// CHECK-LABEL: func.func @slice_own_jvp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16xf32>, %[[DX:[a-z0-9]+]]: tensor<16xf32>
// CHECK: %[[DY:.*]] = weft.slice_own %[[DX]] {axis = 0 : i64, group = 0 : i64, ranks = 4 : i64} : (tensor<16xf32>) -> tensor<4xf32>
// CHECK: return %[[DY]]
func.func @slice_own_jvp(%x: tensor<16xf32>, %dx: tensor<16xf32>) -> tensor<4xf32> {
  %0:2 = weft.jvp @slice_own(%x) tangents(%dx) wrt [0] : (tensor<16xf32>, tensor<16xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
