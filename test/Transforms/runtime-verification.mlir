// Each op that is undefined for some operands has a check of these in front of it, and no other op has.
// RUN: weft-opt %s --weft-runtime-verification --split-input-file --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @cast
// CHECK-SAME: (%[[A:.*]]: tensor<?xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[A]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[WANTED:.*]] :
// CHECK: weft.check_sizes %[[SAME]], "tensor.cast: the size along axis 0 is {}, but the result's type says {}", %[[N]], %[[WANTED]]
// CHECK: tensor.cast
func.func @cast(%a: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Fewer known sizes are never wrong.
// CHECK-LABEL: func @widening
// CHECK-NEXT: tensor.cast
func.func @widening(%a: tensor<4xf32>) -> tensor<?xf32> {
  %r = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Sizes that are one value, and those that are written, are not compared.
// CHECK-LABEL: func @agree
// CHECK-NOT: weft.check_sizes
// CHECK: return
func.func @agree(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %x = linalg.exp ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.add ins(%x, %a : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// A loop runs over the size of the first operand that has it.
// CHECK-LABEL: func @matmul
// CHECK: weft.check_sizes %{{.*}}, "linalg.matmul: operand 1 has size {} along axis 0, but operand 0 has size {} along axis 1"
// CHECK-NOT: weft.check_sizes
// CHECK: linalg.matmul
func.func @matmul(%a: tensor<2x?xf32>, %b: tensor<?x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x?xf32>, tensor<?x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The window reads as far as sums of both loops.
// CHECK-LABEL: func @window
// CHECK: weft.check_sizes %{{.*}}, "linalg.conv_1d: operand 0 is read from {} to {} along axis 0, which has size {}"
func.func @window(%x: tensor<?xf32>, %k: tensor<3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Rows are looked at once, not once for each of their elements; columns are the loop's own numbers.
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[I:[a-z0-9]+]]: tensor<5xindex>
// CHECK: %[[ENDS:.*]]:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%[[I]]
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: weft.check_indices %{{.*}} below %{{.*}} for "tensor.extract"
// CHECK-NOT: weft.check_indices
func.func @rows(%x: tensor<4x3xf32>, %i: tensor<5xindex>, %e: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<5xindex>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%row: index, %o: f32):
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<4x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// -----

// A divisor that is known, and one that Weft's own remainders make other than 0 and -1, is not looked at.
// CHECK-LABEL: func @divisors
// CHECK-NOT: weft.assert
// CHECK: return
func.func @divisors(%a: i32, %d: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.divsi %a, %c7 : i32
  %next = arith.addi %d, %c1 : i32
  %special = arith.cmpi ule, %next, %c1 : i32
  %divisor = arith.select %special, %c1, %d : i32
  %1 = arith.remsi %a, %divisor : i32
  return %0, %1 : i32, i32
}

// -----

// Flags that promise something are gone, and a number that no integer is becomes 0.
// CHECK-LABEL: func @promises
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<nsz> : f32
// CHECK: %[[IN:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.fptosi %[[IN]]
func.func @promises(%a: i32, %x: f32) -> (i32, f32, i32) {
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.addf %x, %x fastmath<nnan,nsz> : f32
  %2 = arith.fptosi %x : f32 to i32
  return %0, %1, %2 : i32, f32, i32
}
