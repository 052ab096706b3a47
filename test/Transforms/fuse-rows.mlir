// RUN: weft-opt %s -weft-fuse-rows | FileCheck %s
// RUN: weft-opt %s -weft-fuse-rows -weft-lower-loops | FileCheck %s --check-prefix=LOOPS

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
#along = affine_map<(i, j) -> (j)>

// A sum along rows and what uses it are one loop over blocks of rows, the fill too; of the
// temporary, which nobody else sees, a block is on the stack.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     memref.alloc()
// CHECK:         scf.for %[[I:.*]] = %c0 to %c256 step %c1 {
// CHECK:           %[[AT:.*]] = arith.muli %[[I]]
// CHECK:           %[[T:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK:           linalg.fill ins(%{{.*}}) outs(%[[T]]
// CHECK:           %[[X:.*]] = memref.subview %arg0[%[[AT]], 0] [4, 1000] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[T]]
// CHECK:           %[[Y:.*]] = memref.subview %arg1[%[[AT]], 0] [4, 1000] [1, 1]
// CHECK:           linalg.generic {{.*}} ins(%[[X]], %[[T]] : {{.*}}) outs(%[[Y]]
// CHECK:         } {weft.rows}
// Threads share the loop and nothing in it; each has its own memory on the stack.
// LOOPS-LABEL: func.func private @rows_part(
// LOOPS-NEXT:    memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// LOOPS-NOT:     memref.alloca
// LOOPS-NOT:     call
// LOOPS-LABEL: func.func @rows(
// LOOPS-NOT:     scf.for
// LOOPS:         call @rows_part({{.*}}) {weft.parallel}
func.func @rows(%x: memref<1024x1000xf32>, %y: memref<1024x1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x1000xf32>) outs(%s : memref<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<1024x1000xf32>, memref<1024xf32>) outs(%y : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// The last block of an unknown number of rows is smaller. A body that asks for its row is told that
// of the whole.
// CHECK-LABEL: func.func @unknown_rows
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         scf.for
// CHECK:           %[[AT:.*]] = arith.muli
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[AT]]
// CHECK:           %[[COUNT:.*]] = arith.minui %[[LEFT]]
// CHECK:           memref.subview %arg0[%[[AT]], 0] [%[[COUNT]], 1000] [1, 1]
// CHECK:           linalg.index 0
// CHECK-NEXT:      arith.addi %{{.*}}, %[[AT]]
func.func @unknown_rows(%x: memref<?x1000xf32>, %y: memref<?x1000xf32>, %z: memref<?x1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x1000xf32>) outs(%y : memref<?x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %r = arith.sitofp %n : i32 to f32
    %0 = arith.addf %in, %r : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x1000xf32>) outs(%z : memref<?x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// An output of unknown size is an allocation which the caller reads: it stays whole.
// CHECK-LABEL: func.func @output
// CHECK:         memref.alloc(%{{.*}}) {weft.output = 0 : i64}
// CHECK:         scf.for
// CHECK-NOT:       memref.alloca
func.func @output(%x: memref<?x1000xf32>, %z: memref<?x1000xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x1000xf32>
  %y = memref.alloc(%n) {weft.output = 0 : i64} : memref<?x1000xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x1000xf32>) outs(%z : memref<?x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : memref<?x1000xf32>) outs(%y : memref<?x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A loop that reads what all rows have left goes behind; one that has nothing to do with the rows
// goes in front, and does not keep others from joining.
// CHECK-LABEL: func.func @between
// CHECK:         memref.copy %arg3, %arg4
// CHECK:         scf.for
// CHECK:           linalg.generic
// CHECK:           linalg.generic
// CHECK:         } {weft.rows}
// CHECK:         linalg.generic {{.*}} ["reduction", "parallel"]
func.func @between(%x: memref<1024x1000xf32>, %y: memref<1024x1000xf32>, %z: memref<1024x1000xf32>,
                   %a: memref<5xf32>, %b: memref<5xf32>, %columns: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1000xf32>) outs(%y : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #along], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<1024x1000xf32>) outs(%columns : memref<1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %a, %b : memref<5xf32> to memref<5xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<1024x1000xf32>) outs(%z : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// What overwrites the rows that an op behind the loop still reads stays behind that one.
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT:     weft.rows
func.func @overwritten(%x: memref<1024x1000xf32>, %y: memref<1024x1000xf32>, %columns: memref<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1000xf32>) outs(%y : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #along], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<1024x1000xf32>) outs(%columns : memref<1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1000xf32>) outs(%y : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows read in another order than they are written in are no rows of one loop.
// CHECK-LABEL: func.func @turned
// CHECK-NOT:     weft.rows
func.func @turned(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>, %z: memref<1024x1024xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : memref<1024x1024xf32>, memref<1024x1024xf32>) outs(%z : memref<1024x1024xf32>) {
  ^bb0(%in: f32, %same: f32, %out: f32):
    %0 = arith.addf %in, %same : f32
    linalg.yield %0 : f32
  }
  return
}

// A reduction that is cut into blocks of its own, for being long with few results, is no member:
// with fewer rows it would be cut otherwise.
// CHECK-LABEL: func.func @unknown_and_long
// CHECK-NOT:     weft.rows
func.func @unknown_and_long(%x: memref<?x131072xf32>, %s: memref<?xf32>, %y: memref<?x131072xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x131072xf32>) outs(%s : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x131072xf32>) outs(%y : memref<?x131072xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Whatever may have effects of its own ends the run of loops.
// CHECK-LABEL: func.func @stopped
// CHECK-NOT:     weft.rows
func.func private @anything()
func.func @stopped(%x: memref<1024x1000xf32>, %y: memref<1024x1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x1000xf32>) outs(%y : memref<1024x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  call @anything() : () -> ()
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<1024x1000xf32>) {
  ^bb0(%out: f32):
    %0 = math.exp %out : f32
    linalg.yield %0 : f32
  }
  return
}

// A few numbers stay in the cache as they are.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     weft.rows
func.func @small(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%y : memref<64xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Loops over as many rows that have none in common are no part of each other's loop.
// CHECK-LABEL: func.func @strangers
// CHECK:         scf.for
// CHECK-COUNT-2:   linalg.generic
// CHECK-NOT:       linalg.generic
// CHECK:         } {weft.rows}
// CHECK:         scf.for
// CHECK-COUNT-2:   linalg.generic
// CHECK-NOT:       linalg.generic
// CHECK:         } {weft.rows}
func.func @strangers(%x: memref<1024x100xf32>, %y: memref<1024x100xf32>, %v: memref<1024x100xf32>, %w: memref<1024x100xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x100xf32>) outs(%y : memref<1024x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<1024x100xf32>) outs(%w : memref<1024x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<1024x100xf32>) {
  ^bb0(%out: f32):
    %0 = math.log %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%w : memref<1024x100xf32>) {
  ^bb0(%out: f32):
    %0 = math.log %out : f32
    linalg.yield %0 : f32
  }
  return
}

// What a loop needs before it stays there, whatever loop comes next: the fill of %b is moved before
// the first loop, which writes some of it, and not down again to the second one.
// CHECK-LABEL: func.func @once
// CHECK:         linalg.fill {{.*}} outs(%arg3
// CHECK:         scf.for
// CHECK:         } {weft.rows}
// CHECK:         linalg.generic {{.*}} ["reduction", "parallel"]
// CHECK-NOT:     linalg.fill
// CHECK:         scf.for
// CHECK:         } {weft.rows}
func.func @once(%x: memref<1024x100xf32>, %y: memref<1024x100xf32>, %v: memref<512x100xf32>,
                %b: memref<204800xf32>, %w: memref<512x100xf32>, %columns: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %whole = memref.expand_shape %b [[0, 1]] output_shape [1024, 200] : memref<204800xf32> into memref<1024x200xf32>
  %part = memref.subview %whole[0, 0] [1024, 100] [1, 1] : memref<1024x200xf32> to memref<1024x100xf32, strided<[200, 1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x100xf32>) outs(%y : memref<1024x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #along], iterator_types = ["reduction", "parallel"]}
      ins(%y : memref<1024x100xf32>) outs(%columns : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#along, #id], iterator_types = ["parallel", "parallel"]}
      ins(%columns : memref<100xf32>) outs(%v : memref<512x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<204800xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<1024x100xf32>) outs(%part : memref<1024x100xf32, strided<[200, 1]>>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<512x100xf32>) outs(%w : memref<512x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.log %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Ops that have moved to before a loop are looked at where they are now.
// CHECK-LABEL: func.func @moved
// CHECK:         scf.for
// CHECK-COUNT-2:   linalg.generic {{.*}}memref<{{.*}}x200xf32
// CHECK:         } {weft.rows}
// CHECK:         scf.for
// CHECK-COUNT-2:   linalg.generic {{.*}}memref<{{.*}}x100xf32
// CHECK:         } {weft.rows}
func.func @moved(%x: memref<1024x100xf32>, %y: memref<1024x100xf32>, %v: memref<512x200xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x100xf32>) outs(%y : memref<1024x100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%v : memref<512x200xf32>) {
  ^bb0(%out: f32):
    %0 = math.exp %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<1024x100xf32>) {
  ^bb0(%out: f32):
    %0 = math.log %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%v : memref<512x200xf32>) {
  ^bb0(%out: f32):
    %0 = math.log %out : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows of indices have bytes too.
// CHECK-LABEL: func.func @indices
// CHECK:         linalg.generic
func.func @indices(%i: memref<5xindex>, %y: memref<5x3xindex>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : memref<5xindex>) outs(%y : memref<5x3xindex>) {
  ^bb0(%in: index, %out: index):
    linalg.yield %in : index
  }
  return
}
