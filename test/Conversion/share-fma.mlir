// RUN: weft-opt %s -weft-share-fma | FileCheck %s

// Each type of vector has one function, which is not inlined again; scalars stay as they are.
// CHECK-DAG: llvm.func internal @weft.fma_4xf32(%{{.*}}: vector<4xf32>, %{{.*}}: vector<4xf32>, %{{.*}}: vector<4xf32>) -> vector<4xf32> attributes {no_inline}
// CHECK-DAG: llvm.func internal @weft.fma_4xf64
// CHECK-LABEL: llvm.func @f(
// CHECK-NOT:     llvm.intr.fma
// CHECK:         %[[ONCE:.*]] = llvm.call @weft.fma_4xf32(%[[A:.*]], %[[B:.*]], %[[C:.*]]) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK:         llvm.call @weft.fma_4xf32(%[[ONCE]], %[[B]], %[[C]])
// CHECK:         llvm.call @weft.fma_4xf64
// CHECK:         llvm.intr.fma(%{{.*}}) : (f32, f32, f32) -> f32
llvm.func @f(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>, %d: vector<4xf64>, %s: f32) -> f32 {
  %0 = llvm.intr.fma(%a, %b, %c) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %1 = llvm.intr.fma(%0, %b, %c) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %2 = llvm.intr.fma(%d, %d, %d) : (vector<4xf64>, vector<4xf64>, vector<4xf64>) -> vector<4xf64>
  %3 = llvm.intr.fma(%s, %s, %s) : (f32, f32, f32) -> f32
  llvm.return %3 : f32
}
