// The pass leaves no function that would need a library, on scalars and vectors of every float type.
// RUN: weft-opt %s --weft-expand-math --canonicalize \
// RUN:   | FileCheck %s --implicit-check-not='math.{{exp|log|tanh|erf|sin|cos|pow|rsqrt}}' --implicit-check-not=fastmath
// RUN: weft-opt %s --weft-expand-math=expand-remainder=true | FileCheck %s --check-prefix=LOOP
// RUN: weft-opt %s --weft-expand-math=tables=false | FileCheck %s --check-prefix=POLYNOMIALS
// RUN: weft-opt %s --weft-expand-math=permute-bytes=32 | FileCheck %s --check-prefix=AVX2
// RUN: weft-opt %s --weft-expand-math=permute-bytes=64 | FileCheck %s --check-prefix=AVX512

// CHECK-LABEL: func @exp
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @exp(%x: f32) -> f32 {
  // The integer next to x / ln 2, by the shifter 1.5 * 2^23.
  // CHECK-DAG: %[[SHIFTER:.*]] = arith.constant 0x4B400000 : f32
  // CHECK: %[[N:.*]] = math.fma %{{.*}}, %{{.*}}, %[[SHIFTER]] : f32
  // CHECK: arith.bitcast %[[N]] : f32 to i32
  // CHECK-COUNT-7: math.fma
  // Two steps, so that 2^n may overflow or underflow only together with the result.
  // CHECK: arith.shrsi
  // CHECK: %[[P:.*]] = arith.mulf
  // CHECK: %[[Y:.*]] = arith.mulf %[[P]]
  // CHECK-NEXT: return %[[Y]]
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func @exp_vector
// CHECK: arith.constant dense<{{.*}}> : vector<2x8xf64>
// CHECK: math.fma %{{.*}} : vector<2x8xf64>
func.func @exp_vector(%x: vector<2x8xf64>) -> vector<2x8xf64> {
  %y = math.exp %x : vector<2x8xf64>
  return %y : vector<2x8xf64>
}

// A narrow float is computed in f32 and rounded once.
// CHECK-LABEL: func @exp_f16
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: return %[[Y]]
func.func @exp_f16(%x: f16) -> f16 {
  %y = math.exp %x : f16
  return %y : f16
}

// CHECK-LABEL: func @expm1_bf16
// CHECK: arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @expm1_bf16(%x: vector<4xbf16>) -> vector<4xbf16> {
  %y = math.expm1 %x : vector<4xbf16>
  return %y : vector<4xbf16>
}

// CHECK-LABEL: func @exp2
// CHECK: math.fma
func.func @exp2(%x: f32) -> f32 {
  %y = math.exp2 %x : f32
  return %y : f32
}

// In f32 the logarithm divides nothing; in f64 once.
// CHECK-LABEL: func @log(
// CHECK-NOT: arith.divf
// CHECK: return
func.func @log(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// CHECK-LABEL: func @log_f64
// CHECK-COUNT-1: arith.divf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @log_f64(%x: f64) -> f64 {
  %y = math.log %x : f64
  return %y : f64
}

// CHECK-LABEL: func @other_logarithms
// CHECK: math.fma
func.func @other_logarithms(%x: f32) -> (f32, f32, f32) {
  %0 = math.log1p %x : f32
  %1 = math.log2 %x : f32
  %2 = math.log10 %x : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func @tanh
// CHECK: math.copysign
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// CHECK-LABEL: func @erf(
// CHECK-COUNT-49: arith.select
// CHECK: math.copysign
func.func @erf(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// Without tables both polynomials are computed, and one choice is made.
// POLYNOMIALS-LABEL: func @erf(
// POLYNOMIALS-COUNT-2: arith.select
// POLYNOMIALS-NOT: arith.select
// POLYNOMIALS: math.copysign

// A table of eight is one permutation for as many lanes as the target permutes, also for a scalar.
// AVX2-LABEL: func @erf(
// AVX2: vector.broadcast %{{.*}} : i32 to vector<8xi32>
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.permps"(%{{.*}}, %{{.*}}) : (vector<8xf32>, vector<8xi32>) -> vector<8xf32>
// AVX2-LABEL: func @erf_vectors
// AVX2: vector.shuffle %{{.*}}, %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xi32>, vector<16xi32>
// AVX512-LABEL: func @erf_vectors
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// AVX512: vector.shape_cast %{{.*}} : vector<2x3xi32> to vector<6xi32>
// AVX512: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 0, 0]
// AVX512: llvm.call_intrinsic "llvm.x86.avx2.permps"
func.func @erf_vectors(%x: vector<16xf32>, %y: vector<2x3xf32>) -> (vector<16xf32>, vector<2x3xf32>) {
  %0 = math.erf %x : vector<16xf32>
  %1 = math.erf %y : vector<2x3xf32>
  return %0, %1 : vector<16xf32>, vector<2x3xf32>
}

// A branch skips the long reduction unless a lane needs it; an f32 is computed in f64.
// CHECK-LABEL: func @sin
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK: scf.if %[[ANY]] -> (vector<8xf64>, vector<8xi64>)
// CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
func.func @sin(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// All lanes of a vector with several dimensions are asked at once.
// CHECK-LABEL: func @cos_matrix
// CHECK: vector.shape_cast %{{.*}} : vector<2x4xi1> to vector<8xi1>
// CHECK: scf.if %{{.*}} -> (vector<2x4xf64>, vector<2x4xi64>, vector<2x4xf64>)
func.func @cos_matrix(%x: vector<2x4xf64>) -> vector<2x4xf64> {
  %y = math.cos %x : vector<2x4xf64>
  return %y : vector<2x4xf64>
}

// How many lanes a scalable vector has is not known, so it takes the long way always.
// CHECK-LABEL: func @sin_scalable
// CHECK-NOT: scf.if
// CHECK: return
func.func @sin_scalable(%x: vector<[4]xf64>) -> vector<[4]xf64> {
  %y = math.sin %x : vector<[4]xf64>
  return %y : vector<[4]xf64>
}

// Both functions share one reduction.
// CHECK-LABEL: func @sincos
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @sincos(%x: f64) -> (f64, f64) {
  %s, %c = math.sincos %x : f64
  return %s, %c : f64, f64
}

// CHECK-LABEL: func @pow
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @pow(%x: f32, %y: f32) -> f32 {
  %z = math.powf %x, %y : f32
  return %z : f32
}

// Which formula a power has is a matter of the exponent's value: lanes with few exponents take the
// short one, and neither is computed where no lane needs it.
// CHECK-LABEL: func @pow_lanes
// CHECK: %[[SHORT:.*]] = vector.reduction <or>
// CHECK: %[[LONG:.*]] = vector.reduction <or>
// CHECK: scf.if %[[LONG]]
// CHECK: scf.if %[[SHORT]]
func.func @pow_lanes(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %z = math.powf %x, %y : vector<16xf32>
  return %z : vector<16xf32>
}

// By a constant there is nothing to choose. In f64 products of f32 have digits to spare.
// CHECK-LABEL: func @cube
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[W]], %[[W]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[S]], %[[W]]
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @cube(%x: vector<8xf32>) -> vector<8xf32> {
  %n = arith.constant dense<3.0> : vector<8xf32>
  %y = math.powf %x, %n : vector<8xf32>
  return %y : vector<8xf32>
}

// The square of an f64 is a sum of two, and both are multiplied.
// CHECK-LABEL: func @cube_f64
// CHECK-COUNT-2: math.fma
// CHECK: arith.select
func.func @cube_f64(%x: f64) -> f64 {
  %n = arith.constant 3.0 : f64
  %y = math.powf %x, %n : f64
  return %y : f64
}

// pow(-infinity, 0.5) is infinity, and pow(-0, 0.5) is 0.
// CHECK-LABEL: func @root
// CHECK: %[[R:.*]] = math.sqrt
// CHECK: arith.addf %[[R]]
// CHECK: arith.select
// CHECK-NEXT: return
func.func @root(%x: f32) -> f32 {
  %n = arith.constant 0.5 : f32
  %y = math.powf %x, %n : f32
  return %y : f32
}

// Any other constant needs the logarithm, and no test.
// CHECK-LABEL: func @other_constant
// CHECK-NOT: scf.if
// CHECK: return
func.func @other_constant(%x: f32) -> f32 {
  %n = arith.constant 2.5 : f32
  %y = math.powf %x, %n : f32
  return %y : f32
}

// CHECK-LABEL: func @pow_f64
// CHECK: math.fma %{{.*}} : vector<8xf64>
func.func @pow_f64(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %z = math.powf %x, %y : vector<8xf64>
  return %z : vector<8xf64>
}

// CHECK-LABEL: func @rsqrt
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: arith.divf %[[ONE]], %[[ROOT]]
func.func @rsqrt(%x: f32) -> f32 {
  %y = math.rsqrt %x : f32
  return %y : f32
}

// The remainder is expanded on request only.
// CHECK-LABEL: func @remainder
// CHECK: arith.remf
// LOOP-LABEL: func @remainder
// LOOP-NOT: arith.remf
// LOOP: %[[ANY:.*]] = vector.reduction <or>
// LOOP: scf.if %[[ANY]]
// LOOP: scf.while
// LOOP: vector.reduction <or>
// LOOP: scf.condition
// LOOP: else
// LOOP: arith.divf %{{.*}} : vector<8xf32>
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %z = arith.remf %x, %y : vector<8xf32>
  return %z : vector<8xf32>
}

// Tensors, other float types and what the target does itself are left alone.
// CHECK-LABEL: func @left_alone
// CHECK: math.exp %{{.*}} : tensor<4xf32>
// CHECK: math.log %{{.*}} : f128
// CHECK: math.sqrt
// CHECK: math.floor
func.func @left_alone(%t: tensor<4xf32>, %q: f128, %x: f32) -> (tensor<4xf32>, f128, f32, f32) {
  %0 = math.exp %t : tensor<4xf32>
  %1 = math.log %q : f128
  %2 = math.sqrt %x : f32
  %3 = math.floor %x : f32
  return %0, %1, %2, %3 : tensor<4xf32>, f128, f32, f32
}
