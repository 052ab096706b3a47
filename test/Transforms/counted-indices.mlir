// Checks of indices that loops count within the size are gone; all that could fail stay.
// RUN: weft-opt %s --weft-branch-on-checks --split-input-file | FileCheck %s

// The iteration's number, and that of the iteration in reverse.
// CHECK-LABEL: func.func @known_iterations(
// CHECK-NOT: weft.outside
// CHECK: return
func.func @known_iterations() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = arith.index_cast %i : index to i64
    %at = tensor.from_elements %0 : tensor<i64>
    weft.check_indices %at below %c8 for "gather" : tensor<i64>
    %1 = arith.subi %c7, %i : index
    %2 = arith.index_cast %1 : index to i64
    %back = tensor.from_elements %2 : tensor<i64>
    weft.check_indices %back below %c8 for "gather" : tensor<i64>
  }
  return
}

// -----

// As many iterations as a tensor has slices, the number in 32 bits and with another loop's added.
// CHECK-LABEL: func.func @sizes(
// CHECK-NOT: weft.outside
// CHECK: return
func.func @sizes(%x: tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %one = arith.constant 1 : i64
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.index_cast %i : index to i64
    %1 = arith.index_cast %n : index to i64
    %2 = arith.subi %1, %one : i64
    %3 = arith.subi %2, %0 : i64
    %at = tensor.from_elements %3 : tensor<i64>
    weft.check_indices %at below %m for "gather" : tensor<i64>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %0 = arith.muli %i, %c3 : index
      %1 = arith.addi %0, %j : index
      %2 = arith.index_cast %1 : index to i64
      %3 = arith.trunci %2 : i64 to i32
      %at = tensor.from_elements %3 : tensor<i32>
      weft.check_indices %at below %c12 for "gather" : tensor<i32>
    }
  }
  return
}

// -----

// One iteration too many; a bound that may be negative; a size that is another; a sum of 32 bits that wraps; a bound that may
// have wrapped; iterations that are counted without a sign.
// CHECK-LABEL: func.func @may_fail(
// CHECK-COUNT-6: weft.outside
func.func @may_fail(%low: index, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %far = arith.constant 2147483647 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = arith.addi %i, %c1 : index
    %1 = arith.index_cast %0 : index to i64
    %at = tensor.from_elements %1 : tensor<i64>
    weft.check_indices %at below %c8 for "gather" : tensor<i64>
  }
  scf.for %i = %low to %c8 step %c1 {
    %0 = arith.index_cast %i : index to i64
    %at = tensor.from_elements %0 : tensor<i64>
    weft.check_indices %at below %c8 for "gather" : tensor<i64>
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.index_cast %i : index to i64
    %at = tensor.from_elements %0 : tensor<i64>
    weft.check_indices %at below %m for "gather" : tensor<i64>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = arith.index_cast %i : index to i32
    %1 = arith.addi %0, %far : i32
    %2 = arith.extsi %1 : i32 to i64
    %3 = arith.extsi %far : i32 to i64
    %4 = arith.subi %2, %3 : i64
    %at = tensor.from_elements %4 : tensor<i64>
    weft.check_indices %at below %c8 for "gather" : tensor<i64>
  }
  %above = arith.addi %n, %c8 : index
  scf.for %i = %c8 to %above step %c1 {
    %0 = arith.subi %i, %c8 : index
    %1 = arith.index_cast %0 : index to i64
    %at = tensor.from_elements %1 : tensor<i64>
    weft.check_indices %at below %n for "gather" : tensor<i64>
  }
  scf.for unsigned %i = %c0 to %c8 step %c1 {
    %0 = arith.index_cast %i : index to i64
    %at = tensor.from_elements %0 : tensor<i64>
    weft.check_indices %at below %c8 for "gather" : tensor<i64>
  }
  return
}
