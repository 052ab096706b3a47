// RUN: weft-opt %s -weft-lower-loops | FileCheck %s
// RUN: weft-opt %s -weft-lower-loops="vector-bytes=32 masked=false" | FileCheck %s --check-prefix=AVX2

// How loops read and write what does not lie one behind the other.

#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

// What runs along another loop than the result is transposed in square tiles of vectors; a small
// body is repeated for each row.
// CHECK-LABEL: func.func @transposed
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-16:    vector.load {{.*}} vector<16xf32>
// CHECK-COUNT-64:    vector.shuffle {{.*}} vector<16xf32>, vector<16xf32>
// CHECK-COUNT-16:    vector.store {{.*}} vector<16xf32>
// CHECK-NOT:     vector.
// AVX2-LABEL:  func.func @transposed
// AVX2-COUNT-8:    vector.load {{.*}} vector<8xf32>
// AVX2-COUNT-24:   vector.shuffle {{.*}} vector<8xf32>, vector<8xf32>
func.func @transposed(%a: memref<64x32xf32>, %b: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x32xf32>) outs(%b : memref<32x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Elements of 64 bits have tiles of half the side.
// CHECK-LABEL: func.func @transposed_wide
// CHECK-COUNT-24: vector.shuffle {{.*}} vector<8xf64>, vector<8xf64>
func.func @transposed_wide(%a: memref<64x32xf64>, %b: memref<32x64xf64>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x32xf64>) outs(%b : memref<32x64xf64>) {
  ^bb0(%x: f64, %o: f64):
    linalg.yield %x : f64
  }
  return
}

// A larger body stands once, in a loop over the rows of a tile, which lie on the stack; a thread's
// part of the loops has memory of its own.
// CHECK-LABEL: func.func private @large_body_part(
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// CHECK-COUNT-16: vector.store {{.*}} memref<256xf32>
// CHECK:         scf.for
// CHECK:           vector.load {{.*}} memref<256xf32>
// CHECK-COUNT-1:   math.exp
// CHECK-NOT:       math.exp
// CHECK-LABEL: func.func @large_body(
func.func @large_body(%a: memref<512x512xf32>, %b: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<512x512xf32>) outs(%b : memref<512x512xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    %1 = arith.addf %0, %x : f32
    %2 = arith.mulf %1, %x : f32
    %3 = arith.subf %2, %x : f32
    %4 = arith.divf %3, %1 : f32
    linalg.yield %4 : f32
  }
  return
}

// Of sizes that no tile divides, strips remain: behind the last tiles, and of the last rows.
// CHECK-LABEL: func.func @rests
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               vector.shuffle
// CHECK:           scf.for
// CHECK:             vector.from_elements {{.*}} : vector<4xf32>
// CHECK:           scf.for
// CHECK:             vector.from_elements {{.*}} : vector<16xf32>
func.func @rests(%a: memref<20x35xf32>, %b: memref<35x20xf32>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<20x35xf32>) outs(%b : memref<35x20xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Of every third element whole vectors are read; the last one ends with the last element wanted.
// CHECK-LABEL: func.func @every_third
// CHECK:         %[[A:.*]] = vector.load %{{.*}}[%[[AT:.*]]]
// CHECK:         %[[P:.*]] = vector.shuffle %[[A]], %[[A]] [16, 19, 22, 25, 28, 31, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:         %[[B:.*]] = vector.load
// CHECK:         %[[Q:.*]] = vector.shuffle %[[P]], %[[B]] [0, 1, 2, 3, 4, 5, 18, 21, 24, 27, 30, 11, 12, 13, 14, 15]
// CHECK:         %[[OFFSET:.*]] = arith.constant 30 : index
// CHECK:         %[[END:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
// CHECK:         %[[C:.*]] = vector.load %{{.*}}[%[[END]]]
// CHECK:         vector.shuffle %[[Q]], %[[C]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31]
func.func @every_third(%a: memref<64xf32, strided<[3]>>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<64xf32, strided<[3]>>) outs(%b : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Backwards a vector is read whole and turned round.
// CHECK-LABEL: func.func @backwards
// CHECK:         vector.load
// CHECK:         vector.shuffle {{.*}} [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// CHECK:         vector.store
func.func @backwards(%a: memref<32xf32>, %b: memref<32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (31 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<32xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Over any distance lanes are read and written one by one, and the body between works on vectors.
// CHECK-LABEL: func.func @far_apart
// CHECK-COUNT-16: memref.load
// CHECK:         vector.from_elements
// CHECK:         math.exp {{.*}} : vector<16xf32>
// CHECK-COUNT-16: memref.store
func.func @far_apart(%a: memref<16xf32, strided<[100]>>, %b: memref<16xf32, strided<[10]>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<16xf32, strided<[100]>>) outs(%b : memref<16xf32, strided<[10]>>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    linalg.yield %0 : f32
  }
  return
}

// A body that reads rows chosen by indices reads vectors of them, since the last subscript steps
// with the lanes; backwards too.
// CHECK-LABEL: func.func @chosen_rows
// CHECK:         %[[ROW:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         vector.load %arg0[%[[ROW]], %{{.*}}] : memref<100x16xf32>, vector<16xf32>
// CHECK:         vector.load %arg0[%[[ROW]], %{{.*}}] : memref<100x16xf32>, vector<16xf32>
// CHECK:         vector.shuffle {{.*}} [15,
func.func @chosen_rows(%x: memref<100x16xf32>, %i: memref<8xi64>, %b: memref<8x16xf32>) {
  %c15 = arith.constant 15 : index
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : memref<8xi64>) outs(%b : memref<8x16xf32>) {
  ^bb0(%at: i64, %o: f32):
    %row = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %back = arith.subi %c15, %j : index
    %0 = memref.load %x[%row, %j] : memref<100x16xf32>
    %1 = memref.load %x[%row, %back] : memref<100x16xf32>
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// Elements chosen one by one are loaded lane by lane, and the rest of the body is vectors.
// CHECK-LABEL: func.func @chosen_elements
// CHECK-COUNT-16: memref.load %arg0
// CHECK:         arith.mulf {{.*}} : vector<16xf32>
func.func @chosen_elements(%x: memref<100xf32>, %i: memref<16xi64>, %b: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : memref<16xi64>) outs(%b : memref<16xf32>) {
  ^bb0(%at: i64, %o: f32):
    %k = arith.index_cast %at : i64 to index
    %0 = memref.load %x[%k] : memref<100xf32>
    %1 = arith.mulf %0, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// An op without vector form among many that have one is done lane by lane, and no lane is behind
// the last element, where it could trap.
// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-16: arith.divsi {{.*}} : i32
// CHECK-NOT:     vector.masked
// AVX2-LABEL:  func.func @mixed
func.func @mixed(%a: memref<19xi32>, %x: memref<19xf32>, %b: memref<19xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a, %x : memref<19xi32>, memref<19xf32>) outs(%b : memref<19xf32>) {
  ^bb0(%n: i32, %y: f32, %o: f32):
    %c = arith.constant 7 : i32
    %0 = arith.divsi %c, %n : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = math.exp %y : f32
    %3 = math.log %2 : f32
    %4 = arith.addf %1, %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Where all is bytes, vectors have as many lanes as bytes.
// CHECK-LABEL: func.func @bytes
// CHECK:         arith.xori {{.*}} : vector<64xi1>
func.func @bytes(%a: memref<256xi1>, %b: memref<256xi1>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<256xi1>) outs(%b : memref<256xi1>) {
  ^bb0(%x: i1, %o: i1):
    %true = arith.constant true
    %0 = arith.xori %x, %true : i1
    linalg.yield %0 : i1
  }
  return
}
