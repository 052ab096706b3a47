// The op lu, which has three results: its text, its types, its derivatives, and what it says of what is no matrix.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-differentiate | FileCheck %s --check-prefix=AD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?x3xf32>, %y: tensor<5x4xf64>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = weft.lu %{{.*}} : (tensor<2x?x3xf32>) -> (tensor<2x?x3xf32>, tensor<2x?xi64>, tensor<2x?xi64>)
  %0:3 = weft.lu %x : (tensor<2x?x3xf32>) -> (tensor<2x?x3xf32>, tensor<2x?xi64>, tensor<2x?xi64>)
  // CHECK: weft.lu %{{.*}} : (tensor<5x4xf64>) -> (tensor<5x4xf64>, tensor<4xi64>, tensor<5xi64>)
  %1:3 = weft.lu %y : (tensor<5x4xf64>) -> (tensor<5x4xf64>, tensor<4xi64>, tensor<5xi64>)
  return
}

// The triangles have a derivative, the numbers of rows have none.
// AD-LABEL: func.func @lu_vjp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[F:.*]], %{{.*}}, %[[P:.*]] = weft.lu %[[X]]
// AD: %[[LEFT:.*]] = weft.triangular_solve %[[F]], %{{.*}} {lower = true, transposed = true, unit_diagonal = true}
// AD: %[[BOTH:.*]] = weft.triangular_solve %[[F]], %{{.*}} : (tensor<3x3xf64>, tensor<3x3xf64>)
// AD: %[[BACK:.*]] = weft.argsort %[[P]]
// AD: %[[DX:.*]] = weft.gather %{{.*}}, %[[BACK]]
// AD: return %[[DX]]
func.func @lu_vjp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.vjp @triangles(%x) cotangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
// AD-LABEL: func.func @lu_jvp(
// AD-SAME: %[[X:[a-z0-9]+]]: tensor<3x3xf64>, %[[D:[a-z0-9]+]]: tensor<3x3xf64>
// AD: %[[F:.*]], %{{.*}}, %[[P:.*]] = weft.lu %[[X]]
// AD: %[[ROWS:.*]] = weft.gather %[[D]], %[[P]]
// AD: weft.triangular_solve %[[F]], %[[ROWS]] {lower = true, unit_diagonal = true}
// AD: weft.matmul
// AD-NEXT: weft.add
// AD: weft.matmul
// AD-NEXT: %[[DY:.*]] = weft.add
// AD-NEXT: return %[[DY]]
func.func @lu_jvp(%x: tensor<3x3xf64>, %d: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:2 = weft.jvp @triangles(%x) tangents(%d) wrt [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return %0#1 : tensor<3x3xf64>
}
func.func @triangles(%x: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %0:3 = weft.lu %x : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi64>, tensor<3xi64>)
  return %0#0 : tensor<3x3xf64>
}

// -----

func.func @vector(%x: tensor<3xf32>) {
  // expected-error @below {{'weft.lu' op x has the shape (3,): a matrix is wanted}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = weft.lu %x : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi64>, tensor<3xi64>)
  return
}

// -----

func.func @results(%x: tensor<3x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<3x3xf32>', 'tensor<3xi64>', 'tensor<3xi64>' are incompatible with return type(s) of operation 'tensor<3x3xf32>', 'tensor<2xi64>', 'tensor<3xi64>'}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = weft.lu %x : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xi64>, tensor<3xi64>)
  return
}
