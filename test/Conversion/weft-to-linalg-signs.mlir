// Integers lose their signs in the conversion, also in regions and constants; what depends on them is told by the ops that it
// becomes. Ops without kernels for a dtype are done in a larger one.
// RUN: weft-opt %s --split-input-file -weft-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %{{.*}}: tensor<4xi8>, %{{.*}}: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi1>, tensor<4xf32>, tensor<4xi16>)
// CHECK-SAME: weft.elements = [ui8, f32], weft.result_elements = [ui8, i1, f32, ui16]
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
// CHECK: arith.uitofp
// CHECK: arith.fptosi %{{.*}} : f32 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i16
func.func @elementwise(%x: tensor<4xui8>, %f: tensor<4xf32>) -> (tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<4xui16>) {
  %c = weft.constant dense<[1, 2, 3, 255]> : tensor<4xui8>
  %0 = weft.maximum %x, %c : tensor<4xui8>
  %1 = weft.less %x, %c : tensor<4xui8>
  %2 = weft.cast %x to f32 : tensor<4xui8>
  %3 = weft.cast %f to ui16 : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<4xui16>
}

// -----

// CHECK-LABEL: func.func @signed
// CHECK: arith.maxsi
func.func @signed(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = weft.maximum %x, %x : tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} -> (tensor<4xi32>)
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
func.func @loop(%x: tensor<4xui32>, %n: index) -> tensor<4xui32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<4xui32>) {
    %1 = weft.add %y, %x : tensor<4xui32>
    scf.yield %1 : tensor<4xui32>
  }
  return %0 : tensor<4xui32>
}

// -----

// CHECK-LABEL: func.func @reduction
// CHECK: arith.constant 0 : i16
// CHECK: arith.maxui
func.func @reduction(%x: tensor<4x5xui16>) -> tensor<4xui16> {
  %0 = weft.max %x {axes = array<i64: 1>} : (tensor<4x5xui16>) -> tensor<4xui16>
  return %0 : tensor<4xui16>
}

// -----

// CHECK-LABEL: func.func @widened
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: linalg.contract {{.*}}tensor<3x3xi32>
// CHECK: arith.trunci {{.*}} : i32 to i8
func.func @widened(%x: tensor<3x3xui8>) -> tensor<3x3xui8> {
  %0 = weft.matmul %x, %x : (tensor<3x3xui8>, tensor<3x3xui8>) -> tensor<3x3xui8>
  return %0 : tensor<3x3xui8>
}

// -----

// Half of the range is taken off, so that the order is that of numbers with a sign.
// CHECK-LABEL: func.func @sorted
// CHECK: arith.constant dense<-9223372036854775808> : tensor<i64>
// CHECK: weft.call_into "sort"
func.func @sorted(%x: tensor<9xui64>) -> tensor<9xui64> {
  %0 = weft.sort %x {axis = 0 : i64} : (tensor<9xui64>) -> tensor<9xui64>
  return %0 : tensor<9xui64>
}

// -----

// CHECK-LABEL: func.func @shown
// CHECK: weft.print "{} {}", %{{.*}}, %{{.*}} {weft.elements = [i8, ui8]}
func.func @shown(%x: tensor<2xi8>, %y: tensor<2xui8>) {
  weft.print "{} {}", %x, %y : tensor<2xi8>, tensor<2xui8>
  return
}
