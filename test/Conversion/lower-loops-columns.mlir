// In which order rows and columns are read where each column is reduced on its own.
// RUN: weft-opt %s -weft-lower-loops="parallel-work=0" | FileCheck %s

// Columns are reduced rows outermost, eight at a time where they are pages apart, and what is left together; in blocks of
// 2048 columns.
// CHECK-LABEL: func.func @long_rows
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK-COUNT-8:       arith.addf
// CHECK-NOT:           arith.addf
// CHECK:               vector.store
// CHECK:             scf.for
// CHECK-COUNT-2:       arith.addf
// CHECK-NOT:           arith.addf
// CHECK:               vector.store
func.func @long_rows(%a: memref<26x4096xf32>, %b: memref<4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<26x4096xf32>) outs(%b : memref<4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows of which several lie in a page are read one after the other.
// CHECK-LABEL: func.func @short_rows
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-1:     arith.addf
// CHECK-NOT:         arith.addf
// CHECK:             vector.store
// CHECK:           arith.addf
// CHECK:           vector.maskedstore
func.func @short_rows(%a: memref<26x250xf32>, %b: memref<250xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<26x250xf32>) outs(%b : memref<250xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Of rows of unknown length it is found out.
// CHECK-LABEL: func.func @unknown_rows
// CHECK:         %[[SHORT:.*]] = arith.cmpi slt
// CHECK:         %[[LONG:.*]] = arith.cmpi sge
// CHECK:         %[[JOINS:.*]] = arith.ori %[[SHORT]], %[[LONG]]
// CHECK:         %[[END:.*]] = arith.select %[[JOINS]]
// CHECK:         scf.for {{.*}} to %[[END]]
// CHECK:         scf.for {{.*}} = %[[END]]
func.func @unknown_rows(%a: memref<?x?xf32>, %b: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<?x?xf32>) outs(%b : memref<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %o, %x : f32
    linalg.yield %0 : f32
  }
  return
}
