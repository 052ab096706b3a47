// How weft-lower-loops cuts a long reduction with few results into blocks that threads share.
// RUN: weft-opt %s -weft-lower-loops | FileCheck %s
// RUN: weft-opt %s -weft-lower-loops=parallel-work=0 | FileCheck %s --check-prefix=KERNEL

// Two blocks of 65536, the 3 elements that remain, and the three partial results in order.
// CHECK-LABEL: func.func @vector
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<3xf32>
// CHECK:         call @vector_part(%{{.*}}) {weft.parallel}
// CHECK:         vector.maskedload %{{.*}}[%c131072{{.*}} : memref<131075xf32>
// CHECK:         memref.store %{{.*}}, %{{.*}}[%c2{{.*}}] : memref<3xf32>
// CHECK:         memref.load %{{.*}} : memref<1xf32>
// CHECK:         vector.maskedload {{.*}} : memref<3xf32>
// CHECK:         memref.store %{{.*}} : memref<1xf32>
// CHECK:         memref.dealloc %[[PARTS]]
func.func @vector(%x: memref<131075xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<131075xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Columns: 1024 rows of 64 make a block, and nothing remains.
// CHECK-LABEL: func.func @columns
// CHECK:         memref.alloc() : memref<256xf32>
// CHECK:         call @columns_part(%{{.*}}) {weft.parallel}
// CHECK-NOT:     weft.parallel
// CHECK:         memref.dealloc
func.func @columns(%x: memref<4096x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4096x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Threads have enough with eight results; and less than two blocks are one.
// CHECK-LABEL: func.func @many
// CHECK-NOT:     memref.alloc
// CHECK-LABEL: func.func @short
// CHECK-NOT:     memref.alloc
func.func @many(%x: memref<8x131072xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x131072xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @short(%x: memref<131071xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<131071xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Of unknown sizes: which way it goes is decided when it runs, and a vector's blocks are of known length.
// CHECK-LABEL: func.func @unknown(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 65536 : index
// CHECK:         %[[BLOCKS:.*]] = arith.divui %{{.*}}, %[[ROWS]]
// CHECK:         %[[CUT:.*]] = arith.cmpi sge, %[[BLOCKS]]
// CHECK:         scf.if %[[CUT]] {
// CHECK:           memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK:           call @unknown_part{{.*}} {weft.parallel}
// CHECK:           memref.dealloc
// CHECK:         } else {
// CHECK-NOT:       memref.alloc
func.func @unknown(%x: memref<?xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows that are known to be short are never cut, and neither is anything in a kernel of the table, whose
// caller has done that.
// CHECK-LABEL: func.func @short_rows(
// CHECK-NOT:     memref.alloc
// KERNEL-LABEL: func.func @unknown(
// KERNEL-NOT:     memref.alloc
func.func @short_rows(%x: memref<?x131071xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x131071xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}
