// The op widen: its text, what folds, and what it refuses.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: weft-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @text
// FOLD-LABEL: func @text
func.func @text(%x: tensor<2x3xf32>) -> tensor<?x3xf32> {
  // CHECK: weft.widen %{{.*}} : tensor<2x3xf32> to tensor<?x3xf32>
  // FOLD: weft.widen %{{.*}} : tensor<2x3xf32> to tensor<?x3xf32>
  %0 = weft.widen %x : tensor<2x3xf32> to tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// Two steps are one, and none is nothing.
// FOLD-LABEL: func @fold
// FOLD-SAME: %[[X:[^ ]*]]: tensor<2x3xf32>
// FOLD-NEXT: %[[Y:.*]] = weft.widen %[[X]] : tensor<2x3xf32> to tensor<?x?xf32>
// FOLD-NEXT: return %[[Y]], %[[X]]
func.func @fold(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<2x3xf32>) {
  %0 = weft.widen %x : tensor<2x3xf32> to tensor<?x3xf32>
  %1 = weft.widen %0 : tensor<?x3xf32> to tensor<?x?xf32>
  %2 = weft.widen %x : tensor<2x3xf32> to tensor<2x3xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<2x3xf32>
}

// It hides what may become known of its operand later.
// FOLD-LABEL: func @unknown
// FOLD: weft.widen %{{.*}} : tensor<?xf32> to tensor<?xf32>
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = weft.widen %x : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A loop whose state changes its size stays as it is: tensor.cast would be moved into it.
// FOLD-LABEL: func @loop
// FOLD: scf.for {{.*}} -> (tensor<?xf32>)
func.func @loop(%n: index, %x: tensor<2xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = weft.widen %x : tensor<2xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> tensor<?xf32> {
    %1 = weft.concatenate %a, %a {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Sizes are forgotten, not learned.
func.func @narrower(%x: tensor<?xf32>) -> tensor<2xf32> {
  // expected-error @below {{the result must be the operand's type with fewer sizes known, but 'tensor<?xf32>' becomes 'tensor<2xf32>'}}
  %0 = weft.widen %x : tensor<?xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The dtype stays.
func.func @dtype(%x: tensor<2xf32>) -> tensor<?xi32> {
  // expected-error @below {{the result must be the operand's type with fewer sizes known, but 'tensor<2xf32>' becomes 'tensor<?xi32>'}}
  %0 = weft.widen %x : tensor<2xf32> to tensor<?xi32>
  return %0 : tensor<?xi32>
}
