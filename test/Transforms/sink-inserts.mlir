// Slices are replaced behind the last look at what they replace, unless that look waits for them.
// RUN: weft-opt %s --weft-sink-inserts --split-input-file | FileCheck %s

// A read behind the insert comes before it, through views and in regions too.
// CHECK-LABEL: func.func @later_readers(
// CHECK: tensor.extract_slice
// CHECK: tensor.expand_shape
// CHECK: scf.if
// CHECK: linalg.copy
// CHECK: %[[NEW:.*]] = tensor.insert_slice %{{.*}} into %[[STATE:.*]][
// CHECK-NEXT: return %[[NEW]]
func.func @later_readers(%state: tensor<8x4xf32>, %x: tensor<4xf32>, %i: index, %c: i1, %out: tensor<1x4xf32>)
    -> (tensor<8x4xf32>, tensor<1x4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %new = tensor.insert_slice %x into %state[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  %row = tensor.extract_slice %state[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  %view = tensor.expand_shape %row [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %e = scf.if %c -> f32 {
    %0 = tensor.extract %state[%i, %c0] : tensor<8x4xf32>
    scf.yield %0 : f32
  } else {
    scf.yield %zero : f32
  }
  %copy = linalg.copy ins(%view : tensor<1x4xf32>) outs(%out : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %new, %copy, %e : tensor<8x4xf32>, tensor<1x4xf32>, f32
}

// -----

// An insert into the result goes along.
// CHECK-LABEL: func.func @chain(
// CHECK: tensor.extract
// CHECK: tensor.insert %
// CHECK: tensor.insert %
func.func @chain(%state: tensor<8xf32>, %x: f32, %i: index, %j: index) -> (tensor<8xf32>, f32) {
  %one = tensor.insert %x into %state[%i] : tensor<8xf32>
  %two = tensor.insert %x into %one[%j] : tensor<8xf32>
  %e = tensor.extract %state[%j] : tensor<8xf32>
  return %two, %e : tensor<8xf32>, f32
}

// -----

// What is read behind it is looked up by an element of the result: nothing moves, and there are two tensors.
// CHECK-LABEL: func.func @waits_for_it(
// CHECK-NEXT: tensor.insert %
// CHECK-NEXT: tensor.extract
// CHECK-NEXT: tensor.extract
func.func @waits_for_it(%state: tensor<8xindex>, %x: index, %i: index) -> (tensor<8xindex>, index) {
  %new = tensor.insert %x into %state[%i] : tensor<8xindex>
  %index = tensor.extract %new[%x] : tensor<8xindex>
  %e = tensor.extract %state[%index] : tensor<8xindex>
  return %new, %e : tensor<8xindex>, index
}

// -----

// What stores the result where the loop's state is reads nothing there.
// CHECK-LABEL: func.func @bound(
// CHECK: scf.for
// CHECK-NEXT: tensor.extract
// CHECK-NEXT: tensor.insert %
// CHECK-NEXT: linalg.copy
func.func @bound(%state: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %state, %x = %zero) -> (tensor<8xf32>, f32) {
    %new = tensor.insert %x into %s[%i] : tensor<8xf32>
    %e = tensor.extract %s[%c1] : tensor<8xf32>
    %bound = linalg.copy ins(%new : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %bound, %e : tensor<8xf32>, f32
  }
  return %r#0 : tensor<8xf32>
}

// -----

// A reader that also takes the result needs both.
// CHECK-LABEL: func.func @both(
// CHECK: tensor.insert %
// CHECK: linalg.map
func.func @both(%state: tensor<8xf32>, %x: f32, %i: index, %out: tensor<8xf32>) -> tensor<8xf32> {
  %new = tensor.insert %x into %state[%i] : tensor<8xf32>
  %sum = linalg.map { arith.addf } ins(%state, %new : tensor<8xf32>, tensor<8xf32>) outs(%out : tensor<8xf32>)
  return %sum : tensor<8xf32>
}
