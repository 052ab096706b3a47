// Errors of compiled text name its lines, also where the code comes from the cache and was another text's.
// RUN: rm -rf %t && mkdir %t
// RUN: sed 's/^func.func/\n\n&/' %s > %t/moved.mlir
// RUN: not env WEFT_CACHE=on WEFT_CACHE_DIR=%t/cache WEFT_LOG=1 weft-run %s --entry=positive --arg='dense<-1.0> : tensor<f32>' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FIRST
// RUN: not env WEFT_CACHE=on WEFT_CACHE_DIR=%t/cache WEFT_LOG=1 weft-run %t/moved.mlir --entry=positive --arg='dense<-1.0> : tensor<f32>' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MOVED
// RUN: not weft-run %s --entry=picked --arg='dense<[5.0, 6.0]> : tensor<2xf32>' --arg='dense<2> : tensor<1xi32>' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INDEX

// RUN: not weft-run %s --entry=factored --arg='dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32>' 2>&1 | FileCheck %s --check-prefix=ROUTINE

// FIRST: cache miss
// FIRST: {{^}}weft-run-locations.mlir:[[# @LINE + 7]]: assertion failed in positive: x is positive; -1{{$}}
// MOVED: cache hit
// MOVED: {{^}}moved.mlir:[[# @LINE + 7]]: assertion failed in positive: x is positive; -1{{$}}

func.func @positive(%x: tensor<f32>) -> tensor<f32> {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %ok = weft.greater %x, %zero : tensor<f32>
  weft.assert %ok, "x is positive", %x : tensor<i1>, tensor<f32>
  return %x : tensor<f32>
}

// INDEX: {{^}}weft-run-locations.mlir:[[# @LINE + 2]]: error: gather: index 2 is out of range for an axis of size 2{{$}}
func.func @picked(%x: tensor<2xf32>, %i: tensor<1xi32>) -> tensor<1xf32> {
  %0 = weft.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// What a routine of the library throws is an error of the op's line.
// ROUTINE: {{^}}weft-run-locations.mlir:[[# @LINE + 2]]: error: cholesky: the matrix is not positive definite{{$}}
func.func @factored(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = weft.cholesky %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
