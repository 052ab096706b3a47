// A written result type may know more of the sizes than follows from the operands: then the sizes are
// compared at run time, and from there on those of the type hold.
// RUN: not weft-run %s --entry=joined --arg='iota : tensor<3xf32>' --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=JOINED
// RUN: weft-run %s --entry=joined --arg='iota : tensor<3xf32>' --arg='iota : tensor<1xf32>' --print | FileCheck %s --check-prefix=FITS
// RUN: not weft-run %s --entry=unary --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=UNARY
// RUN: not weft-run %s --entry=repeated --arg='iota : tensor<3xf32>' --arg='dense<2> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=REPEATED
// RUN: not weft-run %s --entry=known_count --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=REPEATED
// RUN: not weft-run %s --entry=known_length --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: weft-run %s --entry=not_taken --arg='iota : tensor<3xf32>' --arg='dense<false> : tensor<i1>' --print | FileCheck %s --check-prefix=NOTTAKEN
// RUN: not weft-run %s --entry=not_taken --arg='iota : tensor<3xf32>' --arg='dense<true> : tensor<i1>' --print 2>&1 | FileCheck %s --check-prefix=REPEATED
// RUN: not weft-run %s --entry=twice_negated --arg='iota : tensor<3xf32>' 2>&1 | FileCheck %s --check-prefix=NEGATED
// RUN: not weft-run %s --entry=twice_transposed --arg='iota : tensor<2x3xf32>' 2>&1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: weft-run %s --entry=one --arg='iota : tensor<2x3xf32>' --arg='iota : tensor<3xf32>' --arg='dense<1> : tensor<i64>' --print | FileCheck %s --check-prefix=ONE
// RUN: weft-run %s --entry=last --arg='iota : tensor<5xf32>' --print | FileCheck %s --check-prefix=LAST
// RUN: not weft-run %s --entry=becomes_1 --arg='iota : tensor<2x3xf32>' --arg='iota : tensor<2xf32>' 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not weft-run %s --entry=is_1 --arg='iota : tensor<2x3xf32>' --arg='iota : tensor<2xf32>' --arg='dense<1> : tensor<i64>' 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not weft-run %s --entry=batches --arg='iota : tensor<3x2x2xf32>' --arg='iota : tensor<1x2x2xf32>' 2>&1 | FileCheck %s --check-prefix=BATCHES

// The sum of unknown sizes is not what the type says.
// JOINED: error: {{.*}}concatenate: axis 0 of the result has size 6, but its type says 4
// FITS: tensor([0, 1, 2, 0], shape=(4,), dtype=f32)
func.func @joined(%s: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<4xf32> {
  %0 = weft.concatenate %s, %t {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An op of one operand is no broadcast.
// UNARY: error: {{.*}}exp: axis 0 of the result has size 3, but its type says 4
func.func @unary(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = "weft.exp"(%x) : (tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// REPEATED: error: {{.*}}broadcast: axis 0 of the result has size 2, but its type says 4
func.func @repeated(%s: tensor<3xf32>, %n: tensor<i64>) -> tensor<4x3xf32> {
  %0 = weft.broadcast %s to [%n, 3] : (tensor<3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// The same of a count that is known: an error if the program comes to it, not one of the compiler.
func.func @known_count(%s: tensor<3xf32>) -> tensor<4x3xf32> {
  %n = weft.constant dense<2> : tensor<i64>
  %0 = weft.broadcast %s to [%n, 3] : (tensor<3xf32>) -> tensor<4x3xf32>
  %1 = weft.exp %0 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// LENGTH: error: {{.*}}slice: axis 0 of the result has size 2, but its type says 4
func.func @known_length(%s: tensor<3xf32>) -> tensor<4xf32> {
  %n = weft.constant dense<2> : tensor<i64>
  %0 = weft.slice %s from [0] to [%n] : (tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A check stays in the branch that it is in.
// NOTTAKEN: [0, 1, 2]], shape=(4, 3), dtype=f32)
func.func @not_taken(%s: tensor<3xf32>, %p: tensor<i1>) -> tensor<4x3xf32> {
  %n = weft.constant dense<2> : tensor<i64>
  %c = weft.item %p : tensor<i1>
  %0 = scf.if %c -> tensor<4x3xf32> {
    %1 = weft.broadcast %s to [%n, 3] : (tensor<3xf32>) -> tensor<4x3xf32>
    scf.yield %1 : tensor<4x3xf32>
  } else {
    %1 = weft.broadcast %s to [4, 3] : (tensor<3xf32>) -> tensor<4x3xf32>
    scf.yield %1 : tensor<4x3xf32>
  }
  return %0 : tensor<4x3xf32>
}

// What simplification drops must not take a check with it.
// NEGATED: error: {{.*}}negate: axis 0 of the result has size 3, but its type says 4
func.func @twice_negated(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "weft.negate"(%x) : (tensor<?xf32>) -> tensor<4xf32>
  %1 = "weft.negate"(%0) : (tensor<4xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// TRANSPOSED: error: {{.*}}transpose: axis 0 of the result has size 3, but its type says 4
func.func @twice_transposed(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = weft.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<4x?xf32>
  %1 = weft.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// An axis whose written size is 1 stretches.
// ONE: tensor({{\[\[}}0, 0, 0],
// ONE-NEXT: [3, 3, 3]], shape=(2, 3), dtype=f32)
func.func @one(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %one: tensor<i64>) -> tensor<2x3xf32> {
  %0 = weft.broadcast %s to [%one, 3] : (tensor<3xf32>) -> tensor<1x3xf32>
  %1 = weft.subtract %x, %0 : tensor<2x3xf32>, tensor<1x3xf32>
  return %1 : tensor<2x3xf32>
}

// The last element of five, as one whose type says that it is one.
// LAST: tensor([4, 1], shape=(2,), dtype=f32)
func.func @last(%x: tensor<?xf32>) -> tensor<2xf32> {
  %0 = weft.slice %x from [4] to [-1] : (tensor<?xf32>) -> tensor<1xf32>
  %1 = weft.constant dense<1.0> : tensor<1xf32>
  %2 = weft.concatenate %0, %1 {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// A size that is unknown never stretches, whether the compiler finds out that it is 1 or not.
// NEVER: error: {{.*}}subtract: the shapes do not broadcast: 3 meets 1 in axis 1 of the result; an unknown size never stretches
func.func @becomes_1(%x: tensor<2x3xf32>, %s: tensor<2xf32>) -> tensor<2x3xf32> {
  %one = weft.constant dense<1> : tensor<i64>
  %0 = weft.broadcast %s to [%one, 2] : (tensor<2xf32>) -> tensor<?x2xf32>
  %1 = weft.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %2 = weft.subtract %x, %1 : tensor<2x3xf32>, tensor<2x?xf32>
  return %2 : tensor<2x3xf32>
}
func.func @is_1(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %one: tensor<i64>) -> tensor<2x3xf32> {
  %0 = weft.broadcast %s to [%one, 2] : (tensor<2xf32>) -> tensor<?x2xf32>
  %1 = weft.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %2 = weft.subtract %x, %1 : tensor<2x3xf32>, tensor<2x?xf32>
  return %2 : tensor<2x3xf32>
}

// BATCHES: error: {{.*}}matmul: the batch dimensions do not broadcast: lhs is {{.*}} and rhs is {{.*}}; an unknown size never stretches
func.func @batches(%x: tensor<3x2x2xf32>, %y: tensor<?x2x2xf32>) -> tensor<3x2x2xf32> {
  %0 = weft.matmul %x, %y : (tensor<3x2x2xf32>, tensor<?x2x2xf32>) -> tensor<3x2x2xf32>
  return %0 : tensor<3x2x2xf32>
}
