// RUN: weft-opt %s -weft-share-loops | FileCheck %s

#one = affine_map<(i) -> (i)>

// Equal loops on different buffers are one function. Where views begin, and a number from outside,
// are arguments.
// CHECK-LABEL: func.func private @views_loop(
// CHECK-SAME:    %{{.*}}: memref<100xf32, strided<[1], offset: ?>>, %{{.*}}: memref<100xf32>, %{{.*}}: f32)
// CHECK-NEXT:    linalg.generic
// CHECK:         return
// CHECK-LABEL: func.func @views(
// CHECK-NOT:     linalg.generic
// CHECK:         memref.cast %{{.*}} : memref<100xf32, strided<[1]>> to memref<100xf32, strided<[1], offset: ?>>
// CHECK:         call @views_loop
// CHECK:         call @views_loop
// CHECK:         call @views_loop
func.func @views(%x: memref<300xf32>, %a: memref<100xf32>, %b: memref<100xf32>, %c: memref<100xf32>, %n: f32, %m: f32) {
  %0 = memref.subview %x[0] [100] [1] : memref<300xf32> to memref<100xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%0 : memref<100xf32, strided<[1]>>) outs(%a : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %in, %n : f32
    linalg.yield %3 : f32
  }
  %1 = memref.subview %x[100] [100] [1] : memref<300xf32> to memref<100xf32, strided<[1], offset: 100>>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%1 : memref<100xf32, strided<[1], offset: 100>>) outs(%b : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %in, %m : f32
    linalg.yield %3 : f32
  }
  %2 = memref.subview %x[200] [100] [1] : memref<300xf32> to memref<100xf32, strided<[1], offset: 200>>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%2 : memref<100xf32, strided<[1], offset: 200>>) outs(%c : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %in, %n : f32
    linalg.yield %3 : f32
  }
  return
}

// Other constants, other order of operands, one buffer where another loop has two: not the same.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     call
func.func @others(%x: memref<100xf32>, %y: memref<100xf32>, %z: memref<100xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.subf %in, %one : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.subf %in, %two : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.subf %one, %in : f32
    linalg.yield %3 : f32
  }
  // In place: its function would have two buffers for the one of the first loop.
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%x : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.mulf %in, %one : f32
    linalg.yield %3 : f32
  }
  return
}

// A loop that reads and writes one buffer is never called with two.
// CHECK-LABEL: func.func @in_place(
// CHECK-COUNT-2: linalg.generic
func.func @in_place(%x: memref<100xf32>, %y: memref<100xf32>) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%x : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = math.exp %in : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = math.exp %in : f32
    linalg.yield %3 : f32
  }
  return
}

// A few iterations are no call.
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-2: linalg.generic
func.func @few(%x: memref<10xf32>, %y: memref<10xf32>, %z: memref<10xf32>) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<10xf32>) outs(%y : memref<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = math.exp %in : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<10xf32>) outs(%z : memref<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = math.exp %in : f32
    linalg.yield %3 : f32
  }
  return
}

// Loops over rows are shared whole, in all functions of a module.
// CHECK-LABEL: func.func private @rows_loop(
// CHECK:         scf.for
// CHECK:         } {weft.rows}
// CHECK-LABEL: func.func @rows(
// CHECK:         call @rows_loop(
// CHECK-LABEL: func.func @more_rows(
// CHECK:         call @rows_loop(
func.func @rows(%x: memref<1024x100xf32>, %y: memref<1024x100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    %0 = memref.subview %x[%i, 0] [1, 100] [1, 1] : memref<1024x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    %1 = memref.subview %y[%i, 0] [1, 100] [1, 1] : memref<1024x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%0 : memref<100xf32, strided<[1], offset: ?>>) outs(%1 : memref<100xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      %3 = math.log %in : f32
      linalg.yield %3 : f32
    }
  } {weft.rows}
  return
}
func.func @more_rows(%x: memref<1024x100xf32>, %y: memref<1024x100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    %0 = memref.subview %y[%i, 0] [1, 100] [1, 1] : memref<1024x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    %1 = memref.subview %x[%i, 0] [1, 100] [1, 1] : memref<1024x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%0 : memref<100xf32, strided<[1], offset: ?>>) outs(%1 : memref<100xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %out: f32):
      %3 = math.log %in : f32
      linalg.yield %3 : f32
    }
  } {weft.rows}
  return
}
