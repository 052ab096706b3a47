// Tensors of one element become scalars: linalg bodies, branches, loops.
// RUN: weft-opt %s --weft-scalarize --split-input-file | FileCheck %s

// A chain of scalar ops needs no memory; a constant is one as well.
// CHECK-LABEL: func @chain
// CHECK-SAME: %[[X:[^ ]*]]: tensor<f32>
// CHECK: %[[E:.*]] = tensor.extract %[[X]][] : tensor<f32>
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[A:.*]] = arith.addf %[[E]], %[[TWO]] : f32
// CHECK: %[[B:.*]] = arith.mulf %[[A]], %[[A]] : f32
// CHECK: %[[R:.*]] = tensor.from_elements %[[B]] : tensor<f32>
// CHECK-NEXT: return %[[R]]
func.func @chain(%x: tensor<f32>) -> tensor<f32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %0 = tensor.empty() : tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x, %two : tensor<f32>, tensor<f32>) outs(%0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%1 : tensor<f32>) outs(%0 : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Loops carry scalars; tensors beside them stay.
// CHECK-LABEL: func @for
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) -> (i32, tensor<4xf32>)
// CHECK: %[[N:.*]] = arith.addi %[[A]], %[[A]] : i32
// CHECK: scf.yield %[[N]], %[[T]] : i32, tensor<4xf32>
// CHECK: %[[W:.*]] = tensor.from_elements %[[R]]#0 : tensor<i32>
// CHECK: return %[[W]], %[[R]]#1
func.func @for(%n: index, %x: tensor<i32>, %t: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %u = %t) -> (tensor<i32>, tensor<4xf32>) {
    %e = tensor.extract %a[] : tensor<i32>
    %s = arith.addi %e, %e : i32
    %b = tensor.from_elements %s : tensor<i32>
    scf.yield %b, %u : tensor<i32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<4xf32>
}

// -----

// The condition of a while loop reads scalars; branches yield them.
// CHECK-LABEL: func @while
// CHECK: scf.while (%[[A:.*]] = %{{.*}}) : (i32) -> i32
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[A]]
// CHECK: scf.condition(%[[C]]) %[[A]] : i32
// CHECK: %[[B:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: scf.yield %[[B]] : i32
func.func @while(%x: tensor<i32>, %p: i1) -> tensor<i32> {
  %limit = arith.constant 9 : i32
  %r = scf.while (%a = %x) : (tensor<i32>) -> tensor<i32> {
    %e = tensor.extract %a[] : tensor<i32>
    %c = arith.cmpi slt, %e, %limit : i32
    scf.condition(%c) %a : tensor<i32>
  } do {
  ^bb0(%a: tensor<i32>):
    %b = scf.if %p -> tensor<i32> {
      %e = tensor.extract %a[] : tensor<i32>
      %s = arith.addi %e, %limit : i32
      %w = tensor.from_elements %s : tensor<i32>
      scf.yield %w : tensor<i32>
    } else {
      scf.yield %x : tensor<i32>
    }
    scf.yield %b : tensor<i32>
  }
  return %r : tensor<i32>
}

// -----

// A scalar that a larger loop reads is wanted as a tensor.
// CHECK-LABEL: func @mixed
// CHECK: %[[S:.*]] = tensor.from_elements %{{.*}} : tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[S]] : tensor<4xf32>, tensor<f32>)
func.func @mixed(%x: tensor<4xf32>, %k: tensor<f32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%k : tensor<f32>) outs(%0 : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %2 = tensor.empty() : tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %1 : tensor<4xf32>, tensor<f32>) outs(%2 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
