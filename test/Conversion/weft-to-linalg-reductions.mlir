// Reductions start from their neutral element and run over reduction loops.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s
// RUN: weft-opt %s --weft-to-linalg=without-library --split-input-file --mlir-print-local-scope | FileCheck %s --check-prefix=LOOPS

// keepdims is a reshape after the reduction.
// CHECK-LABEL: func @sum
// CHECK: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[SUM:.*]] = linalg.generic {{{.*}}iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: outs(%[[INIT]]
// CHECK: tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]] output_shape [4, 1]
func.func @sum(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %0 = weft.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// The largest of nothing is the lowest value: -inf, or the lowest integer.
// CHECK-LABEL: func @max
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.maximumf
func.func @max(%x: tensor<0x3xf32>) -> tensor<3xf32> {
  %0 = weft.max %x {axes = array<i64: 0>} : (tensor<0x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A mean is the sum, divided once; the count of unknown sizes is known at run time.
// CHECK-LABEL: func @mean
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: linalg.generic {{{.*}}["reduction", "parallel"]}
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[DIVISOR:.*]] = arith.sitofp %[[COUNT]] : i64 to f32
// CHECK: arith.divf %{{.*}}, %[[DIVISOR]]
func.func @mean(%x: tensor<?x3xf32>) -> tensor<3xf32> {
  %0 = weft.mean %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Argmax is a call of the library: what stands before the axis, its size, and what stands behind it. Without the library, along
// another axis than the last, one loop carries the largest element and its index; "strictly larger" keeps the first of equals, and
// the first NaN wins.
// CHECK-LABEL: func @argmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x?x3xf32>)
// CHECK: %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK: weft.check_sizes %{{.*}}, "argmax: axis 1 has size {}, so there is no largest element"
// CHECK: %[[OUTER:.*]] = arith.constant 4 : index
// CHECK: %[[INNER:.*]] = arith.constant 3 : index
// CHECK: %[[INTO:.*]] = tensor.empty() : tensor<4x3xi64>
// CHECK: %[[PLACES:.*]] = weft.call_into "argmax"(%[[X]]) numbers(%[[OUTER]], %[[SIZE]], %[[INNER]]) into %[[INTO]] : (tensor<4x?x3xf32>) into tensor<4x3xi64>
// CHECK: tensor.expand_shape %[[PLACES]]
// LOOPS-LABEL: func @argmax
// LOOPS: %[[BOTH:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// LOOPS: ^bb0(%[[NOW:.*]]: f32, %[[TOP:.*]]: f32, %[[AT:.*]]: i64):
// LOOPS: %[[LARGER:.*]] = arith.cmpf ogt, %[[NOW]], %[[TOP]]
// LOOPS: %[[NAN:.*]] = arith.cmpf une, %[[NOW]], %[[NOW]]
// LOOPS: %[[NUMBER:.*]] = arith.cmpf oeq, %[[TOP]], %[[TOP]]
// LOOPS: tensor.expand_shape %[[BOTH]]#1
func.func @argmax(%x: tensor<4x?x3xf32>) -> tensor<4x1x3xi64> {
  %0 = weft.argmax %x {axis = 1 : i64, keepdims = true} : (tensor<4x?x3xf32>) -> tensor<4x1x3xi64>
  return %0 : tensor<4x1x3xi64>
}

// -----

// Without the library argmax along the last axis is the largest element, then the least index that has it: both reduce
// vectors. A NaN is the largest, and is found as one.
// LOOPS-LABEL: func @argmax_last
// LOOPS: %[[MAX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// LOOPS: arith.maximumf
// LOOPS: %[[NOWHERE:.*]] = linalg.fill ins(%{{.*}} : i32)
// LOOPS: %[[PLACE:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[MAX]] : tensor<4x3xf32>, tensor<4xf32>) outs(%[[NOWHERE]]
// LOOPS: ^bb0(%[[NOW:.*]]: f32, %[[TOP:.*]]: f32, %[[AT:.*]]: i32):
// LOOPS: %[[EQUAL:.*]] = arith.cmpf oeq, %[[NOW]], %[[TOP]]
// LOOPS: %[[NAN:.*]] = arith.cmpf une, %[[NOW]], %[[NOW]]
// LOOPS: %[[TOPNAN:.*]] = arith.cmpf une, %[[TOP]], %[[TOP]]
// LOOPS: arith.minsi %[[AT]],
// LOOPS: arith.extsi %{{.*}} : i32 to i64
func.func @argmax_last(%x: tensor<4x3xf32>) -> tensor<4xi64> {
  %0 = weft.argmax %x {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// Indices along an axis of unknown size may not fit i32; integers have no NaN.
// LOOPS-LABEL: func @argmax_unknown
// LOOPS: arith.maxsi
// LOOPS: ^bb0(%[[NOW:.*]]: i32, %[[TOP:.*]]: i32, %[[AT:.*]]: i64):
// LOOPS: %[[EQUAL:.*]] = arith.cmpi eq, %[[NOW]], %[[TOP]]
// LOOPS: arith.select %[[EQUAL]], %{{.*}} : i64
// LOOPS: arith.minsi %[[AT]], %{{.*}} : i64
func.func @argmax_unknown(%x: tensor<4x?xi32>) -> tensor<4xi64> {
  %0 = weft.argmax %x {axis = 1 : i64} : (tensor<4x?xi32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// What is cheap to compute, for nobody else, is computed in the loops of its argmax, which then need not store it.
// CHECK-LABEL: func @argmax_chain
// CHECK-NOT: call_into
// CHECK: arith.maximumf
func.func @argmax_chain(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4xi64> {
  %0 = weft.multiply %x, %b : tensor<4x3xf32>, tensor<3xf32>
  %1 = weft.add %0, %b : tensor<4x3xf32>, tensor<3xf32>
  %2 = weft.argmax %1 {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi64>
  return %2 : tensor<4xi64>
}

// -----

// Functions are computed once, wherever in the chain they are.
// CHECK-LABEL: func @argmax_functions
// CHECK: weft.call_into "argmax"
func.func @argmax_functions(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4xi64> {
  %0 = weft.exp %x : tensor<4x3xf32>
  %1 = weft.add %0, %b : tensor<4x3xf32>, tensor<3xf32>
  %2 = weft.argmax %1 {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi64>
  return %2 : tensor<4xi64>
}

// -----

// What is stored for others too is there for the library.
// CHECK-LABEL: func @argmax_shared
// CHECK: weft.call_into "argmax"
func.func @argmax_shared(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> (tensor<4xi64>, tensor<4x3xf32>) {
  %0 = weft.add %x, %b : tensor<4x3xf32>, tensor<3xf32>
  %1 = weft.argmax %0 {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi64>
  return %1, %0 : tensor<4xi64>, tensor<4x3xf32>
}

// -----

// An assert leaves one condition: whether all elements hold.
// CHECK-LABEL: func @assert
// CHECK: %[[ALL:.*]] = linalg.generic
// CHECK: arith.andi
// CHECK: weft.assert %[[ALL]], "x is small"
func.func @assert(%x: tensor<4x3xi1>) {
  weft.assert %x, "x is small" : tensor<4x3xi1>
  return
}
