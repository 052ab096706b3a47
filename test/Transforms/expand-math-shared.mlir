// With share-from, a function of scalars that a module has often enough has its formula once.
// RUN: weft-opt %s --weft-expand-math=share-from=3 --canonicalize | FileCheck %s
// RUN: weft-opt %s --weft-expand-math=share-from=4 --canonicalize | FileCheck %s --check-prefix=FEW
// RUN: weft-opt %s --weft-expand-math=share-from=1 --canonicalize | FileCheck %s --check-prefix=VECTORS

// The formula of most special functions is of f64: that of f32 is the same function, rounded.
// CHECK-LABEL: func.func @of_both_formats
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: %[[Y:.*]] = call @[[NDTRI:weft.special[_0-9]*]](%[[WIDE]]) : (vector<4xf64>) -> vector<4xf64>
// CHECK: arith.truncf %[[Y]] : vector<4xf64> to vector<4xf32>
// CHECK: call @[[NDTRI]](
// CHECK-NOT: call
// CHECK: return
func.func @of_both_formats(%x: vector<4xf32>, %y: vector<4xf64>, %z: f32) -> (vector<4xf32>, vector<4xf64>, f32) {
  %0 = weft.special ndtri(%x) : vector<4xf32>
  %1 = weft.special ndtri(%y) : vector<4xf64>
  %2 = weft.special ndtri(%z) : f32
  return %0, %1, %2 : vector<4xf32>, vector<4xf64>, f32
}

// Some have a formula of f32.
// CHECK-LABEL: func.func @of_f32_alone
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @of_f32_alone(%x: f32, %y: f64) -> (f32, f64) {
  %0 = weft.special erfinv(%x) : f32
  %1 = weft.special erfinv(%y) : f64
  return %0, %1 : f32, f64
}

// Two in one function and one in a loop of another are three.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %[[Y:.*]] = call @weft.exp(%{{.*}}) : (f32) -> f32
// CHECK-NEXT: %[[Z:.*]] = call @weft.exp(%[[Y]]) : (f32) -> f32
// CHECK-NEXT: return %[[Z]]
// FEW-LABEL: func.func @twice
// FEW-NOT: call
func.func @twice(%x: f32) -> f32 {
  %y = math.exp %x : f32
  %z = math.exp %y : f32
  return %z : f32
}
// CHECK-LABEL: func.func @iterations
// CHECK: scf.for
// CHECK-NEXT: call @weft.exp
func.func @iterations(%x: f32, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> f32 {
    %z = math.exp %t : f32
    scf.yield %z : f32
  }
  return %y : f32
}

// Another type is another function, of which there are too few; vectors are computed where they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: call
// CHECK: return
func.func @others(%x: f64, %v: vector<4xf32>) -> (f64, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %y = math.exp %x : f64
  %a = math.exp %v : vector<4xf32>
  %b = math.exp %a : vector<4xf32>
  %c = math.exp %b : vector<4xf32>
  return %y, %a, %b, %c : f64, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// A power by a constant with a short formula is no longer than a call.
// CHECK-LABEL: func.func @cubes
// CHECK-NOT: call
// CHECK: return
func.func @cubes(%x: f32) -> f32 {
  %n = arith.constant 3.0 : f32
  %0 = math.powf %x, %n : f32
  %1 = math.powf %0, %n : f32
  %2 = math.powf %1, %n : f32
  return %2 : f32
}

// Eight vectors count as one scalar.
// CHECK-LABEL: func.func @eight
// CHECK-NOT: call
// CHECK: return
// VECTORS-LABEL: func.func @eight
// VECTORS-COUNT-8: call @[[TANH:weft.tanh[_0-9]*]]({{.*}}) : (vector<4xf64>) -> vector<4xf64>
// VECTORS: func.func private @[[TANH]](
func.func @eight(%x: vector<4xf64>) -> vector<4xf64> {
  %0 = math.tanh %x : vector<4xf64>
  %1 = math.tanh %0 : vector<4xf64>
  %2 = math.tanh %1 : vector<4xf64>
  %3 = math.tanh %2 : vector<4xf64>
  %4 = math.tanh %3 : vector<4xf64>
  %5 = math.tanh %4 : vector<4xf64>
  %6 = math.tanh %5 : vector<4xf64>
  %7 = math.tanh %6 : vector<4xf64>
  return %7 : vector<4xf64>
}

// The shared one is the formula itself.
// CHECK: func.func private @weft.exp(%[[X:.*]]: f32) -> f32 attributes {no_inline}
// CHECK-COUNT-7: math.fma
// CHECK: return
