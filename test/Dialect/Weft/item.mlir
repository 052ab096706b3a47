// The op item: its text, that of a constant it is a constant, and what it says of tensors with axes.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | weft-opt --split-input-file | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// The result is the element, of the element's type.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%p: tensor<i1>, %n: tensor<i64>, %x: tensor<f32>) -> (i1, i64, f32) {
  // CHECK: weft.item %{{.*}} : tensor<i1>
  %0 = weft.item %p : tensor<i1>
  // CHECK: weft.item %{{.*}} : tensor<i64>
  %1 = weft.item %n : tensor<i64>
  // CHECK: weft.item %{{.*}} : tensor<f32>
  %2 = weft.item %x : tensor<f32>
  return %0, %1, %2 : i1, i64, f32
}

// -----

// The element of a constant is known, whatever its dtype.
// FOLD-LABEL: func.func @constants
func.func @constants() -> (i1, i32, i64, f32, f64) {
  // FOLD-DAG: %[[P:.*]] = arith.constant true
  %p = weft.constant dense<true> : tensor<i1>
  // FOLD-DAG: %[[N:.*]] = arith.constant -7 : i32
  %n = weft.constant dense<-7> : tensor<i32>
  // FOLD-DAG: %[[M:.*]] = arith.constant 5000000000 : i64
  %m = weft.constant dense<5000000000> : tensor<i64>
  // FOLD-DAG: %[[X:.*]] = arith.constant 0x7FC00000 : f32
  %x = weft.constant dense<0x7FC00000> : tensor<f32>
  // FOLD-DAG: %[[Y:.*]] = arith.constant -0.000000e+00 : f64
  %y = weft.constant dense<-0.0> : tensor<f64>
  %0 = weft.item %p : tensor<i1>
  %1 = weft.item %n : tensor<i32>
  %2 = weft.item %m : tensor<i64>
  %3 = weft.item %x : tensor<f32>
  %4 = weft.item %y : tensor<f64>
  // FOLD: return %[[P]], %[[N]], %[[M]], %[[X]], %[[Y]]
  return %0, %1, %2, %3, %4 : i1, i32, i64, f32, f64
}

// -----

// So an scf.if whose condition is a constant is one of its branches.
// FOLD-LABEL: func.func @branch
// FOLD-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %no = weft.constant dense<false> : tensor<i1>
  %p = weft.item %no : tensor<i1>
  // FOLD-NOT: scf.if
  %y = scf.if %p -> tensor<4xf32> {
    %e = weft.exp %x : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  // FOLD: return %[[X]]
  return %y : tensor<4xf32>
}

// -----

// Of several elements none is the element.
func.func @rank(%x: tensor<1xf32>) {
  // expected-error @below {{'weft.item' op x must be a scalar tensor, but is 'tensor<1xf32>'}}
  %0 = weft.item %x : tensor<1xf32>
  return
}

// -----

// There is no tensor of the library with these elements.
func.func @no_dtype(%x: tensor<f80>) {
  // expected-error @below {{custom op 'weft.item' 'x' must be ranked tensor of a dtype, but got 'tensor<f80>'}}
  %0 = weft.item %x : tensor<f80>
  return
}

// -----

// The element is not converted on its way out.
func.func @result(%x: tensor<f32>) {
  // expected-error @below {{'weft.item' op failed to verify that the result is the operand's element}}
  %0 = "weft.item"(%x) : (tensor<f32>) -> f64
  return
}
