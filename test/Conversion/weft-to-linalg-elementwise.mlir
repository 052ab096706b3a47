// Every elementwise op is one linalg.generic; broadcasting is in its maps.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s

// An axis of size 1 is read at 0, and a missing one is not in the map.
// CHECK-LABEL: func @broadcast
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.addf
func.func @broadcast(%x: tensor<4x1xf32>, %y: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = weft.add %x, %y : tensor<4x1xf32>, tensor<3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Where the result has size 1 as well, the map stays the identity.
// CHECK-LABEL: func @ones
// CHECK: indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @ones(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = weft.exp %x : tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

// Unknown sizes that meet are assumed equal and tested; the second op's are the same values, so its
// test folds away with the first.
// CHECK-LABEL: func @unknown
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-DAG: %[[NX:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[NY:.*]] = tensor.dim %[[Y]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[NX]], %[[NY]]
// CHECK: weft.check_sizes %[[SAME]], "add: the shapes do not broadcast: {} meets {} in axis 0 of the result; an unknown size never stretches", %[[NX]], %[[NY]]
// CHECK: tensor.empty(%[[NX]])
// CHECK-NOT: weft.check_sizes
// CHECK: math.exp
func.func @unknown(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.add %x, %y : tensor<?xf32>
  %1 = weft.exp %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// An unknown size that meets 1 is the result's and needs no test.
// CHECK-LABEL: func @unknown_and_one
// CHECK-NOT: weft.check_sizes
// CHECK: linalg.generic
func.func @unknown_and_one(%x: tensor<?xf32>, %y: tensor<1xf32>) -> tensor<?xf32> {
  %0 = weft.add %x, %y : tensor<?xf32>, tensor<1xf32>
  return %0 : tensor<?xf32>
}

// -----

// Integer remainder: divisors 0 and -1, which trap, are replaced by 1, and give 0 all the same.
// CHECK-LABEL: func @remainder
// CHECK: ^bb0(%[[A:.*]]: i64, %[[B:.*]]: i64, %{{.*}}: i64):
// CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %[[ONE:.*]] : i64
// CHECK: %[[SPECIAL:.*]] = arith.cmpi ule, %[[NEXT]], %[[ONE]] : i64
// CHECK: %[[SAFE:.*]] = arith.select %[[SPECIAL]], %[[ONE]], %[[B]] : i64
// CHECK: arith.remsi %[[A]], %[[SAFE]] : i64
func.func @remainder(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = weft.remainder %x, %y : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// Of i32 the quotient is one of f64, which has vectors.
// CHECK-LABEL: func @remainder_i32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}} : i32
// CHECK: %[[A:.*]] = arith.sitofp %{{.*}} : i32 to f64
// CHECK: %[[B:.*]] = arith.sitofp %[[SAFE]] : i32 to f64
// CHECK: %[[Q:.*]] = arith.divf %[[A]], %[[B]] : f64
// CHECK: %[[WHOLE:.*]] = arith.fptosi %[[Q]] : f64 to i32
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[WHOLE]], %[[SAFE]]
// CHECK: arith.subi %{{.*}}, %[[PRODUCT]]
// CHECK-NOT: arith.remsi
func.func @remainder_i32(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = weft.remainder %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Out of range arith.fptosi is undefined, so it only sees values in range.
// CHECK-LABEL: func @saturate
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: %[[SAFE:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : f32
// CHECK: arith.fptosi %[[SAFE]] : f32 to i32
// CHECK: arith.constant 2147483647 : i32
func.func @saturate(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = weft.cast %x to i32 : tensor<4xf32>
  return %0 : tensor<4xi32>
}

// -----

// NaN differs from 0, so it is true.
// CHECK-LABEL: func @to_bool
// CHECK: arith.cmpf une
func.func @to_bool(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = weft.cast %x to i1 : tensor<4xf32>
  return %0 : tensor<4xi1>
}

// -----

// Ops inside regions are converted as well, and the user's locations stay.
// CHECK-LABEL: func @region
// CHECK: %[[C:.*]] = tensor.extract
// CHECK: scf.if %[[C]]
// CHECK: linalg.generic
// CHECK-NOT: weft.
func.func @region(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = weft.item %p : tensor<i1>
  %r = scf.if %c -> tensor<4xf32> {
    %0 = weft.tanh %x : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Iota counts along its axis: the index, converted.
// CHECK-LABEL: func @iota
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: arith.sitofp %[[N]] : i64 to f32
func.func @iota() -> tensor<2x3xf32> {
  %0 = weft.iota [2, 3] {dtype = f32, axis = 1 : i64} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
