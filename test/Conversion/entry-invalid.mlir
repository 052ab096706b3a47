// RUN: weft-opt %s -split-input-file -weft-entry -verify-diagnostics

// expected-error@below {{returns values; entries write to memrefs they are given}}
func.func @returns(%x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<4xf32>
  return %0 : f32
}

// -----

// expected-error@below {{takes 'tensor<4xf32>'; entries take memrefs of identity layout}}
func.func @tensor(%x: tensor<4xf32>) {
  return
}

// -----

func.func private @weft_rt_any(memref<*xf32>) attributes {weft.runtime}
func.func @unranked(%x: memref<4xf32>, %y: memref<4xf32>, %p: memref<1xi1>) {
  %c0 = arith.constant 0 : index
  %0 = memref.cast %x : memref<4xf32> to memref<*xf32>
  %1 = memref.cast %y : memref<4xf32> to memref<*xf32>
  %c = memref.load %p[%c0] : memref<1xi1>
  %2 = arith.select %c, %0, %1 : memref<*xf32>
  // expected-error@below {{passes a memref of unknown rank}}
  call @weft_rt_any(%2) : (memref<*xf32>) -> ()
  return
}
