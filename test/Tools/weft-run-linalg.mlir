// Programs at the level of linalg: what reads outside of a tensor, or has no value, stops the call with an error.
// RUN: split-file %s %t

// A cast to a size that the tensor does not have, from each phase that a text may have gone through.
// RUN: not weft-run %t/cast.mlir --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not weft-run %t/cast.mlir --from=simplify --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not weft-run %t/cast.mlir --from=linalg --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not weft-run %t/cast.mlir --from=schedule --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: weft-run %t/cast.mlir --from=linalg --arg='iota : tensor<4xf32>' --print | FileCheck %s --check-prefix=CAST-FITS
// CAST: cast.mlir:2: error: tensor.cast: the size along axis 0 is 3, but the result's type says 4
// CAST-FITS: tensor{{.*}}[0, 1, 2, 3]

// Operands whose sizes differ, where the first one gives the number of iterations.
// RUN: not weft-run %t/sizes.mlir --from=linalg --arg='iota : tensor<5x4xf32>' --arg='iota : tensor<2x4xf32>' 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: weft-run %t/sizes.mlir --from=linalg --arg='iota : tensor<2x4xf32>' --arg='iota : tensor<2x4xf32>' --print | FileCheck %s --check-prefix=SIZES-FIT
// SIZES: error: linalg.generic: operand 1 has size 2 along axis 0, but operand 0 has size 5 along axis 0
// SIZES-FIT: [0, 2, 4, 6]

// A divisor of one element, as the processor would end the process.
// RUN: not weft-run %t/divide.mlir --from=linalg --arg='dense<[1, 2, 3, 4]> : tensor<4xi32>' --arg='dense<[1, 1, 0, 1]> : tensor<4xi32>' 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not weft-run %t/divide.mlir --from=linalg --arg='dense<-2147483648> : tensor<4xi32>' --arg='dense<-1> : tensor<4xi32>' 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: weft-run %t/divide.mlir --from=linalg --arg='dense<7> : tensor<4xi32>' --arg='dense<[1, 2, 3, -1]> : tensor<4xi32>' --print | FileCheck %s --check-prefix=DIVIDES
// RUN: not weft-run %t/scalar.mlir --from=linalg --arg='dense<0> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=SCALAR
// DIVIDE: assertion failed in main: arith.divsi: the divisor is 0, or -1 where the dividend is the least integer
// DIVIDES: [7, 3, 2, -7]
// SCALAR: assertion failed in main: arith.remui: the divisor is 0

// The index that is outside, of all that the loop would read.
// RUN: not weft-run %t/rows.mlir --from=linalg --arg='iota : tensor<4x3xf32>' --arg='dense<[0, 9, 3]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not weft-run %t/rows.mlir --from=linalg --arg='iota : tensor<0x3xf32>' --arg='dense<[0, 0, 0]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=NO-ROWS
// RUN: weft-run %t/rows.mlir --from=linalg --arg='iota : tensor<4x3xf32>' --arg='dense<[3, 0, 3]> : tensor<3xi64>' --print | FileCheck %s --check-prefix=ROWS-FIT
// ROWS: error: tensor.extract: index 9 is out of range for an axis of size 4
// NO-ROWS: error: tensor.extract: index 0 is out of range for an axis of size 0
// ROWS-FIT: [9, 10, 11],
// ROWS-FIT-NEXT: [0, 1, 2],
// ROWS-FIT-NEXT: [9, 10, 11]]

// Slices, in place and out of place, with any stride.
// RUN: not weft-run %t/slice.mlir --from=linalg --arg='iota : tensor<8xf32>' --arg='dense<[6, 3, 1]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not weft-run %t/slice.mlir --from=linalg --arg='iota : tensor<8xf32>' --arg='dense<[2, 3, -2]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=BACK
// RUN: not weft-run %t/slice.mlir --from=linalg --arg='iota : tensor<8xf32>' --arg='dense<[0, 3, 4611686018427387904]> : tensor<3xi64>' 2>&1 | FileCheck %s --check-prefix=WRAPS
// RUN: weft-run %t/slice.mlir --from=linalg --arg='iota : tensor<8xf32>' --arg='dense<[1, 3, 3]> : tensor<3xi64>' --print | FileCheck %s --check-prefix=SLICE-FITS
// SLICE: error: tensor.extract_slice: the slice of offset 6, size 3 and stride 1 leaves axis 0, which has size 8
// BACK: error: tensor.extract_slice: the slice of offset 2, size 3 and stride -2 leaves axis 0, which has size 8
// WRAPS: error: tensor.extract_slice: the slice of offset 0, size 3 and stride 4611686018427387904 leaves axis 0
// SLICE-FITS: [1, 4, 7]

// A product of sizes that comes round to the right one.
// RUN: not weft-run %t/expand.mlir --from=linalg --arg='iota : tensor<4xf32>' --arg='dense<[3, 2]> : tensor<2xi64>' 2>&1 | FileCheck %s --check-prefix=EXPAND
// RUN: not weft-run %t/expand.mlir --from=linalg --arg='iota : tensor<4xf32>' --arg='dense<[4611686018427387905, 4]> : tensor<2xi64>' 2>&1 | FileCheck %s --check-prefix=EXPAND
// RUN: weft-run %t/expand.mlir --from=linalg --arg='iota : tensor<4xf32>' --arg='dense<2> : tensor<2xi64>' --print | FileCheck %s --check-prefix=EXPAND-FITS
// EXPAND: error: tensor.expand_shape: the sizes that axis 0 becomes do not multiply to its size 4
// EXPAND-FITS: [0, 1],
// EXPAND-FITS-NEXT: [2, 3]

// A loop whose counter leaves its bounds, in which no index is looked at.
// RUN: not weft-run %t/loop.mlir --arg='iota : tensor<4xf32>' --arg='dense<-1> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not weft-run %t/loop.mlir --from=linalg --arg='iota : tensor<4xf32>' --arg='dense<-1> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: assertion failed in main: the step of scf.for is not positive

// Between ops of Weft's with effects, whose order tokens say.
// RUN: not weft-run %t/mixed.mlir --arg='iota : tensor<3xf32>' --arg='dense<1.0> : tensor<f32>' 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: weft-run %t/mixed.mlir --arg='iota : tensor<4xf32>' --arg='dense<1.0> : tensor<f32>' --print | FileCheck %s --check-prefix=MIXED-FITS
// MIXED: first
// MIXED-NEXT: mixed.mlir:6: error: tensor.cast: the size along axis 0 is 3, but the result's type says 4
// MIXED-FITS: [0, 1, 2, 3]

// Ops that stand for others.
// RUN: weft-run %t/softmax.mlir --from=linalg --arg='dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>' --print | FileCheck %s --check-prefix=SOFTMAX
// RUN: weft-run %t/gather.mlir --from=linalg --arg='iota : tensor<4x4xf32>' --arg='dense<[[2], [0]]> : tensor<2x1xi64>' --print | FileCheck %s --check-prefix=GATHER
// RUN: not weft-run %t/gather.mlir --from=linalg --arg='iota : tensor<4x4xf32>' --arg='dense<[[2], [-1]]> : tensor<2x1xi64>' 2>&1 | FileCheck %s --check-prefix=GATHER-OUTSIDE
// RUN: weft-run %t/resource.mlir --from=linalg --arg='dense<1.0> : tensor<4xf32>' --print | FileCheck %s --check-prefix=RESOURCE
// SOFTMAX: [0.5, 0.5],
// SOFTMAX-NEXT: [0.5, 0.5]
// GATHER: [8, 9, 10, 11],
// GATHER-NEXT: [0, 1, 2, 3]
// GATHER-OUTSIDE: error: tensor.extract: index -1 is out of range for an axis of size 4
// RESOURCE: [2, 3, 4, 5]

//--- cast.mlir
func.func @main(%a: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- sizes.mlir
#m = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
//--- divide.mlir
func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.div ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
//--- scalar.mlir
func.func @main(%b: tensor<i64>) -> tensor<i64> {
  %c7 = arith.constant 7 : i64
  %d = tensor.extract %b[] : tensor<i64>
  %q = arith.remui %c7, %d : i64
  %r = tensor.from_elements %q : tensor<i64>
  return %r : tensor<i64>
}
//--- rows.mlir
func.func @main(%x: tensor<?x3xf32>, %i: tensor<3xi64>) -> tensor<3x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%number: i64, %o: f32):
    %row = arith.index_cast %number : i64 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<?x3xf32>
    linalg.yield %v : f32
  } -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
//--- slice.mlir
func.func @main(%x: tensor<?xf32>, %at: tensor<3xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.extract %at[%c0] : tensor<3xi64>
  %1 = tensor.extract %at[%c1] : tensor<3xi64>
  %2 = tensor.extract %at[%c2] : tensor<3xi64>
  %offset = arith.index_cast %0 : i64 to index
  %size = arith.index_cast %1 : i64 to index
  %stride = arith.index_cast %2 : i64 to index
  %r = tensor.extract_slice %x[%offset] [%size] [%stride] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
//--- expand.mlir
func.func @main(%x: tensor<?xf32>, %to: tensor<2xi64>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.extract %to[%c0] : tensor<2xi64>
  %1 = tensor.extract %to[%c1] : tensor<2xi64>
  %n = arith.index_cast %0 : i64 to index
  %m = arith.index_cast %1 : i64 to index
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
//--- loop.mlir
func.func @main(%x: tensor<4xf32>, %by: tensor<i64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %number = tensor.extract %by[] : tensor<i64>
  %step = arith.index_cast %number : i64 to index
  %r = scf.for %i = %c0 to %c4 step %step iter_args(%y = %x) -> tensor<4xf32> {
    %v = tensor.extract %y[%i] : tensor<4xf32>
    %z = tensor.insert %v into %y[%i] : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
//--- mixed.mlir
weft.variable @n = dense<0.0> : tensor<f32>
func.func @main(%x: tensor<?xf32>, %one: tensor<f32>) -> tensor<4xf32> {
  %n = weft.handle @n : !weft.var<tensor<f32>>
  weft.assign_add %n, %one : tensor<f32>
  weft.print "first"
  %r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  weft.print "second"
  return %r : tensor<4xf32>
}
//--- softmax.mlir
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
//--- gather.mlir
func.func @main(%a: tensor<4x4xf32>, %i: tensor<2x1xi64>) -> tensor<2x4xf32> {
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
//--- resource.mlir
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense_resource<w> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%a, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
