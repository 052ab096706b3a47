// The op match_shape: its text, what it says of shapes that differ, what is left of it where sizes are known, and the check that it
// becomes where they are not.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics -canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: weft-opt %s --split-input-file --verify-diagnostics -weft-to-linalg -canonicalize | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @match_shape
// CHECK: weft.match_shape %{{.*}}, %{{.*}} : (tensor<2x?xf32>, tensor<?x?xi1>) -> tensor<2x?xf32>
// FOLD-LABEL: func.func @match_shape
// FOLD: weft.match_shape
// Each size that is not known on both sides is compared; the tensor is itself.
// LINALG-LABEL: func.func @match_shape
// LINALG-SAME: %[[X:[a-z0-9]+]]: tensor<2x?xf32>, %[[LIKE:[a-z0-9]+]]: tensor<?x?xi1>
// LINALG: weft.check_sizes %{{.*}}, "match_shape: x has size {} along axis 0, but must have that of like, {}"
// LINALG: weft.check_sizes %{{.*}}, "match_shape: x has size {} along axis 1, but must have that of like, {}"
// LINALG-NEXT: return %[[X]]
func.func @match_shape(%x: tensor<2x?xf32>, %like: tensor<?x?xi1>) -> tensor<2x?xf32> {
  %0 = weft.match_shape %x, %like : (tensor<2x?xf32>, tensor<?x?xi1>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// FOLD-LABEL: func.func @known(
// FOLD-NEXT: return %arg0
func.func @known(%x: tensor<2xf32>, %like: tensor<2xi32>) -> tensor<2xf32> {
  %0 = weft.match_shape %x, %like : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// FOLD-LABEL: func.func @itself(
// FOLD-NEXT: return %arg0
func.func @itself(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.match_shape %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @sizes(%x: tensor<?x1xf32>, %like: tensor<2x3xf32>) {
  // expected-error @below {{'weft.match_shape' op x has shape (?, 1), but must have that of like, (2, 3)}}
  // expected-error @below {{failed to infer returned types}}
  %y = weft.match_shape %x, %like : (tensor<?x1xf32>, tensor<2x3xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @rank(%x: tensor<1xf32>, %like: tensor<1x1xf32>) {
  // expected-error @below {{'weft.match_shape' op x has shape (1,), but must have that of like, (1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %y = weft.match_shape %x, %like : (tensor<1xf32>, tensor<1x1xf32>) -> tensor<1xf32>
  return
}
