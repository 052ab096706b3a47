// How much of a long loop of vectors is a thread's at least: what its instructions take, of which integer divisions are one for each
// element.
// RUN: weft-opt %s -weft-lower-loops | FileCheck %s

// CHECK-LABEL: func.func private @sums_part
// CHECK:         scf.for
// CHECK:           arith.muli %{{.*}}, %c32768
// CHECK-LABEL: func.func private @remainders_part
// CHECK:         scf.for
// CHECK:           arith.muli %{{.*}}, %c4096
func.func @sums(%a: memref<65536xi64>, %b: memref<65536xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<65536xi64>) outs(%b : memref<65536xi64>) {
  ^bb0(%x: i64, %o: i64):
    %0 = arith.addi %x, %x : i64
    linalg.yield %0 : i64
  }
  return
}
func.func @remainders(%a: memref<65536xi64>, %b: memref<65536xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<65536xi64>) outs(%b : memref<65536xi64>) {
  ^bb0(%x: i64, %o: i64):
    %one = arith.constant 1 : i64
    %0 = arith.addi %x, %one : i64
    %1 = arith.cmpi ule, %0, %one : i64
    %2 = arith.select %1, %one, %x : i64
    %3 = arith.remsi %x, %2 : i64
    %4 = arith.xori %3, %x : i64
    %5 = arith.addi %4, %x : i64
    %6 = arith.muli %5, %4 : i64
    %7 = arith.addi %6, %5 : i64
    linalg.yield %7 : i64
  }
  return
}
