// Values that are known to lie beside their stack.
// RUN: weft-opt %s --split-input-file --weft-to-linalg --verify-diagnostics

func.func @stored(%x: tensor<f64>) -> tensor<?xf64> {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %0 = weft.stack_empty(%c2) : tensor<?xf64>
  // expected-error @below {{'weft.stack_store' op needs 1 place from 4 on, of a stack that has places 0 to below 2}}
  %1 = weft.stack_store %x in %0[%c4] : tensor<f64> in tensor<?xf64>
  return %1 : tensor<?xf64>
}

// -----

func.func @before_the_first(%s: tensor<2x3xf64>) -> tensor<3xf64> {
  %minus = arith.constant -1 : index
  // expected-error @below {{'weft.stack_load' op needs 1 place from -1 on, of a stack that has places 0 to below 2}}
  %0 = weft.stack_load %s[%minus] : tensor<2x3xf64> to tensor<3xf64>
  return %0 : tensor<3xf64>
}

// -----

// Loops carry stacks as they are.
func.func @added_in_a_loop(%x: tensor<f64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %empty = weft.stack_empty(%c2) : tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %empty) -> tensor<?xf64> {
    %0 = weft.stack_store %x in %p[%c1] {again} : tensor<f64> in tensor<?xf64>
    // expected-error @below {{'weft.stack_add' op needs 1 place from 2 on, of a stack that has places 0 to below 2}}
    %1 = weft.stack_add %x to %0[%c2] : tensor<f64> to tensor<?xf64>
    scf.yield %1 : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----

func.func @behind_each_other(%x: tensor<?x4xf64>, %n: index) -> tensor<?x4xf64> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c12 = arith.constant 12 : index
  %0 = weft.stack_empty(%c12) : tensor<?xf64>
  %1 = weft.stack_store %x in %0[%c1] : tensor<?x4xf64> in tensor<?xf64>
  // expected-error @below {{'weft.stack_load' op needs 12 places from 1 on, of a stack that has places 0 to below 12}}
  %2 = weft.stack_load %1[%c1] sizes(%c3) : tensor<?xf64> to tensor<?x4xf64>
  return %2 : tensor<?x4xf64>
}

// -----

// What a branch leaves has the larger room of both.
func.func @of_branches(%x: tensor<f64>, %which: i1) -> tensor<f64> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %one = weft.stack_empty(%c1) : tensor<?xf64>
  %three = weft.stack_empty(%c3) : tensor<?xf64>
  %r = scf.if %which -> tensor<?xf64> {
    scf.yield %one : tensor<?xf64>
  } else {
    scf.yield %three : tensor<?xf64>
  }
  %0 = weft.stack_store %x in %r[%c2] : tensor<f64> in tensor<?xf64>
  // expected-error @below {{'weft.stack_load' op needs 1 place from 3 on, of a stack that has places 0 to below 3}}
  %1 = weft.stack_load %0[%c3] : tensor<?xf64> to tensor<f64>
  return %1 : tensor<f64>
}

// -----

// A stack that grows has places that nobody knows, and one that is given too.
func.func @unknown(%x: tensor<f64>, %given: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = weft.stack_empty(%c1) : tensor<?xf64>
  %1 = weft.stack_reserve %0 for %n : tensor<?xf64>
  %2 = weft.stack_store %x in %1[%c4] : tensor<f64> in tensor<?xf64>
  %3 = weft.stack_store %x in %given[%c4] : tensor<f64> in tensor<?xf64>
  return %2, %3 : tensor<?xf64>, tensor<?xf64>
}
