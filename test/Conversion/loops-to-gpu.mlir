// Structured ops are launches: of a thread per element of the result, and of threads that share more.
// RUN: weft-opt %s --weft-loops-to-gpu --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-loops-to-gpu=capability=80 --split-input-file | FileCheck %s --check-prefix=CORES
// RUN: weft-opt %s --weft-loops-to-gpu=capability=86 --split-input-file | FileCheck %s --check-prefix=OTHERS
// RUN: weft-opt %s --weft-loops-to-gpu=capability=90 --split-input-file | FileCheck %s --check-prefix=HOPPER

// Blocks of 256 threads; those beyond the last element do nothing. The last axis runs fastest.
// CHECK-LABEL: func @elementwise
// CHECK: %[[COUNT:.*]] = arith.muli
// CHECK: %[[SIZE:.*]] = arith.constant 256 : index
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[COUNT]], %[[SIZE]] : index
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads({{.*}}) in (%{{.*}} = %[[SIZE]],
// CHECK-SAME: module(@weft_kernels) function(@elementwise_0)
// CHECK: %[[ELEMENT:.*]] = arith.addi
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ELEMENT]], %[[COUNT]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[J:.*]] = arith.remui %[[ELEMENT]]
// CHECK: %[[I:.*]] = arith.divui %[[ELEMENT]]
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: math.sqrt
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @elementwise(%x: memref<?x3xf32>, %y: memref<?x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x3xf32>) outs(%y : memref<?x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A reduction runs within a thread, in order, and stores once.
// CHECK-LABEL: func @reduction
// CHECK: gpu.launch
// CHECK: %[[START:.*]] = memref.load %{{.*}}[%[[I:.*]]]
// CHECK: %[[SUM:.*]] = scf.for %[[J:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: arith.addf %[[ACC]], %[[X]]
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[I]]]
func.func @reduction(%x: memref<4x3xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A product's chain rounds once a step, as the library's does, and another sum of products twice.
// CHECK-LABEL: func @product
// CHECK: gpu.launch
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: gpu.launch
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @product(%x: memref<4x3xf32>, %y: memref<3x5xf32>, %z: memref<4x5xf32>, %r: memref<4xf32>) {
  linalg.matmul ins(%x, %y : memref<4x3xf32>, memref<3x5xf32>) outs(%z : memref<4x5xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x3xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A copy between dense buffers is the driver's, any other a launch.
// CHECK-LABEL: func @copies
// CHECK: memref.copy
// CHECK-NOT: memref.copy
// CHECK: gpu.launch
func.func @copies(%x: memref<4x3xf32>, %y: memref<4x3xf32>, %z: memref<4x3xf32, strided<[1, 4]>>) {
  memref.copy %x, %y : memref<4x3xf32> to memref<4x3xf32>
  memref.copy %x, %z : memref<4x3xf32> to memref<4x3xf32, strided<[1, 4]>>
  return
}

// -----

// Lists of sizes, which views read, are the host's.
// CHECK-LABEL: func @sizes
// CHECK: memref.alloca() : memref<2xindex>
// CHECK-NOT: gpu.launch
func.func @sizes(%x: memref<6xf32>, %n: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %list = memref.alloc() : memref<2xindex>
  memref.store %n, %list[%c0] : memref<2xindex>
  memref.store %n, %list[%c1] : memref<2xindex>
  %0 = memref.reshape %x(%list) : (memref<6xf32>, memref<2xindex>) -> memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// -----

// What the host reads in a buffer for a kernel alone is read by the kernel, with the arithmetic on it.
// CHECK-LABEL: func @scaled
// CHECK-SAME: (%[[S:.*]]: memref<f32>, %{{.*}}: memref<4xf32>)
// CHECK-NOT: memref.load
// CHECK: gpu.launch
// CHECK-NEXT: %[[READ:.*]] = memref.load %[[S]][]
// CHECK-NEXT: %[[TWICE:.*]] = arith.addf %[[READ]], %[[READ]]
// CHECK: memref.store %[[TWICE]]
func.func @scaled(%s: memref<f32>, %y: memref<4xf32>) {
  %0 = memref.load %s[] : memref<f32>
  %1 = arith.addf %0, %0 : f32
  linalg.fill ins(%1 : f32) outs(%y : memref<4xf32>)
  return
}

// -----

// The host reads it where something has been written there in between.
// CHECK-LABEL: func @overwritten
// CHECK: memref.load
// CHECK: gpu.launch
// CHECK: gpu.launch
// CHECK-NOT: memref.load
func.func @overwritten(%s: memref<1xf32>, %z: f32, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %s[%c0] : memref<1xf32>
  linalg.fill ins(%z : f32) outs(%s : memref<1xf32>)
  linalg.fill ins(%0 : f32) outs(%y : memref<4xf32>)
  return
}

// -----

// And where a kernel writes there, whose threads are not at one place.
// CHECK-LABEL: func @in_place
// CHECK: memref.load
// CHECK: gpu.launch
// CHECK-NOT: memref.load
func.func @in_place(%s: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %s[%c0] : memref<1xf32>
  linalg.fill ins(%0 : f32) outs(%s : memref<1xf32>)
  return
}

// -----

// And where its memory is another temporary's by then, or nobody's.
// CHECK-LABEL: func @reused
// CHECK: memref.load
// CHECK: memref.load
// CHECK: gpu.launch
// CHECK: gpu.launch
// CHECK-NEXT: memref.store
// CHECK: gpu.launch
// CHECK-NEXT: memref.store
func.func @reused(%z: f32, %n: index, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {weft.arena_offset = 64 : i64} : memref<f32>
  %b = memref.alloc(%n) : memref<?xf32>
  %0 = memref.load %a[] : memref<f32>
  %1 = memref.load %b[%c0] : memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  %c = memref.alloc() {weft.arena_offset = 0 : i64} : memref<32xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<32xf32>)
  memref.store %0, %y[] : memref<f32>
  memref.store %1, %y[] : memref<f32>
  return
}

// -----

// And where it decides by what the device computes. What only shows elements writes none.
// CHECK-LABEL: func @decided
// CHECK: %[[CHOICE:.*]] = memref.load %{{.*}}[] : memref<i1>
// CHECK: scf.if %[[CHOICE]]
// CHECK: gpu.launch
// CHECK-NEXT: memref.load %{{.*}}[] : memref<f32>
func.func private @weft_rt_print(!llvm.ptr, i64, memref<*xi64>, i64)
func.func @decided(%s: memref<i1>, %z: memref<f32>, %y: memref<4xf32>, %p: !llvm.ptr, %n: i64, %v: memref<*xi64>) {
  %0 = memref.load %s[] : memref<i1>
  %1 = memref.load %z[] : memref<f32>
  func.call @weft_rt_print(%p, %n, %v, %n) : (!llvm.ptr, i64, memref<*xi64>, i64) -> ()
  scf.if %0 {
    linalg.fill ins(%1 : f32) outs(%y : memref<4xf32>)
  }
  return
}

// -----

// A store of the host is one of a launch of one thread; lists for its own calls stay its own.
// CHECK-LABEL: func @stored
// CHECK: memref.store %{{.*}}, %alloca[%{{.*}}]
// CHECK: gpu.launch
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[] : memref<i64>
func.func @stored(%n: i64, %y: memref<i64>) {
  %c0 = arith.constant 0 : index
  %list = memref.alloca() : memref<1xi64>
  memref.store %n, %list[%c0] : memref<1xi64>
  memref.store %n, %y[] : memref<i64>
  return
}

// -----

// Of no elements there is no launch, but a module for kernels.
// CHECK-LABEL: func @nothing
// CHECK-NOT: gpu.launch
// CHECK: gpu.module @weft_kernels
func.func @nothing(%x: memref<0x4xf32>, %z: f32) {
  linalg.fill ins(%z : f32) outs(%x : memref<0x4xf32>)
  return
}

// -----

// An output without elements, which nobody writes, stays one.
// CHECK-LABEL: func @output
// CHECK: %[[OUT:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %[[OUT]], %[[OUT]]
func.func @output(%n: index) {
  %0 = memref.alloc(%n) {weft.output = 0 : i64} : memref<?x0xf32>
  return
}

// -----

// Names of kernels are those that PTX can spell, and different ones stay different.
// CHECK-LABEL: func @"2-over"
// CHECK: function(@"$32$2dover_0")
func.func @"2-over"(%x: memref<f32>, %z: f32) {
  linalg.fill ins(%z : f32) outs(%x : memref<f32>)
  return
}
// CHECK-LABEL: func @"2_over$"
// CHECK: function(@"$32_over$24_0")
func.func @"2_over$"(%x: memref<f32>, %z: f32) {
  linalg.fill ins(%z : f32) outs(%x : memref<f32>)
  return
}

// -----

// Each value is looked at once, however often arithmetic uses it: here there are 2^40 ways from the load to the store.
// CHECK-LABEL: func @doubled
// CHECK-NOT: memref.load
// CHECK: gpu.launch
// CHECK-NEXT: memref.load
func.func @doubled(%s: memref<f32>, %y: memref<4xf32>) {
  %1 = memref.load %s[] : memref<f32>
  %2 = arith.addf %1, %1 : f32
  %3 = arith.addf %2, %2 : f32
  %4 = arith.addf %3, %3 : f32
  %5 = arith.addf %4, %4 : f32
  %6 = arith.addf %5, %5 : f32
  %7 = arith.addf %6, %6 : f32
  %8 = arith.addf %7, %7 : f32
  %9 = arith.addf %8, %8 : f32
  %10 = arith.addf %9, %9 : f32
  %11 = arith.addf %10, %10 : f32
  %12 = arith.addf %11, %11 : f32
  %13 = arith.addf %12, %12 : f32
  %14 = arith.addf %13, %13 : f32
  %15 = arith.addf %14, %14 : f32
  %16 = arith.addf %15, %15 : f32
  %17 = arith.addf %16, %16 : f32
  %18 = arith.addf %17, %17 : f32
  %19 = arith.addf %18, %18 : f32
  %20 = arith.addf %19, %19 : f32
  %21 = arith.addf %20, %20 : f32
  %22 = arith.addf %21, %21 : f32
  %23 = arith.addf %22, %22 : f32
  %24 = arith.addf %23, %23 : f32
  %25 = arith.addf %24, %24 : f32
  %26 = arith.addf %25, %25 : f32
  %27 = arith.addf %26, %26 : f32
  %28 = arith.addf %27, %27 : f32
  %29 = arith.addf %28, %28 : f32
  %30 = arith.addf %29, %29 : f32
  %31 = arith.addf %30, %30 : f32
  %32 = arith.addf %31, %31 : f32
  %33 = arith.addf %32, %32 : f32
  %34 = arith.addf %33, %33 : f32
  %35 = arith.addf %34, %34 : f32
  %36 = arith.addf %35, %35 : f32
  %37 = arith.addf %36, %36 : f32
  %38 = arith.addf %37, %37 : f32
  %39 = arith.addf %38, %38 : f32
  %40 = arith.addf %39, %39 : f32
  %41 = arith.addf %40, %40 : f32
  linalg.fill ins(%41 : f32) outs(%y : memref<4xf32>)
  return
}

// -----

// What a buffer is filled with is known to the reduction that comes next, and the fill is no launch.
// CHECK-LABEL: func @filled
// CHECK-NOT: memref.load %{{.*}}[] : memref<f32>
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[START:.*]])
// CHECK-NOT: gpu.launch
func.func @filled(%x: memref<4x3xf32>, %y: memref<4xf32>, %s: f32) {
  linalg.fill ins(%s : f32) outs(%y : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A warp shares a row: each thread has every 32nd element, and shuffles bring them together.
// CHECK-LABEL: func @rows
// CHECK: gpu.launch
// CHECK-SAME: function(@rows_0)
// CHECK: %[[PART:.*]] = scf.if
// CHECK: scf.for %{{.*}} step %c32
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: scf.if
// CHECK: memref.store
func.func @rows(%x: memref<9x100xf32>, %y: memref<9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<9x100xf32>) outs(%y : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Warps share columns, whose neighbours are neighbouring threads', by shared memory.
// CHECK-LABEL: func @columns
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[SHARED:.*]] : memref<8x32xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for %{{.*}} step %c8
// CHECK: memref.store %{{.*}}, %[[SHARED]][
// CHECK: gpu.barrier
// CHECK-COUNT-7: memref.load %[[SHARED]][
// CHECK-NOT: gpu.shuffle
func.func @columns(%x: memref<100x40xf32>, %y: memref<40xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// One result of many elements is made in parts, by as many blocks, and a warp combines them.
// CHECK-LABEL: func @parts
// CHECK: %[[PARTS:.*]] = memref.alloc(
// CHECK: gpu.launch
// CHECK-SAME: function(@parts_0_parts)
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.launch
// CHECK-SAME: function(@parts_0_of_parts)
// CHECK: memref.load %[[PARTS]]
// CHECK: memref.dealloc %[[PARTS]]
func.func @parts(%x: memref<100000xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<100000xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What reduces a row and what uses the result for the row are one launch. The result stays in registers.
// CHECK-LABEL: func @chain
// CHECK: gpu.launch
// CHECK-COUNT-4: memref.load %arg0
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-4: memref.store %{{.*}}, %arg1
// CHECK-NOT: memref.store
// CHECK-NOT: gpu.launch
func.func @chain(%x: memref<9x128xf32>, %y: memref<9x128xf32>) {
  %s = memref.alloc() : memref<9xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<9x128xf32>) outs(%s : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<9x128xf32>, memref<9xf32>) outs(%y : memref<9x128xf32>) {
  ^bb0(%in: f32, %largest: f32, %out: f32):
    %0 = arith.subf %in, %largest : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Not where a row may be stored before another row's threads have read what is there.
// CHECK-LABEL: func @shifted
// CHECK-COUNT-2: gpu.launch
func.func @shifted(%x: memref<10x128xf32>) {
  %s = memref.alloc() : memref<9xf32>
  %from = memref.subview %x[0, 0] [9, 128] [1, 1] : memref<10x128xf32> to memref<9x128xf32, strided<[128, 1]>>
  %to = memref.subview %x[1, 0] [9, 128] [1, 1] : memref<10x128xf32> to memref<9x128xf32, strided<[128, 1], offset: 128>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%from : memref<9x128xf32, strided<[128, 1]>>) outs(%s : memref<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<9xf32>) outs(%to : memref<9x128xf32, strided<[128, 1], offset: 128>>) {
  ^bb0(%largest: f32, %out: f32):
    linalg.yield %largest : f32
  }
  return
}

// -----

// Nor where a body looks up what the chain makes for other columns.
// CHECK-LABEL: func @looked_up
// CHECK-COUNT-2: gpu.launch
func.func @looked_up(%x: memref<40x40xi64>, %y: memref<40xi64>) {
  %s = memref.alloc() : memref<40xi64>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x40xi64>) outs(%s : memref<40xi64>) {
  ^bb0(%in: i64, %out: i64):
    %0 = arith.maxsi %out, %in : i64
    linalg.yield %0 : i64
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s : memref<40xi64>) outs(%y : memref<40xi64>) {
  ^bb0(%in: i64, %out: i64):
    %0 = arith.index_cast %in : i64 to index
    %1 = memref.load %s[%0] : memref<40xi64>
    linalg.yield %1 : i64
  }
  return
}

// -----

// Tiles of both operands go through shared memory, two parts of the sum in turn, by copies of as many neighbours as are aligned; each
// result is one chain of fused products.
// CHECK-LABEL: func @tiles
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[A:.*]] : memref<2x16x66xf32, #gpu.address_space<workgroup>>, %[[B:.*]] : memref<2x16x64xf32, #gpu.address_space<workgroup>>)
// CHECK: vector.load %arg0[{{.*}}] {alignment = 16 : i64} : memref<100x48xf32>, vector<4xf32>
// CHECK: vector.load %arg1[{{.*}}] {alignment = 8 : i64} : memref<48x70xf32>, vector<2xf32>
// CHECK-COUNT-4: memref.store %{{.*}}, %[[A]]
// CHECK: vector.store %{{.*}}, %[[B]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: vector.load %arg0
// CHECK: scf.for
// CHECK: vector.load %[[A]][{{.*}}] {alignment = 8 : i64} : memref<2x16x66xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK-COUNT-64: math.fma
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK: gpu.barrier
func.func @tiles(%x: memref<100x48xf32>, %y: memref<48x70xf32>, %z: memref<100x70xf32>) {
  linalg.matmul ins(%x, %y : memref<100x48xf32>, memref<48x70xf32>) outs(%z : memref<100x70xf32>)
  return
}

// -----

// A convolution is such a product too: what a factor is, places and padding included, is computed while it is copied.
// CHECK-LABEL: func @windows
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[A:.*]] : memref<2x16x66xf32, #gpu.address_space<workgroup>>, %[[B:.*]] : memref<2x16x64xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.if
// CHECK: %[[AT:.*]] = memref.load %arg0
// CHECK: arith.select %{{.*}}, %[[AT]]
// CHECK: vector.load %arg1[{{.*}}] {alignment = 16 : i64} : memref<5x3x20xf32>, vector<4xf32>
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK: vector.store %{{.*}}, %[[B]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: memref.load %arg0
// CHECK: scf.for
// CHECK-NOT: %arg0
// CHECK-COUNT-16: math.fma
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK: gpu.barrier
func.func @windows(%x: memref<200x3xf32>, %k: memref<5x3x20xf32>, %z: memref<200x20xf32>, %extents: memref<5x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, f, t, c) -> (t, c)>, affine_map<(i, f, t, c) -> (i, f)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%extents : memref<5x3xf32>) outs(%z : memref<200x20xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %f = linalg.index 1 : index
    %t = linalg.index 2 : index
    %c = linalg.index 3 : index
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c200 = arith.constant 200 : index
    %at = arith.addi %i, %t : index
    %inside = arith.cmpi ult, %at, %c200 : index
    %place = arith.select %inside, %at, %c0 : index
    %0 = memref.load %x[%place, %c] : memref<200x3xf32>
    %1 = arith.select %inside, %0, %zero : f32
    %2 = memref.load %k[%t, %c, %f] : memref<5x3x20xf32>
    %3 = math.fma %1, %2, %out : f32
    linalg.yield %3 : f32
  }
  return
}

// -----

// Long sums of few results are made of parts, which a second launch adds in their order; of a product all is one chain.
// CHECK-LABEL: func @long_sums
// CHECK: %[[PARTS:.*]] = memref.alloc(%{{.*}}, %{{.*}})
// CHECK: gpu.launch {{.*}} function(@long_sums_0_parts)
// CHECK: gpu.launch {{.*}} function(@long_sums_0_of_parts)
// CHECK: memref.dealloc %[[PARTS]]
// CHECK: gpu.launch {{.*}} function(@long_sums_1)
func.func @long_sums(%x: memref<1000x16xf32>, %y: memref<1000x16xf32>, %z: memref<16x16xf32>, %t: memref<16x1000xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, s) -> (s, i)>, affine_map<(i, j, s) -> (s, j)>, affine_map<(i, j, s) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1000x16xf32>, memref<1000x16xf32>) outs(%z : memref<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.matmul ins(%t, %y : memref<16x1000xf32>, memref<1000x16xf32>) outs(%z : memref<16x16xf32>)
  return
}

// -----

// Products of bf16 and f16 are of fragments that warps multiply, where the chip can. Lines of shared memory are along the sum, and where
// 16 bytes at once are copied across it, along the tile. Parts are copied beside the program, three ahead; the part behind the last is
// zeros, and the last fragments of a part are multiplied behind the barrier of the next one.
// CHECK-LABEL: func @narrow
// CHECK-NOT: nvvm.mma.sync
// CORES-LABEL: func @narrow
// CORES: gpu.launch
// CORES-SAME: dynamic_shared_memory_size %c32768_i32
// CORES: memref.view {{.*}} to memref<4x64x32xi16, #gpu.address_space<workgroup>>
// CORES: memref.view {{.*}} to memref<4x32x64xi16, #gpu.address_space<workgroup>>
// CORES-NOT: vector.load
// CORES-COUNT-6: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} :
// CORES: nvvm.cp.async.wait.group 2
// CORES-NEXT: gpu.barrier
// CORES: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
// CORES: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4
// CORES-NOT: nvvm.mma.sync
// CORES-COUNT-2: nvvm.cp.async.shared.global
// CORES: nvvm.cp.async.commit.group
// CORES: nvvm.ldmatrix
// CORES-COUNT-4: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CORES: scf.for
// CORES: nvvm.cp.async.wait.group 2
// CORES-NEXT: gpu.barrier
// CORES: nvvm.ldmatrix
// CORES-COUNT-4: nvvm.mma.sync
// CORES: nvvm.cp.async.commit.group
// CORES: nvvm.ldmatrix
// CORES-COUNT-4: nvvm.mma.sync
// CORES: scf.yield
// CORES-COUNT-4: nvvm.mma.sync
// CORES-NOT: nvvm.mma.sync
// CORES-NOT: gpu.barrier
// CORES: return
func.func @narrow(%x: memref<70x40xi16>, %y: memref<40x80xi16>, %z: memref<70x80xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, s) -> (i, s)>, affine_map<(i, j, s) -> (s, j)>, affine_map<(i, j, s) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<70x40xi16>, memref<40x80xi16>) outs(%z : memref<70x80xf32>) attrs = {weft.narrow_product} {
  ^bb0(%a: i16, %b: i16, %out: f32):
    %1 = arith.bitcast %a : i16 to bf16
    %2 = arith.extf %1 : bf16 to f32
    %3 = arith.bitcast %b : i16 to bf16
    %4 = arith.extf %3 : bf16 to f32
    %5 = arith.mulf %2, %4 : f32
    %6 = arith.addf %out, %5 : f32
    linalg.yield %6 : f32
  }
  return
}

// -----

// Those of f64 are too, with the bits of a chain of fused products. What is no multiple of a part, or not of 16 bytes, goes through
// registers, with zeros that leave sums as they are.
// CORES-LABEL: func @doubles
// CORES: memref.view {{.*}} to memref<4x64x16xf64, #gpu.address_space<workgroup>>
// CORES: memref.view {{.*}} to memref<4x16x64xf64, #gpu.address_space<workgroup>>
// CORES-COUNT-12: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// CORES: scf.for
// CORES: nvvm.cp.async.wait.group 2
// CORES-NEXT: gpu.barrier
// CORES: nvvm.cp.async.shared.global
// CORES: memref.load %{{.*}} : memref<4x64x16xf64, #gpu.address_space<workgroup>>
// CORES-COUNT-16: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"
// HOPPER-LABEL: func @doubles
// HOPPER-COUNT-8: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"
// CORES-LABEL: func @odd_doubles
// CORES: memref.view {{.*}} to memref<2x64x16xf64, #gpu.address_space<workgroup>>
// CORES: arith.constant dense<-0.000000e+00> : vector<2xf64>
// CORES: vector.store
// CORES-NOT: nvvm.cp.async
// CORES: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"
// CHECK-LABEL: func @doubles
// CHECK-NOT: llvm.call_intrinsic
// CHECK: math.fma
// OTHERS-LABEL: func @doubles
// OTHERS-NOT: llvm.call_intrinsic
// OTHERS: math.fma
func.func @doubles(%x: memref<70x48xf64>, %y: memref<48x80xf64>, %z: memref<70x80xf64>) {
  linalg.matmul ins(%x, %y : memref<70x48xf64>, memref<48x80xf64>) outs(%z : memref<70x80xf64>)
  return
}
func.func @odd_doubles(%x: memref<70x42xf64>, %y: memref<42x80xf64>, %z: memref<70x80xf64>) {
  linalg.matmul ins(%x, %y : memref<70x42xf64>, memref<42x80xf64>) outs(%z : memref<70x80xf64>)
  return
}

// -----

// Parts of f32 are copied beside the program as well, without tensor cores: lines of a factor whose neighbours are along the sum stay so,
// and two elements of each are read at once. Sums are chains of fused products.
// CORES-LABEL: func @floats
// CORES: memref.view {{.*}} to memref<4x64x16xf32, #gpu.address_space<workgroup>>
// CORES: memref.view {{.*}} to memref<4x16x64xf32, #gpu.address_space<workgroup>>
// CORES-COUNT-6: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// CORES: scf.for
// CORES: nvvm.cp.async.wait.group 2
// CORES-NEXT: gpu.barrier
// CORES: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CORES: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CORES-COUNT-32: math.fma
// What is no multiple of a part, or not of 16 bytes, goes through registers.
// CORES-LABEL: func @odd_floats
// CORES-NOT: nvvm.cp.async
// CORES: math.fma
// CHECK-LABEL: func @floats
// CHECK-NOT: nvvm.cp.async
func.func @floats(%x: memref<70x48xf32>, %y: memref<48x80xf32>, %z: memref<70x80xf32>) {
  linalg.matmul ins(%x, %y : memref<70x48xf32>, memref<48x80xf32>) outs(%z : memref<70x80xf32>)
  return
}
func.func @odd_floats(%x: memref<70x40xf32>, %y: memref<40x80xf32>, %z: memref<70x80xf32>) {
  linalg.matmul ins(%x, %y : memref<70x40xf32>, memref<40x80xf32>) outs(%z : memref<70x80xf32>)
  return
}

// -----

// What is computed of each result of a product is done where it is in registers, and the product is not stored, unless
// others read it.
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func @epilogue
// CHECK: %[[R:.*]] = memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch
// CHECK: scf.if %{{[0-9]+}} {
// CHECK-NEXT: %[[B:.*]] = memref.load %arg2
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %{{.*}}, %[[B]]
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: %[[BOTH:.*]] = vector.from_elements %[[SUM]], %[[NEXT]]
// CHECK-NEXT: vector.store %[[BOTH]], %[[R]]
// CHECK-NOT: gpu.launch
func.func @epilogue(%x: memref<20x16xf32>, %y: memref<16x20xf32>, %b: memref<20xf32>, %r: memref<20x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = memref.alloc() : memref<20x20xf32>
  linalg.fill ins(%zero : f32) outs(%z : memref<20x20xf32>)
  linalg.matmul ins(%x, %y : memref<20x16xf32>, memref<16x20xf32>) outs(%z : memref<20x20xf32>)
  %0 = memref.alloc() : memref<20x20xf32>
  linalg.generic {indexing_maps = [#map, affine_map<(i, j) -> (j)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%z, %b : memref<20x20xf32>, memref<20xf32>) outs(%0 : memref<20x20xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %1 = arith.addf %in, %bias : f32
    linalg.yield %1 : f32
  }
  memref.copy %0, %r : memref<20x20xf32> to memref<20x20xf32>
  return
}
// CHECK-LABEL: func @kept
// CHECK: %[[Z:.*]] = memref.alloc
// CHECK: gpu.launch
// CHECK: scf.if %{{[0-9]+}} {
// CHECK-NEXT: vector.from_elements
// CHECK-NEXT: vector.store %{{.*}}, %[[Z]]
// CHECK: arith.addf
// CHECK-NOT: gpu.launch
// CHECK: memref.copy
func.func @kept(%x: memref<20x16xf32>, %y: memref<16x20xf32>, %b: memref<20xf32>, %r: memref<20x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = memref.alloc() : memref<20x20xf32>
  linalg.fill ins(%zero : f32) outs(%z : memref<20x20xf32>)
  linalg.matmul ins(%x, %y : memref<20x16xf32>, memref<16x20xf32>) outs(%z : memref<20x20xf32>)
  %0 = memref.alloc() : memref<20x20xf32>
  linalg.generic {indexing_maps = [#map, affine_map<(i, j) -> (j)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%z, %b : memref<20x20xf32>, memref<20xf32>) outs(%0 : memref<20x20xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %1 = arith.addf %in, %bias : f32
    linalg.yield %1 : f32
  }
  memref.copy %z, %r : memref<20x20xf32> to memref<20x20xf32>
  return
}

// -----

// Of a product with a single row threads share the sums; of two columns each is a chain.
// CHECK-LABEL: func @vector
// CHECK: gpu.launch {{.*}} workgroup(%[[SUMS:.*]] : memref<8x32xf32
// CHECK: gpu.barrier
// CHECK: gpu.launch
// CHECK-NOT: gpu.barrier
// CHECK: math.fma
func.func @vector(%x: memref<1x512xf32>, %y: memref<512x40xf32>, %z: memref<1x40xf32>, %t: memref<40x512xf32>, %u: memref<512x2xf32>, %w: memref<40x2xf32>) {
  linalg.matmul ins(%x, %y : memref<1x512xf32>, memref<512x40xf32>) outs(%z : memref<1x40xf32>)
  linalg.matmul ins(%t, %u : memref<40x512xf32>, memref<512x2xf32>) outs(%w : memref<40x2xf32>)
  return
}

// -----

// What is read along another axis than results are written goes through shared memory, whose lines are one longer.
// CHECK-LABEL: func @transposed
// CHECK: gpu.launch
// CHECK-SAME: workgroup(%[[TILE:.*]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[X:.*]] = memref.load %arg0[%{{.*}}, %{{.*}}]
// CHECK-NEXT: memref.store %[[X]], %[[TILE]][%{{.*}}, %[[FAST:.*]]]
// CHECK: gpu.barrier
// CHECK-DAG: memref.load %[[TILE]][%[[FAST]], %{{.*}}]
// CHECK-DAG: memref.load %arg1
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %arg2
func.func @transposed(%x: memref<100x40xf32>, %y: memref<100xf32>, %z: memref<40x100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<100x40xf32>, memref<100xf32>) outs(%z : memref<40x100xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Of many elements a thread has as many as 16 bytes hold: a row is read at once, a number of each row once for all.
// CHECK-LABEL: func @wide
// CHECK: gpu.launch
// CHECK: %[[ONE:.*]] = memref.load %arg1[{{.*}}] : memref<1024xf32>
// CHECK: vector.load %arg0[{{.*}}] {alignment = 16 : i64} : memref<1024x512xf32>, vector<4xf32>
// CHECK-COUNT-4: arith.addf %{{.*}}, %[[ONE]]
// CHECK: vector.store %{{.*}}, %arg2[{{.*}}] {alignment = 16 : i64} : memref<1024x512xf32>, vector<4xf32>
func.func @wide(%x: memref<1024x512xf32>, %y: memref<1024xf32>, %z: memref<1024x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<1024x512xf32>, memref<1024xf32>) outs(%z : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
// Not where it is not known to be aligned, nor of i1, whose vectors have other bits.
// CHECK-LABEL: func @narrow_rows
// CHECK-NOT: vector.load
func.func @narrow_rows(%x: memref<1024x512xf32, strided<[513, 1], offset: 1>>, %y: memref<1024x512xi1>, %z: memref<1024x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x512xf32, strided<[513, 1], offset: 1>>) outs(%z : memref<1024x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%z : memref<1024x512xf32>) outs(%y : memref<1024x512xi1>) {
  ^bb0(%a: f32, %out: i1):
    %0 = arith.cmpf ogt, %a, %a : f32
    linalg.yield %0 : i1
  }
  return
}

// -----

// A slice of a loop is aligned where its steps are.
// CHECK-LABEL: func @slices
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<1024x512xf32, strided<[512, 1], offset: ?>>, vector<4xf32>
// CHECK-LABEL: func @odd_slices
// CHECK-NOT: vector.load
// CHECK-LABEL: func @slices_of_odd_steps
// CHECK-NOT: vector.load
#map = affine_map<(i, j) -> (i, j)>
func.func @slices(%x: memref<4x1024x512xf32>, %i: index, %z: memref<1024x512xf32>) {
  %part = memref.subview %x[%i, 0, 0] [1, 1024, 512] [1, 1, 1]
      : memref<4x1024x512xf32> to memref<1024x512xf32, strided<[512, 1], offset: ?>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%part : memref<1024x512xf32, strided<[512, 1], offset: ?>>) outs(%z : memref<1024x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}
func.func @odd_slices(%x: memref<1024x1024xf32>, %i: index, %z: memref<1024x512xf32>) {
  %part = memref.subview %x[0, %i] [1024, 512] [1, 1]
      : memref<1024x1024xf32> to memref<1024x512xf32, strided<[1024, 1], offset: ?>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%part : memref<1024x512xf32, strided<[1024, 1], offset: ?>>) outs(%z : memref<1024x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}
func.func @slices_of_odd_steps(%x: memref<4x1024x512xf32, strided<[524289, 512, 1]>>, %i: index, %z: memref<1024x512xf32>) {
  %part = memref.subview %x[%i, 0, 0] [1, 1024, 512] [1, 1, 1]
      : memref<4x1024x512xf32, strided<[524289, 512, 1]>> to memref<1024x512xf32, strided<[512, 1], offset: ?>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%part : memref<1024x512xf32, strided<[512, 1], offset: ?>>) outs(%z : memref<1024x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return
}
