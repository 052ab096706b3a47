// The pass weft-expand-complex: what becomes of each kind of op on complex numbers, and of what they cross.
// RUN: weft-opt %s --split-input-file -pass-pipeline="builtin.module(func.func(weft-expand-complex))" | FileCheck %s
// RUN: weft-opt %s --split-input-file -pass-pipeline="builtin.module(func.func(weft-expand-complex,weft-to-linalg,canonicalize))" | FileCheck %s --check-prefix=LINALG

// Arguments and results lie in memory as they did, with the parts along a last axis.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x2xf32>, %[[Y:[a-z0-9]+]]: tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-DAG: %[[XR1:.*]] = tensor.extract_slice %[[X]][0, 0] [3, 1] [1, 1] : tensor<3x2xf32> to tensor<3x1xf32>
// CHECK-DAG: %[[XR:.*]] = tensor.collapse_shape %[[XR1]] {{\[}}[0, 1]] : tensor<3x1xf32> into tensor<3xf32>
// CHECK-DAG: %[[XI1:.*]] = tensor.extract_slice %[[X]][0, 1] [3, 1] [1, 1]
// CHECK-DAG: %[[XI:.*]] = tensor.collapse_shape %[[XI1]]
// CHECK-DAG: %[[YR1:.*]] = tensor.extract_slice %[[Y]][0, 0]
// CHECK-DAG: %[[YR:.*]] = tensor.collapse_shape %[[YR1]]
// CHECK-DAG: %[[YI1:.*]] = tensor.extract_slice %[[Y]][0, 1]
// CHECK-DAG: %[[YI:.*]] = tensor.collapse_shape %[[YI1]]
// CHECK-DAG: %[[RE:.*]] = weft.add %[[XR]], %[[YR]] : tensor<3xf32>
// CHECK-DAG: %[[IM:.*]] = weft.add %[[XI]], %[[YI]] : tensor<3xf32>
// CHECK: %[[RE1:.*]] = tensor.expand_shape %[[RE]] {{\[}}[0, 1]]
// CHECK: tensor.insert_slice %[[RE1]] into %{{.*}}[0, 0] [3, 1] [1, 1]
// CHECK: %[[IM1:.*]] = tensor.expand_shape %[[IM]]
// CHECK: tensor.insert_slice %[[IM1]] into %{{.*}}[0, 1] [3, 1] [1, 1]
func.func @add(%x: tensor<3xcomplex<f32>>, %y: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %z = weft.add %x, %y : tensor<3xcomplex<f32>>
  return %z : tensor<3xcomplex<f32>>
}

// -----

// Products of c64 are of f64, and rounded once; the parts of one op are the operands of the next.
// CHECK-LABEL: func.func @product(
// CHECK: %[[A:.*]] = weft.cast %{{.*}} to f64 : tensor<3xf32>
// CHECK: weft.multiply %{{.*}} : tensor<3xf64>
// CHECK: weft.subtract %{{.*}} : tensor<3xf64>
// CHECK: %[[RE:.*]] = weft.cast %{{.*}} to f32 : tensor<3xf64>
// CHECK: return %[[RE]] : tensor<3xf32>
func.func @product(%x: tensor<3xcomplex<f32>>) -> tensor<3xf32> {
  %y = weft.multiply %x, %x : tensor<3xcomplex<f32>>
  %z = weft.real %y : tensor<3xcomplex<f32>>
  return %z : tensor<3xf32>
}

// -----

// What moves elements moves those of each part.
// CHECK-LABEL: func.func @moves(
// CHECK-COUNT-2: weft.transpose %{{.*}} : (tensor<2x?xf64>) -> tensor<?x2xf64>
// CHECK-COUNT-2: weft.gather
// CHECK-NOT: complex
func.func @moves(%x: tensor<2x?xcomplex<f64>>, %i: tensor<3xi32>) -> tensor<3x2xcomplex<f64>> {
  %y = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x?xcomplex<f64>>) -> tensor<?x2xcomplex<f64>>
  %z = weft.gather %y, %i {axis = 0 : i64} : (tensor<?x2xcomplex<f64>>, tensor<3xi32>) -> tensor<3x2xcomplex<f64>>
  return %z : tensor<3x2xcomplex<f64>>
}

// -----

// CHECK-LABEL: func.func @matmul(
// CHECK-COUNT-2: weft.matmul
// CHECK: weft.subtract
// CHECK-COUNT-2: weft.matmul
// CHECK: weft.add
func.func @matmul(%x: tensor<2x3xcomplex<f32>>, %y: tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>> {
  %z = weft.matmul %x, %y : (tensor<2x3xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return %z : tensor<2x4xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @constant(
// CHECK-DAG: weft.constant dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-DAG: weft.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
func.func @constant() -> tensor<2xcomplex<f32>> {
  %x = weft.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  return %x : tensor<2xcomplex<f32>>
}

// -----

// Regions are given one tensor, and effects are told what it was.
// CHECK-LABEL: func.func @regions(
// CHECK: scf.for {{.*}} -> (tensor<2xf64>)
// CHECK: scf.yield %{{.*}} : tensor<2xf64>
// CHECK: weft.print "{}", %{{.*}} : tensor<2xf64> {weft.complex = array<i64: 0>}
func.func @regions(%x: tensor<complex<f64>>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (tensor<complex<f64>>) {
    %t = weft.negate %s : tensor<complex<f64>>
    scf.yield %t : tensor<complex<f64>>
  }
  weft.print "{}", %y : tensor<complex<f64>>
  return
}

// -----

// A real function stays as it is.
// CHECK-LABEL: func.func @real(
// CHECK-NEXT: weft.exp
// CHECK-NEXT: return
func.func @real(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = weft.exp %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Parts whose sizes only the call knows have to be as large as each other: no op of theirs says so.
// CHECK-LABEL: func.func @sizes(
// CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[RE:.*]], %[[IM:.*]] : index
// CHECK: weft.check_sizes %[[HOLDS]], "complex: the shapes do not broadcast: {} meets {} in axis 1 of the result; an unknown size never stretches", %[[RE]], %[[IM]]
// CHECK-NOT: weft.check_sizes
func.func @sizes(%re: tensor<1x?x4xf32>, %im: tensor<?x4xf32>) -> tensor<1x?x4xcomplex<f32>> {
  %z = weft.complex %re, %im : tensor<1x?x4xf32>, tensor<?x4xf32>
  return %z : tensor<1x?x4xcomplex<f32>>
}

// -----

// A routine of the library is given complex numbers as they lie in memory, and gives them so: casts
// stand for that until its conversion.
// CHECK-LABEL: func.func @routine(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x3x2xf64>) -> (tensor<3xf64>, tensor<3x3x2xf64>)
// CHECK: %[[C:.*]] = builtin.unrealized_conversion_cast %[[X]] : tensor<?x3x2xf64> to tensor<?x3xcomplex<f64>>
// CHECK: %[[S:.*]], %{{.*}}, %[[V:.*]] = weft.svd %[[C]]
// CHECK: %[[PARTS:.*]] = builtin.unrealized_conversion_cast %[[V]] : tensor<3x3xcomplex<f64>> to tensor<3x3x2xf64>
// CHECK: return %[[S]], %[[PARTS]]
// LINALG-LABEL: func.func @routine(
// LINALG-SAME: %[[X:[a-z0-9]+]]: tensor<?x3x2xf64>
// LINALG-NOT: cast
// LINALG: %[[Y:.*]]:3 = weft.call_into "svd"(%[[X]]) numbers() into %{{.*}}, %{{.*}}, %{{.*}} {attrs = array<i64>, is_complex} : (tensor<?x3x2xf64>) into tensor<3xf64>, tensor<?x3x2xf64>, tensor<3x3x2xf64>
// LINALG-NOT: cast
// LINALG: return %[[Y]]#0, %[[Y]]#2
func.func @routine(%x: tensor<?x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>) {
  %0:3 = weft.svd %x : (tensor<?x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<?x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
  return %0#0, %0#2 : tensor<3xf64>, tensor<3x3xcomplex<f64>>
}
