// Products that are added to the state of a loop are added in place, with the bits that they had.
// RUN: weft-opt %s --weft-accumulate-products --split-input-file | FileCheck %s

#lhs = affine_map<(m, n, k) -> (k, m)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// Two in an iteration, the second to what the first gave. The third has the state on the right, where another NaN would win.
// CHECK-LABEL: func.func @sums(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}})
// CHECK: %[[ONE:.*]] = linalg.contract {{.*}} {weft.adds_whole} {{.*}} outs(%[[SUM]] : tensor<8x4xf32>)
// CHECK: linalg.contract {{.*}} {weft.adds_whole} {{.*}} outs(%[[ONE]] : tensor<8x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[OTHER]] :
func.func @sums(%a: tensor<2x8xf32>, %b: tensor<2x4xf32>, %start: tensor<8x4xf32>, %n: index) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start, %other = %start) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %empty = tensor.empty() : tensor<8x4xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
    %p = linalg.contract indexing_maps = [#lhs, #rhs, #out] ins(%a, %b : tensor<2x8xf32>, tensor<2x4xf32>) outs(%zeros : tensor<8x4xf32>) -> tensor<8x4xf32>
    %q = linalg.contract indexing_maps = [#lhs, #rhs, #out] ins(%a, %b : tensor<2x8xf32>, tensor<2x4xf32>) outs(%zeros : tensor<8x4xf32>) -> tensor<8x4xf32>
    %o = linalg.contract indexing_maps = [#lhs, #rhs, #out] ins(%a, %b : tensor<2x8xf32>, tensor<2x4xf32>) outs(%zeros : tensor<8x4xf32>) -> tensor<8x4xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %p : tensor<8x4xf32>, tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<8x4xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %q : tensor<8x4xf32>, tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<8x4xf32>
    %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%o, %other : tensor<8x4xf32>, tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<8x4xf32>
    scf.yield %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

#lhs = affine_map<(m, n, k) -> (k, m)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// State that the iteration uses once more, and an argument of a function, which must stay as it is.
// CHECK-LABEL: func.func @still_read(
// CHECK-NOT: weft.adds_whole
func.func @still_read(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %start: tensor<8x8xf32>, %n: index) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<8x8xf32>) {
    %p = linalg.contract indexing_maps = [#lhs, #rhs, #out] ins(%a, %sum : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<8x8xf32>) -> tensor<8x8xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<8x8xf32>
    scf.yield %0 : tensor<8x8xf32>
  }
  %q = linalg.contract indexing_maps = [#lhs, #rhs, #out] ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%start, %q : tensor<8x8xf32>, tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
