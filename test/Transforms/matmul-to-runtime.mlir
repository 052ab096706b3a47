// Products on buffers are calls: (batch, m, n, k, a, a_batch, a_row, a_col, b, .., c, c_batch, c_row).
// RUN: weft-opt %s --weft-matmul-to-runtime --canonicalize --split-input-file | FileCheck %s

// The call overwrites the result, so its fill is gone. A transpose is a matter of strides.
// CHECK-LABEL: func @transposed
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i64
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i64
// CHECK-NOT: linalg.fill
// CHECK: call @weft_rt_matmul_f32(%[[C1]], %[[C2]], %[[C4]], %[[C3]], %{{.*}}, %[[C0]], %[[C1]], %[[C2]], %{{.*}}, %[[C0]], %[[C4]], %[[C1]], %{{.*}}, %[[C0]], %[[C4]])
func.func @transposed(%a: memref<3x2xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x4xf32>)
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<3x2xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return
}

// -----

// What adds to something else than zeros stays a loop.
// CHECK-LABEL: func @accumulate
// CHECK: linalg.matmul
func.func @accumulate(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return
}

// -----

// Somebody reads the zeros: they have to be there.
// CHECK-LABEL: func @zeros_read
// CHECK: linalg.fill
// CHECK: memref.load
// CHECK: linalg.matmul
func.func @zeros_read(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  linalg.fill ins(%zero : f32) outs(%c : memref<2x4xf32>)
  %0 = memref.load %c[%i, %i] : memref<2x4xf32>
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>)
  return %0 : f32
}

// -----

// (batch, rows) x matrix is one product of batch * rows rows.
// CHECK-LABEL: func @merged
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[C10:.*]] = arith.constant 10 : i64
// CHECK-NOT: scf.for
// CHECK: call @weft_rt_matmul_f64(%[[C1]], %[[C10]],
func.func @merged(%a: memref<5x2x3xf64>, %b: memref<3x4xf64>, %c: memref<5x2x4xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%c : memref<5x2x4xf64>)
  linalg.contract
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : memref<5x2x3xf64>, memref<3x4xf64>) outs(%c : memref<5x2x4xf64>)
  return
}

// -----

// Two batch dimensions in different orders do not merge: one is the call's, the other a loop.
// CHECK-LABEL: func @batches
// CHECK: scf.for %[[I:.*]] =
// CHECK: memref.reinterpret_cast
// CHECK: func.call @weft_rt_matmul_i32
func.func @batches(%a: memref<5x7x2x3xi32>, %b: memref<7x5x3x4xi32>, %c: memref<7x5x2x4xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<7x5x2x4xi32>)
  linalg.contract
      indexing_maps = [affine_map<(x, y, m, n, k) -> (y, x, m, k)>,
                       affine_map<(x, y, m, n, k) -> (x, y, k, n)>,
                       affine_map<(x, y, m, n, k) -> (x, y, m, n)>]
      ins(%a, %b : memref<5x7x2x3xi32>, memref<7x5x3x4xi32>) outs(%c : memref<7x5x2x4xi32>)
  return
}

// -----

// What is added as a whole is another call, and fills nothing.
// CHECK-LABEL: func @adds_whole(
// CHECK: call @weft_rt_matmul_add_f32(
// CHECK-NOT: linalg
// CHECK: return
func.func @adds_whole(%a: memref<3x2xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<3x2xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32>) {weft.adds_whole}
  return
}

// -----

// With gaps in what is added to, the product is computed apart.
// CHECK-LABEL: func @adds_to_a_view(
// CHECK: %[[OWN:.*]] = memref.alloc() : memref<2x4xf32>
// CHECK: %[[ANY:.*]] = memref.cast %[[OWN]]
// CHECK: call @weft_rt_matmul_f32({{.*}}, %[[ANY]], %{{.*}}, %{{.*}})
// CHECK: linalg.generic {{.*}} ins(%[[OWN]] : memref<2x4xf32>) outs(%{{.*}} : memref<2x4xf32, strided<[9, 1]>>)
func.func @adds_to_a_view(%a: memref<3x2xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32, strided<[9, 1]>>) {
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<3x2xf32>, memref<3x4xf32>) outs(%c : memref<2x4xf32, strided<[9, 1]>>) {weft.adds_whole}
  return
}

// -----

// Elements in steps along every axis are copied, since kernels add in the order of the layout.
// CHECK-LABEL: func @steps(
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<5xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<5xf32, strided<[2]>>) outs(%[[DENSE]] : memref<5xf32>)
// CHECK-NOT: memref.alloc
// CHECK: call @weft_rt_matmul_f32(
func.func @steps(%a: memref<5xf32, strided<[2]>>, %b: memref<5x4xf32, strided<[8, 1]>>, %c: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4xf32>)
  linalg.contract
      indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>,
                       affine_map<(n, k) -> (n)>]
      ins(%a, %b : memref<5xf32, strided<[2]>>, memref<5x4xf32, strided<[8, 1]>>) outs(%c : memref<4xf32>)
  return
}

// -----

// Of bf16, whose bits are integers here, the library has the product, whatever the result held.
// CHECK-LABEL: func @bf16(
// CHECK-NOT: linalg
// CHECK: call @weft_rt_matmul_bf16(
// CHECK-NOT: linalg
// CHECK: return
func.func @bf16(%a: memref<2x3xi16>, %b: memref<3x4xi16>, %c: memref<2x4xi16>) {
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<2x3xi16>, memref<3x4xi16>) outs(%c : memref<2x4xi16>) {weft.bf16_product}
  return
}

// -----

// No side of the result has neighbours: the product is computed apart and copied.
// CHECK-LABEL: func @bf16_in_steps(
// CHECK: %[[OWN:.*]] = memref.alloc() : memref<2x4xi16>
// CHECK: call @weft_rt_matmul_bf16(
// CHECK: linalg.generic {{.*}} ins(%[[OWN]] : memref<2x4xi16>) outs(%{{.*}} : memref<2x4xi16, strided<[20, 2]>>)
func.func @bf16_in_steps(%a: memref<2x3xi16>, %b: memref<3x4xi16>, %c: memref<2x4xi16, strided<[20, 2]>>) {
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<2x3xi16>, memref<3x4xi16>) outs(%c : memref<2x4xi16, strided<[20, 2]>>) {weft.bf16_product}
  return
}
