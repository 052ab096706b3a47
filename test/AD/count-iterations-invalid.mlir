// A step that is known not to be positive is an error before anything runs.
// RUN: weft-opt %s --weft-count-iterations --verify-diagnostics

func.func @none(%low: index, %high: index) {
  %n = weft.constant dense<0> : tensor<i64>
  %0 = weft.item %n : tensor<i64>
  %step = arith.index_cast %0 : i64 to index
  // expected-error @below {{'scf.for' op has a step that is not positive}}
  scf.for %i = %low to %high step %step {
  }
  return
}
