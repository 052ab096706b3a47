// Collectives become host calls of the library, whose names say the op and its attributes.
// RUN: weft-opt %s --weft-collectives-to-host-calls | FileCheck %s

// CHECK-LABEL: func @all
// CHECK: weft.host_call @"weft.all_reduce_sum [] 0 3 1 0"(%arg0) : (tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK: weft.host_call @"weft.all_reduce_min [1] 8 0"(%arg0) : (tensor<2x?xf32>) -> tensor<2xf32>
// CHECK: weft.host_call @"weft.permute_ranks [0,1,1,0] 0"(%arg0) : (tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK: %[[Y:.*]] = weft.host_call @"weft.all_gather 0 4 0 1"(%arg1) : (tensor<2xcomplex<f32>>) -> tensor<8xcomplex<f32>>
// CHECK: weft.host_call @"weft.rank_barrier 5"() : () -> ()
// CHECK: return %[[Y]]
func.func @all(%x: tensor<2x?xf32>, %c: tensor<2xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = weft.all_reduce_sum %x {axes = array<i64>, replicas = 0 : i64, group = 3 : i64, mean = true} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %1 = weft.all_reduce_min %x {axes = array<i64: 1>, replicas = 8 : i64, group = 0 : i64} : (tensor<2x?xf32>) -> tensor<2xf32>
  %2 = weft.permute_ranks %x {pairs = array<i64: 0, 1, 1, 0>, group = 0 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %3 = weft.all_gather %c {axis = 0 : i64, ranks = 4 : i64, group = 0 : i64, same = true} : (tensor<2xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  weft.rank_barrier {group = 5 : i64}
  return %3 : tensor<8xcomplex<f32>>
}

// Tokens stay.
// CHECK-LABEL: func @tokens
// CHECK: %{{.*}}:2 = weft.host_call @"weft.broadcast_rank 1 0"(%arg0) after %arg1 : (tensor<f32>) -> tensor<f32>
func.func @tokens(%x: tensor<f32>, %t: !weft.token) -> (tensor<f32>, !weft.token) {
  %0, %1 = weft.broadcast_rank %x after %t {root = 1 : i64, group = 0 : i64} : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, !weft.token
}

// Nothing is sent for what each rank goes on with in its own way; its part of it is that of its rank.
// CHECK-LABEL: func @alone
// CHECK-NOT: weft.vary
// CHECK: %[[PART:.*]]:2 = weft.host_call @"weft.slice_own 0 2 3"(%arg0) after %arg1 : (tensor<4xf32>) -> tensor<2xf32>
// CHECK: return %[[PART]]#0, %[[PART]]#1
func.func @alone(%x: tensor<4xf32>, %t: !weft.token) -> (tensor<2xf32>, !weft.token) {
  %0, %1 = weft.vary %x after %t {group = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2, %3 = weft.slice_own %0 after %1 {axis = 0 : i64, ranks = 2 : i64, group = 3 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  return %2, %3 : tensor<2xf32>, !weft.token
}
