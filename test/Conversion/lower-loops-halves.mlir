// Loops over elements of 16 bits take whole vectors of them.
// RUN: weft-opt %s -weft-lower-loops | FileCheck %s
// RUN: weft-opt %s -weft-lower-loops="vector-bytes=32 masked=false" | FileCheck %s --check-prefix=AVX2

#id = affine_map<(d0) -> (d0)>

// What computes in words takes the lower halves of pairs, then the upper ones.
// CHECK-LABEL: func.func @pairs
// CHECK-DAG:     %[[X:.*]] = vector.bitcast %{{.*}} : vector<32xi16> to vector<16xi32>
// CHECK-DAG:     %[[Y:.*]] = vector.bitcast %{{.*}} : vector<32xi16> to vector<16xi32>
// CHECK-DAG:     arith.trunci %[[X]] : vector<16xi32> to vector<16xi16>
// CHECK-DAG:     %[[U:.*]] = arith.shrui %[[X]],
// CHECK-DAG:     arith.trunci %[[U]] : vector<16xi32> to vector<16xi16>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         %[[ABOVE:.*]] = arith.shli
// CHECK:         %[[BOTH:.*]] = arith.ori %{{.*}}, %[[ABOVE]] : vector<16xi32>
// CHECK:         %[[WHOLE:.*]] = vector.bitcast %[[BOTH]] : vector<16xi32> to vector<32xi16>
// CHECK:         vector.store %[[WHOLE]]
// The rest is under a mask, or as few as they are.
// CHECK:         vector.maskedload {{.*}} into vector<32xi16>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         vector.maskedstore {{.*}} vector<32xi16>
// AVX2-LABEL:  func.func @pairs
// AVX2:          vector.bitcast %{{.*}} : vector<16xi16> to vector<8xi32>
// AVX2:          arith.muli {{.*}} : vector<6xi32>
func.func @pairs(%a: memref<70xi16>, %b: memref<70xi16>, %c: memref<70xi16>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : memref<70xi16>, memref<70xi16>) outs(%c : memref<70xi16>) {
  ^bb0(%x: i16, %y: i16, %o: i16):
    %0 = arith.extui %x : i16 to i32
    %1 = arith.extui %y : i16 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.trunci %2 : i32 to i16
    linalg.yield %3 : i16
  }
  return
}

// What does not needs no pairs.
// CHECK-LABEL: func.func @halves
// CHECK-NOT:     vector.bitcast
// CHECK:         arith.addi {{.*}} : vector<32xi16>
func.func @halves(%a: memref<64xi16>, %c: memref<64xi16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<64xi16>) outs(%c : memref<64xi16>) {
  ^bb0(%x: i16, %o: i16):
    %0 = arith.addi %x, %x : i16
    linalg.yield %0 : i16
  }
  return
}

// The upper halves of words are picked from two vectors at once.
// CHECK-LABEL: func.func @cut
// CHECK:         %[[WORDS:.*]] = arith.addi {{.*}} : vector<32xi32>
// CHECK:         %[[PARTS:.*]] = vector.bitcast %[[WORDS]] : vector<32xi32> to vector<64xi16>
// CHECK:         %[[UPPER:.*]] = vector.shuffle %[[PARTS]], %[[PARTS]] [1, 3, 5, {{.*}}, 63]
// CHECK:         vector.store %[[UPPER]]
func.func @cut(%a: memref<64xi32>, %c: memref<64xi16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<64xi32>) outs(%c : memref<64xi16>) {
  ^bb0(%x: i32, %o: i16):
    %n = arith.constant 16 : i32
    %0 = arith.addi %x, %n : i32
    %1 = arith.shrui %0, %n : i32
    %2 = arith.trunci %1 : i32 to i16
    linalg.yield %2 : i16
  }
  return
}

// Numbers of 64 bits stay as many as of 32 fit.
// CHECK-LABEL: func.func @wide
// CHECK:         arith.addi {{.*}} : vector<16xi64>
func.func @wide(%a: memref<64xi64>, %c: memref<64xi16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<64xi64>) outs(%c : memref<64xi16>) {
  ^bb0(%x: i64, %o: i16):
    %0 = arith.addi %x, %x : i64
    %1 = arith.trunci %0 : i64 to i16
    linalg.yield %1 : i16
  }
  return
}
