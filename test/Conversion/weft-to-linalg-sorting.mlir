// argsort and sort: the library does them later, or loops count where that cannot be.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg=without-library --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=COUNT

// Indices are i64. Without the library each element counts those before it, and each index looks for its element.
// CHECK-LABEL: func @argsort
// CHECK-SAME: (%[[X:.*]]: tensor<2x5xf32>)
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<2x5xi64>
// CHECK: %[[Y:.*]] = weft.call_into "argsort"(%[[X]]) numbers() into %[[INTO]] {attrs = array<i64: 1, 0, -1>} : (tensor<2x5xf32>) into tensor<2x5xi64>
// CHECK: return %[[Y]]
// COUNT-LABEL: func @argsort
// COUNT-SAME: (%[[X:.*]]: tensor<2x5xf32>)
// COUNT-NOT: call_into
// COUNT: %[[PLACES:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[X]] : tensor<2x5xf32>, tensor<2x5xf32>)
// COUNT: arith.cmpf olt
// COUNT: arith.cmpi slt
// COUNT: arith.addi
// COUNT: linalg.generic {{.*}} ins(%[[PLACES]] : tensor<2x5xi64>)
// COUNT: %[[AT:.*]] = linalg.index 1
// COUNT: %[[FROM:.*]] = linalg.index 2
// COUNT: arith.select
func.func @argsort(%x: tensor<2x5xf32>) -> tensor<2x5xi64> {
  %0 = weft.argsort %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xi64>
  return %0 : tensor<2x5xi64>
}

// -----

// Values keep their dtype, and the direction goes along.
// CHECK-LABEL: func @sort
// CHECK: weft.call_into "sort"(%{{.*}}) numbers() into %{{.*}} {attrs = array<i64: 0, 1>} : (tensor<?x3xi32>) into tensor<?x3xi32>
// COUNT-LABEL: func @sort
// COUNT: linalg.generic
// COUNT: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x3xi64>, tensor<?x3xi32>)
func.func @sort(%x: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = weft.sort %x {axis = 0 : i64, descending = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// A count is compared with a size that is not known, and is the size of the result.
// CHECK-LABEL: func @count
// CHECK: weft.check_sizes %{{.*}}, "argsort: the first 4 are asked for, but axis 0 of x, which has shape ({},), is shorter", %{{.*}} as value
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<4xi64>
// CHECK: weft.call_into "argsort"(%{{.*}}) numbers() into %[[INTO]] {attrs = array<i64: 0, 0, 4>} : (tensor<?xf64>) into tensor<4xi64>
// COUNT-LABEL: func @count
// COUNT: weft.check_sizes
// COUNT: linalg.generic
// COUNT: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi64>)
func.func @count(%x: tensor<?xf64>) -> tensor<4xi64> {
  %0 = weft.argsort %x {axis = 0 : i64, count = 4 : i64} : (tensor<?xf64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
