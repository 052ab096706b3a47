// The op shard: its text, its derivative, which is cut as it is, and what does not fit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
// CHECK: weft.shard %{{.*}} {cut = array<i64: 1>, first = 3 : i64, group = 0 : i64, mesh = array<i64: 2, 4>, over = array<i64: 2>} : (tensor<3x8xf32>) -> tensor<3x8xf32>
func.func @shapes(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0 = weft.shard %x {cut = array<i64: 1>, over = array<i64: 2>, mesh = array<i64: 2, 4>, first = 3 : i64, group = 0 : i64} : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// AD-LABEL: func.func @shard_vjp(
// AD: %[[D:.*]] = weft.shard %{{.*}} {cut = array<i64: 1>, first = 3 : i64, group = 0 : i64, mesh = array<i64: 2, 4>, over = array<i64: 2>}
// AD: return %[[D]]
func.func @shard_vjp(%x: tensor<3x8xf32>, %d: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0:2 = weft.vjp @shapes(%x) cotangents(%d) wrt [0] : (tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>)
  return %0#1 : tensor<3x8xf32>
}

// AD-LABEL: func.func @shard_jvp(
// AD: weft.shard %{{.*}} {cut = array<i64: 1>, first = 3 : i64, group = 0 : i64, mesh = array<i64: 2, 4>, over = array<i64: 2>}
// AD: %[[D:.*]] = weft.shard %{{.*}} {cut = array<i64: 1>, first = 3 : i64, group = 0 : i64, mesh = array<i64: 2, 4>, over = array<i64: 2>}
// AD: return %[[D]]
func.func @shard_jvp(%x: tensor<3x8xf32>, %d: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %0:2 = weft.jvp @shapes(%x) tangents(%d) wrt [0] : (tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>)
  return %0#1 : tensor<3x8xf32>
}

// -----

func.func @size(%x: tensor<3x9xf32>) {
  // expected-error @below {{'weft.shard' op axis 1 of x has size 9, which is no multiple of the 4 ranks: the next are 8 and 12}}
  %0 = weft.shard %x {cut = array<i64: 1>, over = array<i64: 2>, mesh = array<i64: 2, 4>, first = 3 : i64, group = 0 : i64} : (tensor<3x9xf32>) -> tensor<3x9xf32>
  return
}

// -----

func.func @twice(%x: tensor<8x8xf32>) {
  // expected-error @below {{'weft.shard' op axis 1 of x is cut over an axis of the mesh that cuts another one, or it is cut twice}}
  %0 = weft.shard %x {cut = array<i64: 0, 1>, over = array<i64: 2, 3>, mesh = array<i64: 2, 4>, first = 3 : i64, group = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @set(%x: tensor<8xf32>) {
  // expected-error @below {{'weft.shard' op axis 0 of x is cut over the set 4 of axes, which a mesh of 2 axes has not}}
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64: 4>, mesh = array<i64: 2, 4>, first = 3 : i64, group = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @lists(%x: tensor<8xf32>) {
  // expected-error @below {{'weft.shard' op 1 axes are cut, over 0 sets of axes of the mesh}}
  %0 = weft.shard %x {cut = array<i64: 0>, over = array<i64>, mesh = array<i64: 2, 4>, first = 3 : i64, group = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
