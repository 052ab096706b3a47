// Reductions start from their neutral element and run over reduction loops.
// RUN: weft-opt %s --weft-to-linalg --split-input-file --mlir-print-local-scope | FileCheck %s

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

// Along the last axis argmax is the largest element, then the least place that has it: both reduce
// vectors. A NaN is the largest, and is found as one.
// CHECK-LABEL: func @argmax_last
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: %[[NOWHERE:.*]] = linalg.fill ins(%{{.*}} : i32)
// CHECK: %[[PLACE:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[MAX]] : tensor<4x3xf32>, tensor<4xf32>) outs(%[[NOWHERE]]
// CHECK: ^bb0(%[[NOW:.*]]: f32, %[[TOP:.*]]: f32, %[[AT:.*]]: i32):
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[NOW]], %[[TOP]]
// CHECK: %[[NAN:.*]] = arith.cmpf une, %[[NOW]], %[[NOW]]
// CHECK: %[[TOPNAN:.*]] = arith.cmpf une, %[[TOP]], %[[TOP]]
// CHECK: arith.minsi %[[AT]],
// CHECK: arith.extsi %{{.*}} : i32 to i64
func.func @argmax_last(%x: tensor<4x3xf32>) -> tensor<4xi64> {
  %0 = weft.argmax %x {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// Places along an axis of unknown size may not fit i32; integers have no NaN.
// CHECK-LABEL: func @argmax_unknown
// CHECK: arith.maxsi
// CHECK: ^bb0(%[[NOW:.*]]: i32, %[[TOP:.*]]: i32, %[[AT:.*]]: i64):
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, %[[NOW]], %[[TOP]]
// CHECK: arith.select %[[EQUAL]], %{{.*}} : i64
// CHECK: arith.minsi %[[AT]], %{{.*}} : i64
func.func @argmax_unknown(%x: tensor<4x?xi32>) -> tensor<4xi64> {
  %0 = weft.argmax %x {axis = 1 : i64} : (tensor<4x?xi32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// Along another axis lines lie side by side, and one loop carries the largest element and its place;
// "strictly larger" keeps the first of equals, and the first NaN wins.
// CHECK-LABEL: func @argmax
// CHECK: %[[BOTH:.*]]:2 = linalg.generic
// CHECK: ^bb0(%[[NOW:.*]]: f32, %[[TOP:.*]]: f32, %[[AT:.*]]: i64):
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[NOW]], %[[TOP]]
// CHECK: %[[NAN:.*]] = arith.cmpf une, %[[NOW]], %[[NOW]]
// CHECK: %[[NUMBER:.*]] = arith.cmpf oeq, %[[TOP]], %[[TOP]]
// CHECK: return %[[BOTH]]#1
func.func @argmax(%x: tensor<4x3xf32>) -> tensor<3xi64> {
  %0 = weft.argmax %x {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
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
