// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | weft-opt | FileCheck %s

func.func private @f(%x: tensor<3xf32>, %n: tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>) {
  %0 = weft.sum %x {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %0, %n : tensor<f32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @derivatives
func.func @derivatives(%x: tensor<3xf32>, %n: tensor<2xi32>, %dx: tensor<3xf32>, %dy: tensor<f32>) {
  // CHECK: weft.gradient @f(%{{.*}}, %{{.*}}) wrt [0] : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  %0:3 = weft.gradient @f(%x, %n) wrt [0]
      : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  // CHECK: weft.vjp @f(%{{.*}}, %{{.*}}) cotangents(%{{.*}}) wrt [0] {note = "kept"} : (tensor<3xf32>, tensor<2xi32>, tensor<f32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  %1:3 = weft.vjp @f(%x, %n) cotangents(%dy) wrt [0] {note = "kept"}
      : (tensor<3xf32>, tensor<2xi32>, tensor<f32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  // CHECK: weft.jvp @f(%{{.*}}, %{{.*}}) tangents(%{{.*}}) wrt [0] : (tensor<3xf32>, tensor<2xi32>, tensor<3xf32>) -> (tensor<f32>, tensor<2xi32>, tensor<f32>)
  %2:3 = weft.jvp @f(%x, %n) tangents(%dx) wrt [0]
      : (tensor<3xf32>, tensor<2xi32>, tensor<3xf32>) -> (tensor<f32>, tensor<2xi32>, tensor<f32>)
  // CHECK: weft.gradient @f(%{{.*}}, %{{.*}}) wrt [0] {checkpoint = "sqrt"} : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  %4:3 = weft.gradient @f(%x, %n) wrt [0] {checkpoint = "sqrt"}
      : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, tensor<3xf32>)
  // CHECK: weft.gradient @f(%{{.*}}, %{{.*}}) wrt [] : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>)
  %3:2 = weft.gradient @f(%x, %n) wrt []
      : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>)
  return
}

// CHECK-LABEL: func.func @in_two_parts
func.func @in_two_parts(%x: tensor<3xf32>, %n: tensor<2xi32>, %dy: tensor<f32>) -> tensor<3xf32> {
  // CHECK: %{{.*}}, %[[RECORD:.*]] = weft.record @f(%{{.*}}, %{{.*}}) wrt [0] : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, !weft.record)
  %values:2, %record = weft.record @f(%x, %n) wrt [0]
      : (tensor<3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>, !weft.record)
  // CHECK: weft.pull %[[RECORD]](%{{.*}}) : (tensor<f32>) -> tensor<3xf32>
  %0 = weft.pull %record(%dy) : (tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func private @pull(%dy: tensor<3xf32>, %x: tensor<3xf32>) -> tensor<3xf32>
func.func private @nothing(%dy: tensor<3xf32>)

// CHECK-LABEL: func.func @of_ones_own
func.func @of_ones_own(%x: tensor<3xf32>, %n: tensor<i32>) {
  // CHECK: weft.custom_gradient(%{{.*}}, %{{.*}}) of(%{{.*}}) by @pull(%{{.*}}) : (tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)
  %0:2 = weft.custom_gradient(%x, %n) of(%x) by @pull(%x)
      : (tensor<3xf32>, tensor<i32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)
  // CHECK: weft.custom_gradient(%{{.*}}) of() by @nothing() : (tensor<3xf32>) -> tensor<3xf32>
  %1 = weft.custom_gradient(%x) of() by @nothing() : (tensor<3xf32>) -> tensor<3xf32>
  return
}
