// RUN: weft-opt %s -weft-lower-loops | FileCheck %s
// RUN: weft-opt %s -weft-lower-loops="vector-bytes=32 masked=false" | FileCheck %s --check-prefix=AVX2

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0, d1) -> ()>

// Contiguous loops become one, in steps of a vector register.
// CHECK-LABEL: func.func @contiguous
// CHECK:         %[[END:.*]] = arith.constant 32 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:      %[[A:.*]] = vector.load %{{.*}}[%[[I]]] : memref<32xf32>, vector<16xf32>
// CHECK-NEXT:      %[[B:.*]] = vector.load %{{.*}}[%[[I]]] : memref<32xf32>, vector<16xf32>
// CHECK-NEXT:      %[[C:.*]] = arith.addf %[[A]], %[[B]] : vector<16xf32>
// CHECK-NEXT:      vector.store %[[C]], %{{.*}}[%[[I]]]
// CHECK-NOT:     scf.for
// AVX2-LABEL:  func.func @contiguous
// AVX2:          arith.addf {{.*}} : vector<8xf32>
func.func @contiguous(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %c: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<4x8xf32>, memref<4x8xf32>) outs(%c : memref<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

// What a row shares is loaded once per row; the rest of a row is one masked step, or a shorter
// vector where masks cost.
// CHECK-LABEL: func.func @broadcast
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = memref.load
// CHECK:           arith.constant dense<[true, true, true, false
// CHECK:           vector.maskedload
// CHECK:           vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK:           vector.maskedstore
// AVX2-LABEL:  func.func @broadcast
// AVX2:          vector.load {{.*}} vector<3xf32>
func.func @broadcast(%a: memref<4x3xf32>, %b: memref<4xf32>, %c: memref<4x3xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<4x3xf32>, memref<4xf32>) outs(%c : memref<4x3xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

// A bool is a byte in memory and an i1 in registers.
// CHECK-LABEL: func.func @bools
// CHECK:         vector.load {{.*}} memref<16xi8>, vector<16xi8>
// CHECK:         arith.cmpi ne, {{.*}} : vector<16xi8>
// CHECK:         arith.xori {{.*}} : vector<16xi1>
// CHECK:         arith.extui {{.*}} : vector<16xi1> to vector<16xi8>
// CHECK:         vector.store {{.*}} memref<16xi8>, vector<16xi8>
func.func @bools(%a: memref<16xi1>, %b: memref<16xi1>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%a : memref<16xi1>) outs(%b : memref<16xi1>) {
  ^bb0(%x: i1, %o: i1):
    %true = arith.constant true
    %0 = arith.xori %x, %true : i1
    linalg.yield %0 : i1
  }
  return
}

// Along a contiguous reduction four vectors are summed side by side, for every target of 16 lanes.
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4:     arith.addf {{.*}} : vector<16xf32>
// CHECK-COUNT-4:   vector.shuffle {{.*}} [{{[0-9, ]*}}] : vector<{{16|8}}xf32>
// AVX2-LABEL:  func.func @rows
// AVX2:            scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
func.func @rows(%a: memref<4x128xf32>, %b: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<4x128xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Along a contiguous parallel loop each lane sums a column of its own, in order; a few rows are read before the sum is
// stored.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[START:.*]] = vector.load %{{.*}} : memref<16xf32>, vector<16xf32>
// CHECK:         %[[FIRST:.*]] = vector.load
// CHECK:         %[[SUM:.*]] = arith.addf %[[START]], %[[FIRST]]
// CHECK:         %[[SECOND:.*]] = vector.load
// CHECK:         arith.addf %[[SUM]], %[[SECOND]]
// CHECK-COUNT-2: arith.addf
// CHECK-NOT:     arith.addf
// CHECK:         vector.store
func.func @columns(%a: memref<4x16xf32>, %b: memref<16xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%b : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Extrema are carried as integers of the same order, -0 before 0; the largest and the smallest tell whether there was a
// NaN.
// CHECK-LABEL: func.func @extremum
// CHECK-NOT:     arith.maximumf
// CHECK:         arith.shrsi
// CHECK:         arith.andi
// CHECK:         arith.xori
// CHECK:         scf.for {{.*}} -> (vector<16xi32>, vector<16xi32>
// CHECK:           arith.maxsi
// CHECK:           arith.minsi
// CHECK:         arith.cmpf uno
// CHECK:         arith.select
// CHECK:         memref.store
func.func @extremum(%a: memref<64xf32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<64xf32>) outs(%b : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// A body that has no vector form, as a division of integers, is a scalar loop.
// CHECK-LABEL: func.func @scalar
// CHECK:         memref.load
// CHECK:         arith.divsi {{.*}} : i32
// CHECK:         memref.store
func.func @scalar(%a: memref<16xi32>, %b: memref<16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%a : memref<16xi32>) outs(%b : memref<16xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c = arith.constant 3 : i32
    %0 = arith.divsi %x, %c : i32
    linalg.yield %0 : i32
  }
  return
}

// Long loops become a function that threads call on blocks of the range.
// CHECK-LABEL: func.func private @long_part(
// CHECK-SAME:    %[[BEGIN:.*]]: index, %[[END:.*]]: index, %{{.*}}: index
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK-LABEL: func.func @long(
// CHECK:         call @long_part({{.*}}) {weft.parallel}
func.func @long(%a: memref<1048576xf32>, %b: memref<1048576xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%a : memref<1048576xf32>) outs(%b : memref<1048576xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Copies between layouts are loops, others a memcpy.
// CHECK-LABEL: func.func @copies
// CHECK:         memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         vector.store
func.func @copies(%a: memref<4x16xf32>, %b: memref<4x16xf32>,
                  %c: memref<4x16xf32, strided<[32, 1], offset: 8>>) {
  memref.copy %a, %b : memref<4x16xf32> to memref<4x16xf32>
  memref.copy %a, %c : memref<4x16xf32> to memref<4x16xf32, strided<[32, 1], offset: 8>>
  return
}

// The outermost loop has no iteration where an inner one has none: a result without elements may have
// any size in front of the 0.
// CHECK-LABEL: func.func @maybe_empty_rows
// CHECK:         %[[ROWS:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         %[[NONE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK:         %[[END:.*]] = arith.select %[[NONE]], %{{.*}}, %{{.*}} : index
// CHECK:         {{scf.for .* to|call @maybe_empty_rows_part\(%.*,}} %[[END]]
func.func @maybe_empty_rows(%a: memref<?xf32>, %c: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// How many partial results a sum has follows from its own type: what it is computed of may be wider.
// CHECK-LABEL: func.func @narrow_sum
// CHECK:         arith.constant dense<{{.*}}> : vector<16xf32>
// CHECK:         arith.sitofp %{{.*}} : vector<16xi64> to vector<16xf32>
func.func @narrow_sum(%a: memref<100xi64>, %c: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<100xi64>) outs(%c : memref<f32>) {
  ^bb0(%x: i64, %sum: f32):
    %0 = arith.sitofp %x : i64 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
